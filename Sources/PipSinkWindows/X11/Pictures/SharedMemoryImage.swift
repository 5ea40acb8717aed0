import CWindows
import Glibc
import PipSink

/// A picture in memory that the X server reads directly (MIT-SHM), as rows of BGRx pixels.
///
/// `@unchecked Sendable`: all properties are constant, and the owner makes sure that only one thread at a time uses the
/// pixels.
package final class SharedMemoryImage: @unchecked Sendable {
  /// The picture's size, in pixels.
  package let size: PictureSize
  /// The depth of the windows in which the picture can be shown, in bits for each pixel.
  package let depth: UInt8
  /// The number of bytes from one row to the next.
  package let stride: Int
  /// The first byte of the upper left pixel.
  package let pixels: UnsafeMutablePointer<UInt8>
  /// The number by which the server knows the memory.
  package let segmentID: UInt32
  private let connection: X11Connection

  /// Allocates the memory, attaches the server to it, and waits for the server.
  ///
  /// - Returns: nil when the server does not support shared memory, cannot share it with this program because it is on
  ///   another machine, or when the system has no more of it.
  package init?(_ connection: X11Connection, depth: UInt8, size: PictureSize) {
    guard size.isValid, connection.sharedMemoryEventBase != nil,
      let stride = connection.bytesPerRow(depth: depth, width: size.width)
    else { return nil }
    let identifier = shmget(IPC_PRIVATE, stride * size.height, IPC_CREAT | 0o600)
    guard identifier >= 0 else { return nil }
    // The segment is marked for removal, which happens once both sides have detached, even if the program is killed.
    // The server could not attach to a segment that is already marked.
    defer { shmctl(identifier, IPC_RMID, nil) }
    guard let address = shmat(identifier, nil, 0), Int(bitPattern: address) != -1 else { return nil }
    let segmentID = xcb_generate_id(connection.pointer)
    let attach = xcb_shm_attach_checked(connection.pointer, segmentID, UInt32(bitPattern: identifier), 0)
    // This fails with a server on another machine.
    guard connection.errorCode(of: attach) == 0, !connection.isBroken else {
      shmdt(address)
      return nil
    }
    self.size = size
    self.depth = depth
    self.stride = stride
    self.segmentID = segmentID
    self.connection = connection
    pixels = address.assumingMemoryBound(to: UInt8.self)
  }

  deinit {
    // The server processes earlier requests with these pixels before it detaches.
    xcb_shm_detach(connection.pointer, segmentID)
    connection.flush()
    shmdt(pixels)
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

  /// Asks the server to draw a part of the picture in a window.
  ///
  /// - Parameters:
  ///   - part: the part of the picture, in pixels.
  ///   - window: the window's XID.
  ///   - origin: the position of the picture's upper left corner in the window, in pixels.
  ///   - context: the graphics context's XID.
  ///   - isReported: whether the server sends an event once it has read the part.
  ///   - isChecked: whether the result can be passed to ``X11Connection/errorCode(of:)``. Otherwise an error arrives as
  ///     an event.
  @discardableResult
  package func put(
    _ part: PictureRect, into window: UInt32, at origin: (x: Int, y: Int), _ context: UInt32, isReported: Bool,
    isChecked: Bool
  ) -> xcb_void_cookie_t {
    let send = isChecked ? xcb_shm_put_image_checked : xcb_shm_put_image
    return send(
      connection.pointer, window, context, UInt16(size.width), UInt16(size.height), UInt16(part.x), UInt16(part.y),
      UInt16(part.width), UInt16(part.height), Int16(clamping: origin.x + part.x), Int16(clamping: origin.y + part.y),
      depth, UInt8(XCB_IMAGE_FORMAT_Z_PIXMAP.rawValue), isReported ? 1 : 0, segmentID, 0)
  }
}
