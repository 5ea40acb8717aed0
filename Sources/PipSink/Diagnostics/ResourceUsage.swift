import Glibc

/// The resources that the process uses now and has used so far.
package struct ResourceUsage: Sendable {
  /// The processor time of all threads so far, in the program and in the kernel on its behalf.
  package let cpuTime: Duration
  /// The current resident set, in bytes; 0 where /proc cannot be read.
  package let residentBytes: Int
  /// The largest resident set so far, in bytes.
  package let peakResidentBytes: Int
  /// The current number of threads; 0 where /proc cannot be read.
  package let threadCount: Int
  /// The current number of open file descriptors; 0 where /proc cannot be read.
  package let openFileCount: Int

  /// The usage at this moment. It reads three files of /proc, which takes about ten microseconds, and longer with very
  /// many threads and files.
  package static var current: ResourceUsage {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return ResourceUsage(
      cpuTime: .seconds(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + .microseconds(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec),
      residentBytes: residentPageCount() * sysconf(Int32(_SC_PAGESIZE)),
      // Linux gives kibibytes (getrusage(2)).
      peakResidentBytes: Int(usage.ru_maxrss) * 1024,
      threadCount: entryCount(of: "/proc/self/task"),
      // The descriptor for reading the folder itself does not count.
      openFileCount: max(0, entryCount(of: "/proc/self/fd") - 1))
  }

  /// The resident pages: the second number of /proc/self/statm (proc(5)).
  private static func residentPageCount() -> Int {
    let words = firstLine(ofFile: "/proc/self/statm")?.split(separator: " ") ?? []
    return words.count > 1 ? Int(words[1]) ?? 0 : 0
  }

  /// The number of entries in a folder of /proc, where only "." and ".." begin with a dot.
  private static func entryCount(of path: String) -> Int {
    guard let folder = opendir(path) else { return 0 }
    defer { closedir(folder) }
    var count = 0
    // Names of threads and descriptors are numbers.
    while let entry = readdir(folder) { count += entry.pointee.d_name.0 == UInt8(ascii: ".") ? 0 : 1 }
    return count
  }
}
