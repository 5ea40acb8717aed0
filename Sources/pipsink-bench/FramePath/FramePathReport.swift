import Glibc
import PipSinkCommandLine

/// The time and memory that one run of a ``FramePathVariant`` took, from PLAYING to the end of the last stream. The C
/// program prints the same fields.
struct FramePathReport: Codable {
  var seconds: Double
  /// The processor time of all threads, in seconds.
  var cpuSeconds: Double
  /// The number of calls of malloc; 0 where they are not counted.
  var allocations: UInt64
  /// The resident set in bytes at the end, before the pipeline is stopped.
  var residentBytes: Int
  /// The most buffers of the sources that were alive at one time, and how many were still alive after everything was
  /// released. Absent where they were not counted.
  var buffersAtMost: Int?
  var buffersLeft: Int?
}

/// The start of a run, from which on its use of time and memory is counted.
struct FramePathStart {
  private let clock = Self.seconds(CLOCK_MONOTONIC)
  private let processor = Self.seconds(CLOCK_PROCESS_CPUTIME_ID)
  private let allocations = Self.allocationCount

  func report() -> FramePathReport {
    FramePathReport(
      seconds: Self.seconds(CLOCK_MONOTONIC) - clock, cpuSeconds: Self.seconds(CLOCK_PROCESS_CPUTIME_ID) - processor,
      allocations: Self.allocationCount - allocations, residentBytes: Self.residentBytes)
  }

  static func seconds(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }

  /// The number of calls of malloc so far, from liballocations.so if that was loaded before the C library.
  private static var allocationCount: UInt64 {
    guard let symbol = dlsym(nil, "pipsink_total_allocation_count") else { return 0 }
    return unsafeBitCast(symbol, to: (@convention(c) () -> UInt64).self)()
  }

  private static var residentBytes: Int {
    guard let text = try? InputFile.text(of: "/proc/self/statm") else { return 0 }
    let words = text.split(separator: " ")
    return words.count > 1 ? (Int(words[1]) ?? 0) * sysconf(Int32(_SC_PAGESIZE)) : 0
  }
}
