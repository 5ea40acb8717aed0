import Glibc

/// Memory between two pages that cannot be accessed.
final class GuardedMemory {
  private let mapping: UnsafeMutableRawPointer
  private let byteCount: Int
  private let pageSize = sysconf(Int32(_SC_PAGESIZE))
  private(set) var base: UnsafeMutableRawPointer
  private(set) var used = 0
  /// Whether the last placement starts right after the page in front of the memory.
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

  /// Returns the first `byteCount` bytes.
  func placeAtStart(byteCount wanted: Int) -> UnsafeMutableRawPointer {
    precondition(wanted <= byteCount)
    (used, isAtStart) = (wanted, true)
    base = mapping + pageSize
    return base
  }

  /// Returns the last `byteCount` bytes.
  func place(byteCount wanted: Int) -> UnsafeMutableRawPointer {
    precondition(wanted <= byteCount)
    (used, isAtStart) = (wanted, false)
    base = mapping + pageSize + byteCount - wanted
    return base
  }
}
