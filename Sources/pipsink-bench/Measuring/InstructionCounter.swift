import CGStreamer
import Glibc
import PipSink
import PipSinkCommandLine

/// Counts the instructions that programs execute, with valgrind's callgrind. The counts are the same on a busy machine
/// as on an idle one, and do not include the kernel's instructions.
final class InstructionCounter {
  private let processes: OwnProcesses
  private let valgrind: String
  private let folder: ScratchFolder
  private let environment: [String: String]

  /// Lets GStreamer search its plugins, with the one beside this program among them, so that the counted programs do
  /// not.
  ///
  /// - Parameter element: the element that the counted programs need.
  /// - Throws: ``CommandError`` when valgrind, GStreamer's tools or the element are missing.
  init(processes: OwnProcesses, element: String) throws {
    self.processes = processes
    guard let valgrind = String(taking: g_find_program_in_path("valgrind")) else {
      throw CommandError(
        .unavailable, "valgrind, which counts instructions, is not installed: apt-get install valgrind")
    }
    self.valgrind = valgrind
    folder = try ScratchFolder()
    do throws(CommandError) {
      environment = try Self.prepare(folder, element)
    } catch {
      folder.remove()
      throw error
    }
  }

  deinit {
    folder.remove()
  }

  /// The instructions of a long run beyond those of a short one, for each frame, so that start and end cancel out.
  ///
  /// - Parameter name: what the program does, for the error.
  /// - Parameter frames: the frames of the short run and of the long one.
  /// - Parameter command: the program that works on so many frames, and its arguments.
  func cost(
    _ name: String, frames: (short: Int, long: Int), _ command: (Int) -> (program: String, arguments: [String])
  ) throws -> Double {
    let counts = try [frames.short, frames.long].map { frames in
      let (program, arguments) = command(frames)
      return Double(try count(name, program, arguments))
    }
    return (counts[1] - counts[0]) / Double(frames.long - frames.short)
  }

  /// Counts the instructions of a program between the calls of ``mark()``, which makes them exact: of n calls, n - 1 counts.
  ///
  /// - Parameter name: what the program does, for the error.
  /// - Throws: ``CommandError`` when it fails.
  func countBetweenMarks(_ name: String, _ program: String, _ arguments: [String]) throws -> [UInt64] {
    let totals = try run(name, program, arguments, options: ["--dump-before=\(Self.markedFunction)"])
    // The first part ends at the first mark, and the last one begins at the last mark.
    return Array(totals.dropFirst().dropLast())
  }

  /// Says to ``countBetweenMarks(_:_:_:)`` that a part of the program begins or ends here.
  static func mark() {
    _ = getpgrp()
  }

  /// A function of the C library that does nothing else, and that nothing else in a counted program calls.
  private static let markedFunction = "getpgrp"

  /// Runs a program, and waits for its end. That takes some fifty times as long as without counting.
  ///
  /// - Parameter program: a path, or a name to be looked up in PATH.
  /// - Returns: the number of instructions of all its threads.
  private func count(_ name: String, _ program: String, _ arguments: [String]) throws -> UInt64 {
    try run(name, program, arguments).reduce(0, +)
  }

  /// - Returns: the instructions of each part of the run. It has one part where no option asks for more.
  private func run(
    _ name: String, _ program: String, _ arguments: [String], options: [String] = []
  ) throws -> [UInt64] {
    // The program runs on one processor, and a thread that wakes another is not preempted by it (SCHED_BATCH). So the
    // count varies less where two threads hand frames to each other.
    let order = ["chrt", "--batch", "0", "taskset", "--cpu-list", Self.firstProcessor]
    // The file's name has the process ID, so that no child of the program writes to the same file. Callgrind appends the
    // part's number, except to the last part's name.
    let callgrind = ["--tool=callgrind", "--callgrind-out-file=\(folder.path)/out.%p", "--separate-threads=no"]
    let process = try processes.start(
      "/usr/bin/env", order + [valgrind] + callgrind + options + [program] + arguments, environment: environment)
    let status = process.finish().status
    let last = "\(folder.path)/out.\(process.processIdentifier)"
    var files: [String] = []
    while access("\(last).\(files.count + 1)", F_OK) == 0 { files.append("\(last).\(files.count + 1)") }
    files.append(last)
    defer { for file in files { _ = unlink(file) } }
    let totals = files.compactMap { file in (try? InputFile.text(of: file)).flatMap(Self.total) }
    guard status == 0, totals.count == files.count
    else { throw CommandError(.failed, "\"\(name)\" failed in valgrind: \(process.errors)") }
    return totals
  }

  /// Reads the total of the run from callgrind's file, where it has a line like "totals: 78123456".
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
  private static func prepare(_ folder: ScratchFolder, _ element: String) throws(CommandError) -> [String: String] {
    var environment = ["GST_REGISTRY": folder.path + "/registry.bin"]
    if let plugins = try pluginFolder(in: folder) { environment["GST_PLUGIN_PATH"] = plugins }
    let inspection = try ChildProcess("/usr/bin/env", ["gst-inspect-1.0", element], environment: environment)
    guard inspection.finish().status == 0 else {
      throw CommandError(
        .unavailable,
        "gst-inspect-1.0 does not find the element \(element) beside this program or among GStreamer's plugins: "
          + (element == "pipsink" ? "swift build -c release --product gstpipsink, or make install. " : "")
          + inspection.errors)
    }
    // The counts must not depend on options of the user, and symbols from the network are not needed.
    return environment.merging(["GST_REGISTRY_UPDATE": "no", "VALGRIND_OPTS": "", "DEBUGINFOD_URLS": ""]) { $1 }
  }

  /// Makes a folder that contains only a link to the plugin beside this program; nil when there is no such plugin.
  private static func pluginFolder(in folder: ScratchFolder) throws(CommandError) -> String? {
    let (path, name) = (folder.path + "/plugins", "libgstpipsink.so")
    let plugin = "\(ThisProgram.folder)/\(name)"
    guard access(plugin, F_OK) == 0 else { return nil }
    guard mkdir(path, 0o700) == 0, symlink(plugin, "\(path)/\(name)") == 0 else {
      throw CommandError(.failed, "\"\(path)\" cannot be written: \(String(cString: strerror(errno)))")
    }
    return path
  }
}
