import Foundation
import PipSink

/// Another program that runs for this one, and does not outlive it.
final class ChildProcess {
  private let process = Process()
  private let errorFile: String
  private let output: Pipe?

  private static let running = Locked<Set<Int32>>([])

  /// - Parameter environment: besides what this program has.
  /// - Throws: ``DemoError`` when it cannot be started.
  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], readsOutput: Bool = false
  ) throws {
    output = readsOutput ? Pipe() : nil
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output ?? FileHandle.nullDevice
    var name = Array((FileManager.default.temporaryDirectory.path + "/pipsink-XXXXXX").utf8CString)
    let descriptor = mkstemp(&name)
    let reason = String(cString: strerror(errno))
    _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
    errorFile = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard descriptor >= 0 else {
      throw DemoError(.unavailable, "\(program) cannot be started: no file for its messages, \(errorFile): \(reason)")
    }
    process.standardError = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
    do {
      try process.run()
    } catch {
      unlink(errorFile)
      throw DemoError(.unavailable, "\(program) cannot be started: \(error.localizedDescription)")
    }
    let identifier = process.processIdentifier
    Self.running.withLock { _ = $0.insert(identifier) }
  }

  deinit {
    end()
    unlink(errorFile)
  }

  var processIdentifier: Int32 { process.processIdentifier }
  var isRunning: Bool { process.isRunning }

  /// What it has written on standard error so far.
  var errors: String { (try? String(contentsOfFile: errorFile, encoding: .utf8)) ?? "" }

  /// What there is of its standard output, once there is something.
  var availableOutput: Data { output?.fileHandleForReading.availableData ?? Data() }

  /// Waits for its end.
  ///
  /// - Returns: its standard output and its exit status.
  func finish() -> (output: Data, status: Int32) {
    let data = output?.fileHandleForReading.readDataToEndOfFile() ?? Data()
    process.waitUntilExit()
    return (data, process.terminationStatus)
  }

  /// Ends it at once, if it still runs. By SIGKILL: it has inherited the signals that this program's threads block.
  func end() {
    if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    process.waitUntilExit()
    let identifier = process.processIdentifier
    Self.running.withLock { _ = $0.remove(identifier) }
  }

  /// When this program is interrupted.
  static func endAll() {
    for process in running.withLock({ $0 }) { kill(process, SIGKILL) }
  }

  /// This program's own file.
  static var demo: String { URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath().path }
}
