import CGTK
import Glibc
import PipSink

/// Pixels in memory that the X server reads directly (MIT-SHM): BGRx rows.
///
/// `@unchecked Sendable`: constant; whoever has it sees to it that one thread at a time uses the pixels.
final class SharedMemoryImage: PictureMemory, @unchecked Sendable {
  let size: PictureSize
  let image: UnsafeMutablePointer<XImage>
  private let connection: X11Connection
  private let segment: UnsafeMutablePointer<XShmSegmentInfo>

  /// To be called within ``X11Connection/use(_:)``.
  ///
  /// - Returns: nil when the server has no shared memory, or none with this program, or the system no more of it.
  init?(_ connection: X11Connection, visual: UnsafeMutablePointer<Visual>, depth: Int32, size: PictureSize) {
    guard size.isValid, XShmQueryExtension(connection.display) != 0 else { return nil }
    let segment = UnsafeMutablePointer<XShmSegmentInfo>.allocate(capacity: 1)
    segment.initialize(to: XShmSegmentInfo())
    guard
      let image = XShmCreateImage(
        connection.display, visual, UInt32(depth), ZPixmap, nil, segment, UInt32(size.width), UInt32(size.height))
    else {
      segment.deallocate()
      return nil
    }
    segment.pointee.shmid = shmget(IPC_PRIVATE, Int(image.pointee.bytes_per_line) * size.height, IPC_CREAT | 0o600)
    let address = segment.pointee.shmid >= 0 ? shmat(segment.pointee.shmid, nil, 0) : nil
    guard image.pointee.bits_per_pixel == 32, let address, Int(bitPattern: address) != -1 else {
      _ = image.pointee.f.destroy_image(image)
      if segment.pointee.shmid >= 0 { shmctl(segment.pointee.shmid, IPC_RMID, nil) }
      segment.deallocate()
      return nil
    }
    segment.pointee.shmaddr = address.assumingMemoryBound(to: CChar.self)
    image.pointee.data = segment.pointee.shmaddr
    XSync(connection.display, 0)
    _ = connection.takeFailure()
    XShmAttach(connection.display, segment)
    XSync(connection.display, 0)
    // It goes when both sides have let it go, also when the program is killed.
    shmctl(segment.pointee.shmid, IPC_RMID, nil)
    // A server on another machine cannot.
    guard connection.takeFailure().errorCode == 0 else {
      shmdt(segment.pointee.shmaddr)
      image.pointee.data = nil
      _ = image.pointee.f.destroy_image(image)
      segment.deallocate()
      return nil
    }
    self.size = size
    self.image = image
    self.connection = connection
    self.segment = segment
  }

  deinit {
    connection.use {
      XShmDetach(connection.display, segment)
      XSync(connection.display, 0)
    }
    image.pointee.data = nil
    _ = image.pointee.f.destroy_image(image)
    shmdt(segment.pointee.shmaddr)
    segment.deallocate()
  }

  var pixels: UnsafeMutablePointer<UInt8> {
    UnsafeMutableRawPointer(segment.pointee.shmaddr).assumingMemoryBound(to: UInt8.self)
  }

  /// By which the server knows the memory.
  var segmentID: UInt { segment.pointee.shmseg }

  var stride: Int { Int(image.pointee.bytes_per_line) }
}
