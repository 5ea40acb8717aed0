import CWindows
import Glibc
import PipSink

/// A picture in memory that the compositor reads directly (wl_shm), as rows of BGRx pixels, or of BGRA pixels with
/// premultiplied alpha.
///
/// `@unchecked Sendable`: what the compositor changes is behind a lock, and the owner makes sure that only one thread at
/// a time uses the pixels.
final class WaylandImage: TileImage, @unchecked Sendable {
  /// The picture's size, in pixels.
  let size: PictureSize
  /// The first byte of the upper left pixel.
  let pixels: UnsafeMutablePointer<UInt8>
  /// The number of rows at the lower edge that are a buffer of their own.
  let edgeRows: Int
  /// The wl_buffer of the picture, without the rows at its lower edge, and the wl_buffer of these.
  private let buffer: WaylandObject<WLBuffer>
  private let edge: WaylandObject<WLBuffer>?
  private let use: Use
  var target: PictureRect?

  /// Which of the image's buffers are in use. The buffers' handlers keep it alive.
  private final class Use: Sendable {
    /// A bit for each buffer that the compositor may still read: 1 for the picture's, 2 for its edge's.
    let busy = Locked(UInt8(0))
  }

  /// Allocates the memory and shares it with the compositor.
  ///
  /// - Parameters:
  ///   - sharedMemory: the compositor's wl_shm.
  ///   - size: the picture's size, in pixels.
  ///   - isOpaque: whether the compositor ignores the pixels' alpha.
  ///   - edgeRows: the number of rows at the lower edge that become a buffer of their own, whose alpha is not ignored.
  ///   - released: called on the connection's thread when the compositor has finished reading a buffer.
  /// - Returns: nil when the system has no memory for it.
  init?(
    _ sharedMemory: WaylandObject<WLShm>, size: PictureSize, isOpaque: Bool = true, edgeRows: Int = 0,
    released: @escaping @Sendable () -> Void = {}
  ) {
    guard size.isValid, edgeRows < size.height else { return nil }
    let (stride, use) = (size.width * 4, Use())
    let byteCount = stride * size.height
    guard byteCount <= Int(Int32.max) else { return nil }
    let descriptor = SizeLimit.withoutSignal { pipsink_shareable_memory(byteCount) }
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      address != MAP_FAILED
    else { return nil }
    // The compositor keeps the pool's memory as long as its buffers exist.
    guard let pool = sharedMemory.createPool(WaylandDescriptor(descriptor), byteCount) else {
      munmap(address, byteCount)
      return nil
    }
    let make = { (number: UInt8, first: Int, rows: Int, format: WLShm.Format) in
      pool.createBuffer(first * stride, size.width, rows, stride, format) { events in
        events.release {
          use.busy.withLock { $0 &= ~number }
          released()
        }
      }
    }
    let upper = size.height - edgeRows
    let edge = edgeRows > 0 ? make(2, upper, edgeRows, .argb8888) : nil
    guard let buffer = make(1, 0, upper, isOpaque ? .xrgb8888 : .argb8888),
      edge != nil || edgeRows == 0
    else {
      munmap(address, byteCount)
      return nil
    }
    (self.size, self.edgeRows, self.buffer, self.edge, self.use) = (size, edgeRows, buffer, edge, use)
    pixels = address.assumingMemoryBound(to: UInt8.self)
  }

  deinit {
    buffer.destroy()
    edge?.destroy()
    munmap(pixels, byteCount)
  }

  /// Whether the compositor may still read it.
  var isBusy: Bool { use.busy.withLock { $0 != 0 } }

  /// Attaches the picture to a surface, whose next commit shows it. The image is busy until the compositor releases it.
  func attach(to surface: WaylandObject<WLSurface>) { attach(buffer, 1, to: surface) }

  /// Attaches the rows at the lower edge to a surface, and makes their pixels opaque.
  func attachEdge(to surface: WaylandObject<WLSurface>) {
    guard let edge else { return }
    for index in stride * (size.height - edgeRows)..<byteCount where index % 4 == 3 { pixels[index] = 255 }
    attach(edge, 2, to: surface)
  }

  private func attach(_ buffer: WaylandObject<WLBuffer>, _ number: UInt8, to surface: WaylandObject<WLSurface>) {
    use.busy.withLock { $0 |= number }
    surface.attach(buffer.reference, 0, 0)
    surface.damage(0, 0, .max, .max)
  }
}
