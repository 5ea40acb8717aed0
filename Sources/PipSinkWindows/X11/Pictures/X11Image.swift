import CWindows
import Glibc
import PipSink

/// A picture for windows of an X server, as rows of BGRx pixels. The server reads it from shared memory (MIT-SHM) or,
/// where it has no memory in common with this program, gets it through the connection.
///
/// `@unchecked Sendable`: all properties are constant, and the owner makes sure that only one thread at a time uses the
/// pixels.
final class X11Image: @unchecked Sendable {
  /// The picture's size, in pixels.
  let size: PictureSize
  /// The depth of the windows in which the picture can be shown, in bits for each pixel.
  let depth: UInt8
  /// The number of bytes from one row to the next.
  let stride: Int
  /// The first byte of the upper left pixel, for who draws the picture.
  let pixels: UnsafeMutablePointer<UInt8>
  /// The number by which the server knows the shared memory; nil where the picture is sent.
  let segmentID: UInt32?
  private let connection: X11Connection
  private let layout: X11PixelLayout
  /// The first byte of the upper left pixel, for the server. It is ``pixels`` where the server's pixels are BGRx.
  private let sentPixels: UnsafeMutablePointer<UInt8>

  /// The largest number of pixels, twice as many as monitors have. Whoever makes a window larger than that would
  /// otherwise fill the memory.
  private static let limit = 1 << 26

  /// Allocates the memory. Shared memory is tried first, for which the server is waited for.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server uses other pixels, does not answer or has gone, or when there
  ///   is no memory.
  init(_ connection: X11Connection, depth: UInt8, size: PictureSize) throws(RenderingError) {
    guard size.isValid, size.width * size.height <= Self.limit else {
      throw RenderingError(code: .invalidSize, reason: "a window of \(size.width)x\(size.height) is too large")
    }
    guard let layout = X11PixelLayout(connection, depth: depth) else {
      throw RenderingError(code: .other(-1), reason: "the X server has unknown pixels for \(depth) bits")
    }
    (self.connection, self.depth, self.size, self.layout, stride) = (connection, depth, size, layout, size.width * 4)
    let byteCount = stride * size.height
    let drawn = layout == .bgrx ? nil : try Self.allocate(byteCount)
    do throws(RenderingError) {
      if let shared = try Self.share(byteCount, with: connection) {
        (sentPixels, segmentID) = shared
      } else {
        (sentPixels, segmentID) = (try Self.allocate(byteCount), nil)
      }
    } catch {
      free(drawn)
      throw error
    }
    pixels = drawn ?? sentPixels
  }

  private static func allocate(_ byteCount: Int) throws(RenderingError) -> UnsafeMutablePointer<UInt8> {
    guard let memory = malloc(byteCount) else { throw RenderingError(.frame(.outOfMemory(byteCount: byteCount))) }
    return memory.assumingMemoryBound(to: UInt8.self)
  }

  /// Allocates shared memory and attaches the server to it.
  ///
  /// - Returns: nil where the server has no memory in common with this program.
  private static func share(
    _ byteCount: Int, with connection: X11Connection
  ) throws(RenderingError) -> (UnsafeMutablePointer<UInt8>, UInt32)? {
    guard connection.sharesMemory else { return nil }
    let identifier = shmget(IPC_PRIVATE, byteCount, IPC_CREAT | 0o600)
    guard identifier >= 0 else { return nil }
    // The segment is marked for removal, which happens once both sides have detached, even if the program is killed.
    // The server could not attach to a segment that is already marked.
    defer { shmctl(identifier, IPC_RMID, nil) }
    guard let address = shmat(identifier, nil, 0), Int(bitPattern: address) != -1 else { return nil }
    let segmentID = xcb_generate_id(connection.pointer)
    let attach = xcb_shm_attach_checked(connection.pointer, segmentID, UInt32(bitPattern: identifier), 0)
    let errorCode = connection.errorCode(of: attach)
    if errorCode == 0, !connection.isBroken { return (address.assumingMemoryBound(to: UInt8.self), segmentID) }
    shmdt(address)
    if connection.isBroken { throw connection.hasGone }
    guard errorCode != nil else { throw connection.silence }
    // The server is on another machine, or in a container of its own.
    connection.sharesMemory = false
    return nil
  }

  deinit {
    if pixels != sentPixels { free(pixels) }
    guard let segmentID else { return free(sentPixels) }
    // The server processes earlier requests with these pixels before it detaches.
    xcb_shm_detach(connection.pointer, segmentID)
    connection.flush()
    shmdt(sentPixels)
  }

  /// A copy of the pixels without padding between the rows.
  var bytes: [UInt8] {
    let width = size.width * 4
    return [UInt8](unsafeUninitializedCapacity: width * size.height) { bytes, count in
      for row in 0..<size.height {
        bytes.baseAddress?.advanced(by: row * width)
          .initialize(from: pixels.advanced(by: row * stride), count: width)
      }
      count = width * size.height
    }
  }

  /// Asks the server to draw the picture in a window. Where memory is shared, an event says when it has been read, unless
  /// the request is checked.
  ///
  /// - Parameters:
  ///   - window: the window's XID.
  ///   - origin: the position of the picture's upper left corner in the window, in pixels.
  ///   - context: the graphics context's XID.
  ///   - isChecked: whether the result can be passed to ``X11Connection/errorCode(of:)``. Otherwise an error arrives as
  ///     an event.
  /// - Throws: ``PipSink/RenderingError`` when the server takes no more data.
  @discardableResult
  func put(
    into window: UInt32, at origin: (x: Int, y: Int), _ context: UInt32, isChecked: Bool
  ) throws(RenderingError) -> xcb_void_cookie_t {
    if pixels != sentPixels {
      let count = size.width * size.height
      pixels.withMemoryRebound(to: UInt32.self, capacity: count) { source in
        sentPixels.withMemoryRebound(to: UInt32.self, capacity: count) { layout.convert(source, to: $0, count: count) }
      }
    }
    let format = UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue)
    if let segmentID {
      let (width, height) = (UInt16(size.width), UInt16(size.height))
      let put = isChecked ? xcb_shm_put_image_checked : xcb_shm_put_image
      return put(
        connection.pointer, window, context, width, height, 0, 0, width, height, Int16(clamping: origin.x),
        Int16(clamping: origin.y), depth, format, isChecked ? 0 : 1, segmentID, 0)
    }
    // A request is a header of 24 bytes and the pixels. A long one would block the thread while the server is behind.
    let limit = min(32_768, connection.longestRequest) - 24
    let columns = min(size.width, limit / 4)
    let rows = columns < size.width ? 1 : max(1, limit / stride)
    var cookie = xcb_void_cookie_t()
    for y in Swift.stride(from: 0, to: size.height, by: rows) {
      for x in Swift.stride(from: 0, to: size.width, by: columns) {
        guard connection.canSend else { throw connection.silence }
        let (width, height) = (min(columns, size.width - x), min(rows, size.height - y))
        let isLast = y + height == size.height && x + width == size.width
        let put = isChecked && isLast ? xcb_put_image_checked : xcb_put_image
        cookie = put(
          connection.pointer, format, window, context, UInt16(width), UInt16(height), Int16(clamping: origin.x + x),
          Int16(clamping: origin.y + y), 0, depth, UInt32(width * 4 * height),
          sentPixels.advanced(by: y * stride + x * 4))
      }
    }
    return cookie
  }
}
