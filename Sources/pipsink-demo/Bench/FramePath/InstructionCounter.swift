import CGStreamer
import Glibc
import PipSink

/// Counts the instructions that programs carry out, with valgrind's callgrind: the same on a busy machine as on an idle
/// one, and on any processor. The kernel's own are not among them.
final class InstructionCounter {
  private let processes: OwnProcesses
  private let valgrind: String
  private let folder: ScratchFolder
  private let environment: [String: String]

  /// Has GStreamer look for its plugins, among them the one beside this program, so that no program that is counted does.
  ///
  /// - Throws: ``DemoError`` when valgrind, GStreamer's tools or the element are not there.
  init(processes: OwnProcesses) throws {
    self.processes = processes
    guard let valgrind = String(taking: g_find_program_in_path("valgrind")) else {
      throw DemoError(
        .unavailable, "valgrind, which counts instructions, is not installed: apt-get install valgrind")
    }
    self.valgrind = valgrind
    folder = try ScratchFolder()
    do throws(DemoError) {
      environment = try Self.prepare(folder)
    } catch {
      folder.remove()
      throw error
    }
  }

  deinit {
    folder.remove()
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
    let file = "\(folder.path)/out.\(process.processIdentifier)"
    defer { unlink(file) }
    guard status == 0, let text = try? InputFile.text(of: file), let total = Self.total(in: text)
    else { throw DemoError(.failed, "\"\(name)\" failed in valgrind: \(process.errors)") }
    return total
  }

  /// What callgrind's file says of the whole run: "totals: 78123456", in a line of its own.
  static func total(in text: String) -> UInt64? {
    text.split(whereSeparator: \.isNewline).last { $0.hasPrefix("totals:") }
      .flatMap { $0.split(separator: " ").dropFirst().first.flatMap { UInt64($0) } }
  }

  /// The number of the first processor that this process may use.
  private static var firstProcessor: String {
    let status = (try? InputFile.text(of: "/proc/self/status")) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("Cpus_allowed_list:") } ?? ""
    let number = line.drop { !$0.isNumber }.prefix { $0.isNumber }
    return number.isEmpty ? "0" : String(number)
  }

  /// - Returns: the environment in which programs are counted.
  private static func prepare(_ folder: ScratchFolder) throws(DemoError) -> [String: String] {
    var environment = ["GST_REGISTRY": folder.path + "/registry.bin"]
    if let plugins = try pluginFolder(in: folder) { environment["GST_PLUGIN_PATH"] = plugins }
    let inspection = try ChildProcess("/usr/bin/env", ["gst-inspect-1.0", "pipsink"], environment: environment)
    guard inspection.finish().status == 0 else {
      throw DemoError(
        .unavailable,
        "gst-inspect-1.0 does not find the element pipsink beside this program or among GStreamer's plugins: "
          + "swift build -c release --product gstpipsink, or make install. \(inspection.errors)")
    }
    // Options of the user's, and symbols from the network, which nobody looks at here.
    return environment.merging(["GST_REGISTRY_UPDATE": "no", "VALGRIND_OPTS": "", "DEBUGINFOD_URLS": ""]) { $1 }
  }

  /// A folder with a link to the plugin beside this program, and nothing else in it; nil where there is no such plugin.
  private static func pluginFolder(in folder: ScratchFolder) throws(DemoError) -> String? {
    let (path, name) = (folder.path + "/plugins", "libgstpipsink.so")
    let plugin = ChildProcess.file(besideDemo: name)
    guard access(plugin, F_OK) == 0 else { return nil }
    guard mkdir(path, 0o700) == 0, symlink(plugin, "\(path)/\(name)") == 0 else {
      throw DemoError(.failed, "\"\(path)\" cannot be written: \(String(cString: strerror(errno)))")
    }
    return path
  }
}
