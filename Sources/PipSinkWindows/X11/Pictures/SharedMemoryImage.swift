import CWindows
import Glibc
import PipSink

/// Pixels in memory that the X server reads directly (MIT-SHM): BGRx rows.
///
/// `@unchecked Sendable`: constant; whoever has it sees to it that one thread at a time uses the pixels.
package final class SharedMemoryImage: @unchecked Sendable {
  package let size: PictureSize
  /// Of the windows that it can be put into, in bits a pixel.
  package let depth: UInt8
  package let stride: Int
  package let pixels: UnsafeMutablePointer<UInt8>
  /// By which the server knows the memory.
  package let segmentID: UInt32
  private let connection: X11Connection

  /// Waits for the server.
  ///
  /// - Returns: nil when the server has no shared memory, or none with this program, or the system no more of it.
  package init?(_ connection: X11Connection, depth: UInt8, size: PictureSize) {
    guard size.isValid, connection.sharedMemoryEventBase != nil,
      let stride = connection.bytesPerRow(depth: depth, width: size.width)
    else { return nil }
    let identifier = shmget(IPC_PRIVATE, stride * size.height, IPC_CREAT | 0o600)
    guard identifier >= 0 else { return nil }
    // It goes when both sides have let it go, also when the program is killed. Marked earlier, it could not be
    // attached.
    defer { shmctl(identifier, IPC_RMID, nil) }
    guard let address = shmat(identifier, nil, 0), Int(bitPattern: address) != -1 else { return nil }
    let segmentID = xcb_generate_id(connection.pointer)
    let attach = xcb_shm_attach_checked(connection.pointer, segmentID, UInt32(bitPattern: identifier), 0)
    // A server on another machine cannot.
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
    // What was asked for before is read first.
    xcb_shm_detach(connection.pointer, segmentID)
    connection.flush()
    shmdt(pixels)
  }

  /// A copy without what is between the rows.
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

  /// Asks the server to put a part of it into a window.
  ///
  /// - Parameters:
  ///   - part: of the picture.
  ///   - origin: where the picture's upper left corner is in the window.
  ///   - isReported: whether the server says with an event that it has read the part.
  /// - Returns: what ``X11Connection/errorCode(of:)`` can be asked about, if `isChecked`; else nobody is told of an
  ///   error.
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
