import CGTK
import Glibc
import PipSink
import PipSinkWindows

/// Pixels in memory that the Wayland compositor reads directly (wl_shm): BGRx rows, or BGRA with alpha multiplied in.
///
/// `@unchecked Sendable`: constant but for what is behind the lock; whoever has it sees to it that one thread at a time
/// uses the pixels.
final class WaylandImage: PictureMemory, @unchecked Sendable {
  let size: PictureSize
  let stride: Int
  let pixels: UnsafeMutablePointer<UInt8>
  /// The wl_shm_pool.
  private let pool: OpaquePointer
  private let byteCount: Int
  /// Of the parts of the image that have been shown.
  private let buffers = Locked<[(part: PictureRect, isOpaque: Bool, buffer: WaylandBuffer)]>([])

  /// - Returns: nil when the system has no memory for it.
  init?(_ connection: WaylandConnection, size: PictureSize) {
    guard size.isValid else { return nil }
    let stride = size.width * 4
    // A part of the image counts with whole rows from its first pixel on, which are more than the image's.
    let byteCount = stride * (size.height + 1)
    guard byteCount <= Int(Int32.max) else { return nil }
    let descriptor = pipsink_make_memory("pipsink", byteCount)
    guard descriptor >= 0 else { return nil }
    defer { close(descriptor) }
    guard let address = mmap(nil, byteCount, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0),
      address != MAP_FAILED
    else { return nil }
    guard let pool = wl_shm_create_pool(connection.sharedMemory, descriptor, Int32(byteCount)) else {
      munmap(address, byteCount)
      return nil
    }
    self.size = size
    self.stride = stride
    self.byteCount = byteCount
    pixels = address.assumingMemoryBound(to: UInt8.self)
    self.pool = pool
  }

  deinit {
    wl_shm_pool_destroy(pool)
    munmap(pixels, byteCount)
  }

  /// Whether the compositor may still read it.
  var isBusy: Bool { buffers.withLock { $0.contains { $0.buffer.isBusy } } }

  /// The wl_buffer of a part of the image, which is the compositor's from here on until it gives it back.
  ///
  /// - Parameters:
  ///   - parts: all that are shown now.
  ///   - isOpaque: whether the compositor leaves the pixels' alpha alone.
  /// - Returns: nil when libwayland has no memory.
  func lend(_ part: PictureRect, of parts: [PictureRect], isOpaque: Bool) -> OpaquePointer? {
    buffers.withLock { buffers in
      buffers.removeAll { !parts.contains($0.part) && !$0.buffer.isBusy }
      if let known = buffers.first(where: { $0.part == part && $0.isOpaque == isOpaque }) { return known.buffer.lend() }
      let format = isOpaque ? WL_SHM_FORMAT_XRGB8888 : WL_SHM_FORMAT_ARGB8888
      guard
        let proxy = wl_shm_pool_create_buffer(
          pool, Int32(part.y * stride + part.x * 4), Int32(part.width), Int32(part.height), Int32(stride),
          format.rawValue)
      else { return nil }
      let buffer = WaylandBuffer(proxy)
      buffers.append((part, isOpaque, buffer))
      return buffer.lend()
    }
  }

  /// Makes a part of the image opaque for those who look at its alpha; Cairo and other buffers of it do not.
  func fillAlpha(_ part: PictureRect) {
    for row in part.y..<part.y + part.height {
      let pixels = pixels + row * stride + part.x * 4
      for column in 0..<part.width { pixels[column * 4 + 3] = 255 }
    }
  }
}

/// A wl_buffer. Its events come on GTK's thread, where it is destroyed, too, so that none comes afterwards.
private final class WaylandBuffer: Sendable {
  private let events: Events

  init(_ proxy: OpaquePointer) {
    events = Events(proxy)
    wl_buffer_add_listener(proxy, Self.listener.table, Unmanaged.passRetained(events).toOpaque())
  }

  deinit {
    IdleCall(priority: G_PRIORITY_DEFAULT) { [events] in events.destroy() }.request()
  }

  var isBusy: Bool { events.isBusy.withLock { $0 } }

  func lend() -> OpaquePointer {
    events.isBusy.withLock { $0 = true }
    return events.proxy
  }

  /// `@unchecked Sendable`: constant but for the lock's content.
  private final class Events: @unchecked Sendable {
    let proxy: OpaquePointer
    let isBusy = Locked(false)

    init(_ proxy: OpaquePointer) {
      self.proxy = proxy
    }

    /// Lets go of what the listener keeps, too.
    func destroy() {
      wl_buffer_destroy(proxy)
      Unmanaged.passUnretained(self).release()
    }
  }

  private static let listener = WaylandListener(
    wl_buffer_listener(release: { events, _ in
      if let events { Unmanaged<Events>.fromOpaque(events).takeUnretainedValue().isBusy.withLock { $0 = false } }
    }))
}
