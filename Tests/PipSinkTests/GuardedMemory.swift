import Glibc

/// Memory with a page before and behind it that cannot be touched.
final class GuardedMemory {
  private let mapping: UnsafeMutableRawPointer
  private let byteCount: Int
  private let pageSize = sysconf(Int32(_SC_PAGESIZE))
  private(set) var base: UnsafeMutableRawPointer
  private(set) var used = 0
  /// Whether what was placed last begins where the page before it ends.
  private(set) var isAtStart = false

  init(byteCount: Int) {
    self.byteCount = byteCount
    mapping = mmap(
      nil, byteCount + 2 * pageSize, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
    mprotect(mapping, pageSize, PROT_NONE)
    mprotect(mapping + pageSize + byteCount, pageSize, PROT_NONE)
    base = mapping + pageSize
  }

  deinit {
    munmap(mapping, byteCount + 2 * pageSize)
  }

  /// The first `byteCount` bytes.
  func placeAtStart(byteCount wanted: Int) -> UnsafeMutableRawPointer {
    precondition(wanted <= byteCount)
    (used, isAtStart) = (wanted, true)
    base = mapping + pageSize
    return base
  }

  /// The last `byteCount` bytes.
  func place(byteCount wanted: Int) -> UnsafeMutableRawPointer {
    precondition(wanted <= byteCount)
    (used, isAtStart) = (wanted, false)
    base = mapping + pageSize + byteCount - wanted
    return base
  }
}
