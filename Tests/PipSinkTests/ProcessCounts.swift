import Glibc
import PipSink

/// What the process has open.
struct ProcessCounts: CustomStringConvertible {
  private let usage = ResourceUsage.current
  private let allocatedBytes = Self.allocatedByteCount?()

  var threads: Int { usage.threadCount }
  var files: Int { usage.openFileCount }

  /// What is resident. A sanitizer's own memory is, too, and grows with every address that was ever in use: under one
  /// it is what malloc has given out and nobody has freed.
  var bytes: Int { allocatedBytes ?? usage.residentBytes }

  /// By how many bytes it may be more though nothing is lost.
  ///
  /// - Parameter residentBytes: where they are counted: malloc keeps pages for each thread. Of what it has given out
  ///   there is little more at one time than at another.
  func slack(residentBytes: Int) -> Int { allocatedBytes == nil ? residentBytes : 4 * 1024 * 1024 }

  var description: String {
    "\(threads) threads, \(files) files, \(bytes / 1024) KiB \(allocatedBytes == nil ? "resident" : "allocated")"
  }

  /// Sanitizers have it (sanitizer/allocator_interface.h).
  private static let allocatedByteCount = dlsym(nil, "__sanitizer_get_current_allocated_bytes")
    .map { unsafeBitCast($0, to: (@convention(c) () -> Int).self) }
}
