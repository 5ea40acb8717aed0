import CGStreamer
import Glibc
import PipSink

/// Another program that this program runs, and that does not outlive it. Its standard input is /dev/null, and its
/// standard error goes to a temporary file.
///
/// It is started with GLib's `g_spawn` and not with GIO's `GSubprocess`, which waits for children on a thread of its
/// own. There the process ID of a child that ends at once is lost, and benchmarks list the IDs.
package final class ChildProcess {
  package let processIdentifier: Int32
  private let errorFile: String
  /// The reading end of a pipe with its standard output; nil when the output is not read.
  private let output: Int32?
  /// The exit status, after the process has been waited for.
  private var status: Int32?

  /// The processes that have not been waited for. Their process IDs cannot be reused yet.
  private static let running = Locked<Set<Int32>>([])

  /// - Parameters:
  ///   - program: the path of the program.
  ///   - environment: variables to add to this program's environment.
  /// - Throws: ``CommandError`` when it cannot be started.
  package init(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], readsOutput: Bool = false
  ) throws(CommandError) {
    var name = Array("\(String(cString: g_get_tmp_dir()))/pipsink-XXXXXX".utf8CString)
    let errors = g_mkstemp_full(&name, O_WRONLY | O_CLOEXEC, 0o600)
    let reason = String(cString: strerror(errno))
    errorFile = String(decoding: name.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    guard errors >= 0 else {
      throw CommandError(
        .unavailable, "\(program) cannot be started: no file for its messages, \(errorFile): \(reason)")
    }
    defer { close(errors) }
    do throws(CommandError) {
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

  /// - Parameter errors: a descriptor for the standard error, which the caller still owns.
  /// - Returns: the process ID, and a descriptor to read the standard output from.
  private static func spawn(
    _ command: [String], _ environment: [String: String], _ readsOutput: Bool, errors: Int32
  ) throws(CommandError) -> (process: Int32, output: Int32?) {
    let texts = command.map { strdup($0) }
    defer { for text in texts { free(text) } }
    let arguments = texts.map { UnsafePointer($0) } + [nil]
    var variables = g_get_environ()
    defer { g_strfreev(variables) }
    for (name, value) in environment { variables = g_environ_setenv(variables, name, value, 1) }
    let aboutOutput = readsOutput ? G_SPAWN_CLOEXEC_PIPES : G_SPAWN_STDOUT_TO_DEV_NULL
    let flags = GSpawnFlags(G_SPAWN_DO_NOT_REAP_CHILD.rawValue | aboutOutput.rawValue)
    var (process, output, error): (GPid, Int32, UnsafeMutablePointer<GError>?) = (0, -1, nil)
    // The process is started under the lock, so that ``endAll()`` finds every process that has started.
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
      throw CommandError(.unavailable, "\(command[0]) cannot be started: \(reason)")
    }
    return (process, readsOutput ? output : nil)
  }

  package var isRunning: Bool { status == nil && !hasEnded(waits: false) }

  /// What the program has written to standard error so far.
  package var errors: String { String(decoding: (try? InputFile.bytes(of: errorFile)) ?? [], as: UTF8.self) }

  /// The next part of the standard output. Waits until there is something, or until the output ends.
  package var availableOutput: [UInt8] { output.flatMap { try? InputFile.nextBytes(of: $0) } ?? [] }

  /// Waits for the end of the program.
  ///
  /// - Returns: the rest of the standard output, and the exit status, which is 128 plus the signal's number when a
  ///   signal has ended the program.
  package func finish() -> (output: [UInt8], status: Int32) {
    let bytes = output.flatMap { try? InputFile.rest(of: $0) } ?? []
    return (bytes, waitForEnd())
  }

  /// Ends the program at once, if it still runs. It uses SIGKILL, because the program inherits that this one ignores
  /// other signals.
  package func end() {
    if isRunning { kill(processIdentifier, SIGKILL) }
    _ = waitForEnd()
  }

  /// Ends all programs at once, when this program is interrupted.
  package static func endAll() {
    running.withLock { for process in $0 { kill(process, SIGKILL) } }
  }

  private func waitForEnd() -> Int32 {
    if let status { return status }
    _ = hasEnded(waits: true)
    // The process has ended, so that nothing blocks while the lock is held.
    let result = Self.running.withLock { running in
      running.remove(processIdentifier)
      var result: Int32 = 0
      // When SIGCHLD is ignored, the exit status is unknown.
      return waitpid(processIdentifier, &result, 0) == processIdentifier ? result : -1
    }
    let signal = result & 0x7F
    let status = result < 0 ? -1 : signal == 0 ? result >> 8 & 0xFF : 128 + signal
    self.status = status
    return status
  }

  /// Whether the process has ended. Its process ID remains in use.
  private func hasEnded(waits: Bool) -> Bool {
    var information = siginfo_t()
    let options = WEXITED | WNOWAIT | (waits ? 0 : WNOHANG)
    while waitid(P_PID, id_t(processIdentifier), &information, options) != 0 {
      guard errno == EINTR else { return true }
    }
    return information.si_signo != 0
  }
}
