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
      processor: processorName ?? "unknown",
      processorCount: Int(g_get_num_processors()),
      memoryBytes: UInt64(sysconf(Int32(_SC_PHYS_PAGES)) * sysconf(Int32(_SC_PAGESIZE))),
      system: String(taking: g_get_os_info("PRETTY_NAME")) ?? "Linux", kernel: kernel,
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

  /// The first processor's name, as the kernel knows it.
  private static var processorName: String? {
    let text = try? InputFile.text(of: "/proc/cpuinfo")
    let line = text?.split(separator: "\n").first { $0.hasPrefix("model name") }
    return line?.split(separator: ":").last.map { String($0.drop { $0 == " " }) }
  }
}
