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
  /// - Throws: ``PipSinkError/outOfMemory(byteCount:)``.
  mutating func begin(byteCount: Int) throws(PipSinkError) -> UnsafeMutablePointer<UInt8> {
    if byteCount > capacity || base == nil {
      free(base)
      base = nil
      capacity = 0
      var memory: UnsafeMutableRawPointer?
      guard posix_memalign(&memory, 64, max(64, byteCount)) == 0, let memory else {
        throw .outOfMemory(byteCount: byteCount)
      }
      base = memory
      capacity = byteCount
    }
    guard let base else { throw .outOfMemory(byteCount: byteCount) }
    return base.assumingMemoryBound(to: UInt8.self)
  }
}
