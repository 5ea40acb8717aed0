import PipSink

/// What the process has open.
struct ProcessCounts: CustomStringConvertible {
  private let usage = ResourceUsage.current

  var threads: Int { usage.threadCount }
  var files: Int { usage.openFileCount }
  var residentBytes: Int { usage.residentBytes }

  var description: String { "\(threads) threads, \(files) files, \(residentBytes / 1024) KiB" }
}
