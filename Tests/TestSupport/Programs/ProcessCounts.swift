import Glibc
import PipSink

/// The resources that the process uses.
struct ProcessCounts: CustomStringConvertible {
  private let usage = ResourceUsage.current
  private let allocatedBytes = Self.allocatedByteCount?()

  var threads: Int { usage.threadCount }
  var files: Int { usage.openFileCount }

  /// The memory of the process in bytes: the resident set or, under a sanitizer, what malloc has allocated and not
  /// freed. A sanitizer's own memory is resident as well, and it grows with every address that was ever in use.
  var bytes: Int { allocatedBytes ?? usage.residentBytes }

  /// Returns the number of bytes by which the process may grow although nothing leaks.
  ///
  /// - Parameter residentBytes: the limit if resident memory is counted, because malloc keeps pages for each thread.
  ///   The number of allocated bytes varies much less.
  func slack(residentBytes: Int) -> Int { allocatedBytes == nil ? residentBytes : 4 * 1024 * 1024 }

  var description: String {
    "\(threads) threads, \(files) files, \(bytes / 1024) KiB \(allocatedBytes == nil ? "resident" : "allocated")"
  }

  /// Sanitizers provide this function (sanitizer/allocator_interface.h).
  private static let allocatedByteCount = dlsym(nil, "__sanitizer_get_current_allocated_bytes")
    .map { unsafeBitCast($0, to: (@convention(c) () -> Int).self) }
}
