import Glibc

/// What the process has used so far.
public struct ResourceUsage: Sendable {
  /// Seconds of processor time of all threads, in the program and in the kernel for it.
  public let cpuSeconds: Double
  /// The largest resident set so far, in bytes.
  public let peakResidentBytes: Int

  public static var current: ResourceUsage {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    let seconds = Double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
    let microseconds = Double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec)
    // Linux gives kibibytes (getrusage(2)).
    return ResourceUsage(cpuSeconds: seconds + microseconds / 1e6, peakResidentBytes: Int(usage.ru_maxrss) * 1024)
  }
}
