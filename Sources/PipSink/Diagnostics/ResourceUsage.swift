import Glibc

/// What the process uses, and has used so far.
public struct ResourceUsage: Sendable {
  /// The processor time of all threads, in the program and in the kernel for it.
  public let cpuTime: Duration
  /// The resident set now, in bytes; 0 where /proc cannot be read.
  public let residentBytes: Int
  /// The largest resident set so far, in bytes.
  public let peakResidentBytes: Int
  /// Threads now; 0 where /proc cannot be read.
  public let threadCount: Int
  /// Open file descriptors now; 0 where /proc cannot be read.
  public let openFileCount: Int

  /// As it is now. Reads three files of /proc: some ten microseconds, and more with very many threads and files.
  public static var current: ResourceUsage {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return ResourceUsage(
      cpuTime: .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
      residentBytes: residentPageCount() * sysconf(Int32(_SC_PAGESIZE)),
      // Linux gives kibibytes (getrusage(2)).
      peakResidentBytes: Int(usage.ru_maxrss) * 1024,
      threadCount: entryCount(of: "/proc/self/task"),
      // Without the one by which the folder itself is read.
      openFileCount: max(0, entryCount(of: "/proc/self/fd") - 1))
  }

  /// The second number of statm (proc(5)).
  private static func residentPageCount() -> Int {
    let words = firstLine(ofFile: "/proc/self/statm")?.split(separator: " ") ?? []
    return words.count > 1 ? Int(words[1]) ?? 0 : 0
  }

  private static func entryCount(of path: String) -> Int {
    guard let folder = opendir(path) else { return 0 }
    defer { closedir(folder) }
    var count = 0
    // All but "." and "..", whatever its own name begins with.
    while let entry = readdir(folder) { count += entry.pointee.d_name.0 == UInt8(ascii: ".") ? 0 : 1 }
    return count
  }
}
