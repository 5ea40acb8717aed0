import Glibc

/// What /proc says about this process.
struct ProcessCounts: CustomStringConvertible {
  let threads: Int
  let files: Int
  let residentBytes: Int

  init() {
    threads = Self.entries(of: "/proc/self/task")
    files = Self.entries(of: "/proc/self/fd")
    var residentPages = 0
    if let file = fopen("/proc/self/statm", "r") {
      var line = [CChar](repeating: 0, count: 128)
      if fgets(&line, 128, file) != nil {
        let words = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).split(
          separator: " ")
        residentPages = Int(words[1]) ?? 0
      }
      fclose(file)
    }
    residentBytes = residentPages * sysconf(Int32(_SC_PAGESIZE))
  }

  private static func entries(of path: String) -> Int {
    guard let directory = opendir(path) else { return 0 }
    defer { closedir(directory) }
    var count = 0
    while readdir(directory) != nil { count += 1 }
    return count
  }

  var description: String { "\(threads) threads, \(files) files, \(residentBytes / 1024) KiB" }
}
