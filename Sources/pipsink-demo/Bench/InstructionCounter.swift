import Foundation

/// Counts the instructions that programs carry out, with valgrind's callgrind: the same on a busy machine as on an idle
/// one, and on any processor. The kernel's own are not among them.
final class InstructionCounter {
  private let processes: OwnProcesses
  private let valgrind: String
  private let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString)")
  private let environment: [String: String]

  /// Has GStreamer look for its plugins, among them the one beside this program, so that no program that is counted does.
  ///
  /// - Throws: ``DemoError`` when valgrind, GStreamer's tools or the element are not there.
  init(processes: OwnProcesses) throws {
    self.processes = processes
    guard let valgrind = Self.file(of: "valgrind") else {
      throw DemoError(
        .unavailable, "valgrind, which counts instructions, is not installed: apt-get install valgrind")
    }
    self.valgrind = valgrind
    let plugins = folder.appendingPathComponent("plugins")
    let name = "libgstpipsink.so"
    let plugin = URL(fileURLWithPath: ChildProcess.demo).deletingLastPathComponent().appendingPathComponent(name)
    var environment = ["GST_REGISTRY": folder.appendingPathComponent("registry.bin").path]
    do {
      try FileManager.default.createDirectory(at: plugins, withIntermediateDirectories: true)
      if FileManager.default.fileExists(atPath: plugin.path) {
        try FileManager.default.createSymbolicLink(
          at: plugins.appendingPathComponent(name), withDestinationURL: plugin)
        environment["GST_PLUGIN_PATH"] = plugins.path
      }
    } catch {
      throw DemoError(.failed, "\"\(folder.path)\" cannot be written: \(error.localizedDescription)")
    }
    let inspection = try ChildProcess("/usr/bin/env", ["gst-inspect-1.0", "pipsink"], environment: environment)
    guard inspection.finish().status == 0 else {
      throw DemoError(
        .unavailable,
        "gst-inspect-1.0 does not find the element pipsink beside this program or among GStreamer's plugins: "
          + "swift build -c release --product gstpipsink, or make install. \(inspection.errors)")
    }
    // Options of the user's, and symbols from the network, which nobody looks at here.
    environment.merge(["GST_REGISTRY_UPDATE": "no", "VALGRIND_OPTS": "", "DEBUGINFOD_URLS": ""]) { $1 }
    self.environment = environment
  }

  deinit {
    try? FileManager.default.removeItem(at: folder)
  }

  /// Runs a program to its end, and waits for it: some fifty times as long as it takes by itself.
  ///
  /// - Parameter name: what it does, for the error.
  /// - Parameter program: a path, or a name to be looked up in PATH.
  /// - Returns: the instructions of all its threads.
  /// - Throws: ``DemoError`` when it fails.
  func count(_ name: String, _ program: String, _ arguments: [String]) throws -> UInt64 {
    // On one processor, and none of its threads takes the place of another that it wakes (SCHED_BATCH): where two threads
    // hand frames to each other, their count varies less so.
    let order = ["chrt", "--batch", "0", "taskset", "--cpu-list", Self.firstProcessor]
    // With its process ID, so that no child of the program's writes to the same file.
    let options = ["--tool=callgrind", "--callgrind-out-file=\(folder.path)/out.%p", "--separate-threads=no"]
    let process = try processes.start(
      "/usr/bin/env", order + [valgrind] + options + [program] + arguments, environment: environment)
    let status = process.finish().status
    let file = folder.appendingPathComponent("out.\(process.processIdentifier)")
    defer { try? FileManager.default.removeItem(at: file) }
    guard status == 0, let text = try? String(contentsOf: file, encoding: .utf8), let total = Self.total(in: text)
    else { throw DemoError(.failed, "\"\(name)\" failed in valgrind: \(process.errors)") }
    return total
  }

  /// What callgrind's file says of the whole run: "totals: 78123456", in a line of its own.
  static func total(in text: String) -> UInt64? {
    text.split(whereSeparator: \.isNewline).last { $0.hasPrefix("totals:") }
      .flatMap { UInt64($0.dropFirst("totals:".count).trimmingCharacters(in: .whitespaces)) }
  }

  /// The number of the first processor that this process may use.
  private static var firstProcessor: String {
    let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? ""
    let number = line.drop { !$0.isNumber }.prefix { $0.isNumber }
    return number.isEmpty ? "0" : String(number)
  }

  private static func file(of program: String) -> String? {
    (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
      .map { "\($0)/\(program)" }
      .first { FileManager.default.isExecutableFile(atPath: $0) }
  }
}
