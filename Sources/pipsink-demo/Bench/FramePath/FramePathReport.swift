import Glibc

/// What one run of a ``FramePathVariant`` took, from PLAYING to the end of the last stream. The C program prints the
/// same.
struct FramePathReport: Codable {
  var seconds: Double
  /// Of all threads.
  var cpuSeconds: Double
  /// Calls of malloc; 0 where nobody counts them.
  var allocations: UInt64
  /// At the end, before the pipeline is taken down.
  var residentBytes: Int
  /// Buffers of the sources that lived at one time, at most, and that still did when all was over. Absent where they
  /// were not counted.
  var buffersAtMost: Int?
  var buffersLeft: Int?
  /// Absent where times are taken throughout.
  var shares: TimesInTurn.Shares?
}

/// A start, from which on a run's use of time and memory counts.
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

  /// From liballocations.so, where that is loaded before the C library.
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
