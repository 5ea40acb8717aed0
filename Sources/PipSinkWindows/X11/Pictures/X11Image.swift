import CWindows
import Glibc
import PipSink

/// A picture for windows of an X server, as rows of BGRx pixels. The server reads it from shared memory (MIT-SHM) or,
/// where it has no memory in common with this program, gets it through the connection.
///
/// `@unchecked Sendable`: the owner makes sure that only one thread at a time uses it.
final class X11Image: TileImage, @unchecked Sendable {
  /// The picture's size, in pixels.
  let size: PictureSize
  /// The depth of the windows in which the picture can be shown, in bits for each pixel.
  let depth: UInt8
  /// The first byte of the upper left pixel, for who draws the picture.
  let pixels: UnsafeMutablePointer<UInt8>
  /// The number by which the server knows the shared memory; nil where the picture is sent.
  let segmentID: UInt32?
  private(set) var isBusy = false
  var target: PictureRect?
  /// The request whose answer says that the server has got an image that was sent through the connection.
  private var receipt: xcb_get_input_focus_cookie_t?
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
    (self.connection, self.depth, self.size, self.layout) = (connection, depth, size, layout)
    let byteCount = size.width * 4 * size.height
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
    if let receipt { connection.forget(receipt.sequence) }
    if pixels != sentPixels { free(pixels) }
    guard let segmentID else { return free(sentPixels) }
    // The server processes earlier requests with these pixels before it detaches.
    xcb_shm_detach(connection.pointer, segmentID)
    connection.flush()
    shmdt(sentPixels)
  }

  /// Asks the server to draw the picture in a window. The image is busy until the server has read it, which it says by
  /// an event where memory is shared (``noteRead()``), and by an answer otherwise (``lookForReceipt()``). An error
  /// arrives as an event.
  ///
  /// - Parameters:
  ///   - window: the window's XID.
  ///   - context: the graphics context's XID.
  /// - Throws: ``PipSink/RenderingError`` when the server takes no more data.
  func put(into window: UInt32, _ context: UInt32) throws(RenderingError) {
    if pixels != sentPixels {
      let count = size.width * size.height
      pixels.withMemoryRebound(to: UInt32.self, capacity: count) { source in
        sentPixels.withMemoryRebound(to: UInt32.self, capacity: count) { layout.convert(source, to: $0, count: count) }
      }
    }
    isBusy = true
    let format = UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue)
    if let segmentID {
      let (width, height) = (UInt16(size.width), UInt16(size.height))
      xcb_shm_put_image(
        connection.pointer, window, context, width, height, 0, 0, width, height, 0, 0, depth, format, 1, segmentID, 0)
      return
    }
    // A request is a header of 24 bytes and the pixels. A long one would block the thread while the server is behind.
    let limit = min(32_768, connection.longestRequest) - 24
    let columns = min(size.width, limit / 4)
    let rows = columns < size.width ? 1 : max(1, limit / stride)
    for y in Swift.stride(from: 0, to: size.height, by: rows) {
      for x in Swift.stride(from: 0, to: size.width, by: columns) {
        guard connection.canSend else {
          isBusy = false
          throw connection.silence
        }
        let (width, height) = (min(columns, size.width - x), min(rows, size.height - y))
        xcb_put_image(
          connection.pointer, format, window, context, UInt16(width), UInt16(height), Int16(clamping: x),
          Int16(clamping: y), 0, depth, UInt32(width * 4 * height), sentPixels.advanced(by: y * stride + x * 4))
      }
    }
    receipt = xcb_get_input_focus(connection.pointer)
  }

  /// Notes that the server has read the image.
  func noteRead() { isBusy = false }

  /// Looks, without waiting, whether the server has got the image that was sent through the connection.
  func lookForReceipt() {
    guard let receipt, connection.hasAnswered(receipt.sequence) else { return }
    (isBusy, self.receipt) = (false, nil)
  }
}
