import Glibc

/// Memory for a converter's intermediate pixels, kept from frame to frame. It grows to the largest frame seen.
struct ScratchMemory: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0

  deinit {
    free(base)
  }

  /// `byteCount` bytes, aligned for vector instructions; what was begun before is no longer valid.
  ///
  /// - Throws: ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  mutating func begin(byteCount: Int) throws(PipSinkError) -> UnsafeMutablePointer<UInt8> {
    if let base, byteCount <= capacity { return base.assumingMemoryBound(to: UInt8.self) }
    free(base)
    (base, capacity) = (nil, byteCount)
    guard posix_memalign(&base, 64, max(64, byteCount)) == 0, let base else {
      throw .frame(.outOfMemory(byteCount: byteCount))
    }
    return base.assumingMemoryBound(to: UInt8.self)
  }
}
