import CWindows
import Glibc
import PipSink

/// Pixels in memory that the compositor reads directly (wl_shm): BGRx rows, or BGRA with alpha multiplied in.
///
/// `@unchecked Sendable`: constant but for what is behind the lock; whoever has it sees to it that one thread at a time
/// uses the pixels.
final class WaylandImage: @unchecked Sendable {
  let size: PictureSize
  let stride: Int
  let pixels: UnsafeMutablePointer<UInt8>
  let byteCount: Int
  /// The lowest rows, which are a buffer of their own.
  let edgeRows: Int
  /// The wl_buffers: of the picture, and of its edge.
  private let buffer: WaylandProxy
  private let edge: WaylandProxy?
  private let use: Use

  private final class Use: Sendable {
    /// Which of the buffers the compositor may still read: 1 is the picture's, 2 its edge's.
    let busy = Locked(UInt8(0))
  }

  /// - Parameters:
  ///   - isOpaque: whether the compositor leaves the pixels' alpha alone.
  ///   - edgeRows: how many rows at the lower edge are a buffer of their own, whose alpha counts.
  ///   - released: called on the connection's thread when the compositor reads it no more.
  /// - Returns: nil when the system has no memory for it.
  init?(
    _ sharedMemory: WaylandProxy, size: PictureSize, isOpaque: Bool = true, edgeRows: Int = 0,
    released: @escaping @Sendable () -> Void = {}
  ) {
    guard size.isValid, edgeRows < size.height else { return nil }
    let (stride, use) = (size.width * 4, Use())
    let byteCount = stride * size.height
    guard byteCount <= Int(Int32.max) else { return nil }
    let descriptor = pipsink_shareable_memory(byteCount)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      address != MAP_FAILED
    else { return nil }
    // The pool's memory stays as long as its buffers.
    guard let pool = sharedMemory.make(.pool, 0, .new, .descriptor(descriptor), .int(byteCount), destructor: 1) else {
      munmap(address, byteCount)
      return nil
    }
    let make = { (number: UInt8, first: Int, rows: Int, format: wl_shm_format) in
      pool.make(
        .buffer, 0, .new, .int(first * stride), .int(size.width), .int(rows), .int(stride), .uint(format.rawValue),
        handler: { _, _ in
          use.busy.withLock { $0 &= ~number }
          released()
        })
    }
    let upper = size.height - edgeRows
    let edge = edgeRows > 0 ? make(2, upper, edgeRows, WL_SHM_FORMAT_ARGB8888) : nil
    guard let buffer = make(1, 0, upper, isOpaque ? WL_SHM_FORMAT_XRGB8888 : WL_SHM_FORMAT_ARGB8888),
      edge != nil || edgeRows == 0
    else {
      munmap(address, byteCount)
      return nil
    }
    (self.size, self.stride, self.byteCount, self.edgeRows) = (size, stride, byteCount, edgeRows)
    (self.buffer, self.edge, self.use) = (buffer, edge, use)
    pixels = address.assumingMemoryBound(to: UInt8.self)
  }

  deinit {
    buffer.destroy()
    edge?.destroy()
    munmap(pixels, byteCount)
  }

  /// Whether the compositor may still read it.
  var isBusy: Bool { use.busy.withLock { $0 != 0 } }

  /// Makes it what the next commit of a surface shows. It is the compositor's from here on until that gives it back.
  func attach(to surface: WaylandProxy) { attach(buffer, 1, to: surface) }

  /// The same with its lowest rows, which are opaque.
  func attachEdge(to surface: WaylandProxy) {
    guard let edge else { return }
    for index in stride * (size.height - edgeRows)..<byteCount where index % 4 == 3 { pixels[index] = 255 }
    attach(edge, 2, to: surface)
  }

  private func attach(_ buffer: WaylandProxy, _ number: UInt8, to surface: WaylandProxy) {
    use.busy.withLock { $0 |= number }
    wl_surface_attach(surface.pointer, buffer.pointer, 0, 0)
    wl_surface_damage(surface.pointer, 0, 0, Int32.max, Int32.max)
  }
}
