import CGStreamer
import Glibc
import PipSink

/// Another program that runs for this one, and does not outlive it. It reads from /dev/null; what it writes on standard
/// error goes to a temporary file.
///
/// By GLib's `g_spawn` rather than GIO's `GSubprocess`, which waits for children on a thread of its own: the process ID of
/// one that ends at once is not to be had there any more, and benchmarks list it.
final class ChildProcess {
  let processIdentifier: Int32
  private let errorFile: String
  /// The end of a pipe that its standard output is read from; nil where nobody reads it.
  private let output: Int32?
  /// Once it has been waited for.
  private var status: Int32?

  /// Those that have not been waited for, whose process IDs are therefore no other processes'.
  private static let running = Locked<Set<Int32>>([])

  /// - Parameters:
  ///   - program: a path.
  ///   - environment: besides what this program has.
  /// - Throws: ``DemoError`` when it cannot be started.
  init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], readsOutput: Bool = false
  ) throws(DemoError) {
    var name = Array("\(String(cString: g_get_tmp_dir()))/pipsink-XXXXXX".utf8CString)
    let errors = g_mkstemp_full(&name, O_WRONLY | O_CLOEXEC, 0o600)
    let reason = String(cString: strerror(errno))
    errorFile = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard errors >= 0 else {
      throw DemoError(.unavailable, "\(program) cannot be started: no file for its messages, \(errorFile): \(reason)")
    }
    defer { close(errors) }
    do throws(DemoError) {
      (processIdentifier, output) = try Self.spawn([program] + arguments, environment, readsOutput, errors: errors)
    } catch {
      unlink(errorFile)
      throw error
    }
  }

  deinit {
    end()
    if let output { close(output) }
    unlink(errorFile)
  }

  /// - Parameter errors: a descriptor for its standard error; it stays the caller's.
  /// - Returns: its process ID, and a descriptor to read its standard output from.
  private static func spawn(
    _ command: [String], _ environment: [String: String], _ readsOutput: Bool, errors: Int32
  ) throws(DemoError) -> (process: Int32, output: Int32?) {
    let texts = command.map { strdup($0) }
    defer { for text in texts { free(text) } }
    let arguments = texts.map { UnsafePointer($0) } + [nil]
    var variables = g_get_environ()
    defer { g_strfreev(variables) }
    for (name, value) in environment { variables = g_environ_setenv(variables, name, value, 1) }
    let aboutOutput = readsOutput ? G_SPAWN_CLOEXEC_PIPES : G_SPAWN_STDOUT_TO_DEV_NULL
    let flags = GSpawnFlags(G_SPAWN_DO_NOT_REAP_CHILD.rawValue | aboutOutput.rawValue)
    var (process, output, error): (GPid, Int32, UnsafeMutablePointer<GError>?) = (0, -1, nil)
    // Under the lock, so that ``endAll()`` finds every one that has begun.
    let hasStarted = running.withLock { running in
      withUnsafeMutablePointer(to: &output) { output in
        let hasStarted = g_spawn_async_with_pipes_and_fds(
          nil, arguments, UnsafeRawPointer(variables)?.assumingMemoryBound(to: UnsafePointer<CChar>?.self), flags, nil,
          nil, -1, -1, errors, nil, nil, 0, &process, nil,
          readsOutput ? output : nil, nil, &error)
        if hasStarted != 0 { running.insert(process) }
        return hasStarted != 0
      }
    }
    guard hasStarted else {
      defer { g_clear_error(&error) }
      let reason = error.map { String(cString: $0.pointee.message) } ?? "unknown"
      throw DemoError(.unavailable, "\(command[0]) cannot be started: \(reason)")
    }
    return (process, readsOutput ? output : nil)
  }

  var isRunning: Bool { status == nil && !hasEnded(waits: false) }

  /// What it has written on standard error so far.
  var errors: String { String(decoding: (try? InputFile.bytes(of: errorFile)) ?? [], as: UTF8.self) }

  /// What there is of its standard output, once there is something.
  var availableOutput: [UInt8] { output.flatMap { try? InputFile.nextBytes(of: $0) } ?? [] }

  /// Waits for its end.
  ///
  /// - Returns: its standard output and its exit status, 128 and the signal's number where a signal has ended it.
  func finish() -> (output: [UInt8], status: Int32) {
    let bytes = output.flatMap { try? InputFile.rest(of: $0) } ?? []
    return (bytes, waitForEnd())
  }

  /// Ends it at once, if it still runs. By SIGKILL: it has inherited the signals that this program ignores.
  func end() {
    if isRunning { kill(processIdentifier, SIGKILL) }
    _ = waitForEnd()
  }

  /// When this program is interrupted.
  static func endAll() {
    running.withLock { for process in $0 { kill(process, SIGKILL) } }
  }

  private func waitForEnd() -> Int32 {
    if let status { return status }
    _ = hasEnded(waits: true)
    // Nothing blocks any more while the lock is held.
    let result = Self.running.withLock { running in
      running.remove(processIdentifier)
      var result: Int32 = 0
      // Where SIGCHLD is ignored nobody knows how it has ended.
      return waitpid(processIdentifier, &result, 0) == processIdentifier ? result : -1
    }
    let signal = result & 0x7F
    let status = result < 0 ? -1 : signal == 0 ? result >> 8 & 0xFF : 128 + signal
    self.status = status
    return status
  }

  /// Leaves its process ID in use.
  private func hasEnded(waits: Bool) -> Bool {
    var information = siginfo_t()
    let options = WEXITED | WNOWAIT | (waits ? 0 : WNOHANG)
    while waitid(P_PID, id_t(processIdentifier), &information, options) != 0 {
      guard errno == EINTR else { return true }
    }
    return information.si_signo != 0
  }

  /// This program's own file.
  static var demo: String { String(taking: realpath("/proc/self/exe", nil)) ?? CommandLine.arguments[0] }

  /// The path of a file in this program's folder, whether there is one or not.
  static func file(besideDemo name: String) -> String {
    let demo = demo
    return demo[..<(demo.lastIndex(of: "/") ?? demo.startIndex)] + "/" + name
  }
}
