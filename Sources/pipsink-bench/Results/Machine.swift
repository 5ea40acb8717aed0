import CGStreamer
import Glibc
import PipSink
import PipSinkCommandLine

/// The machine that a benchmark ran on.
struct Machine: Codable, Equatable {
  var processor: String
  var processorCount: Int
  var memoryBytes: UInt64
  var system: String
  var kernel: String
  var gstreamer: String
  var pipSink: String
  /// "release" or "debug": how PipSink was built.
  var build: String
  /// The load average of the last minute, which includes this benchmark.
  var loadAverage: Double

  static var current: Machine {
    var names = utsname()
    uname(&names)
    let kernel = withUnsafeBytes(of: names.release) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
    var load = [0.0]
    getloadavg(&load, 1)
    return Machine(
      processor: value(of: "model name", in: "/proc/cpuinfo", separator: ":") ?? "unknown",
      processorCount: Int(g_get_num_processors()),
      memoryBytes: UInt64(sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))),
      system: value(of: "PRETTY_NAME", in: "/etc/os-release", separator: "=") ?? "Linux", kernel: kernel,
      gstreamer: PipSink.gstreamerVersion, pipSink: PipSink.version, build: isOptimized ? "release" : "debug",
      loadAverage: (load[0] * 100).rounded() / 100)
  }

  var description: String {
    "\(processorCount) x \(processor), \(memoryBytes >> 30) GiB, \(system), Linux \(kernel), \(gstreamer), "
      + "PipSink \(pipSink) (\(build)), load \(loadAverage)"
  }

  private static var isOptimized: Bool {
    #if DEBUG
      false
    #else
      true
    #endif
  }

  /// The value in the first line that begins with `name`.
  private static func value(of name: String, in path: String, separator: Character) -> String? {
    guard let text = try? InputFile.text(of: path),
      let line = text.split(separator: "\n").first(where: { $0.hasPrefix(name) }),
      let position = line.firstIndex(of: separator)
    else { return nil }
    func isAround(_ character: Character) -> Bool { " \t\"".contains(character) }
    let value = line[line.index(after: position)...].drop(while: isAround)
    return value.lastIndex { !isAround($0) }.map { String(value[...$0]) } ?? ""
  }
}
