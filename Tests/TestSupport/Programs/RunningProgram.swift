import Foundation
import Testing

/// The result of a program's run, with the text that it wrote.
struct ProgramResult {
  let status: Int32
  /// Whether a signal ended the program, which means that it crashed.
  let wasKilled: Bool
  let output: String
  let errors: String
}

/// A running program. It is ended by a deadline at the latest, so that a hang fails one test rather than the whole
/// suite.
final class RunningProgram {
  private let process = Process()
  private let outputURL: URL
  private let errorURL: URL

  init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws {
    let base = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString)")
    outputURL = base.appendingPathExtension("out")
    errorURL = base.appendingPathExtension("err")
    for url in [outputURL, errorURL] { try Data().write(to: url) }
    process.executableURL = URL(fileURLWithPath: program)
    process.arguments = arguments
    // The user who runs the tests may have a display. Only tests that start a display of their own may use one.
    let inherited = ProcessInfo.processInfo.environment.filter { !["DISPLAY", "WAYLAND_DISPLAY"].contains($0.key) }
    process.environment = inherited.merging(environment) { $1 }
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = try FileHandle(forWritingTo: outputURL)
    process.standardError = try FileHandle(forWritingTo: errorURL)
    try process.run()
  }

  deinit {
    stop()
    for url in [outputURL, errorURL] { try? FileManager.default.removeItem(at: url) }
  }

  var output: String { (try? String(contentsOf: outputURL, encoding: .utf8)) ?? "" }
  var errors: String { (try? String(contentsOf: errorURL, encoding: .utf8)) ?? "" }

  var isRunning: Bool { process.isRunning }
  var processIdentifier: Int32 { process.processIdentifier }

  func interrupt() { process.interrupt() }

  /// Ends the program as its user does, and waits until it has written what it remembers and has ended by itself.
  func end() async throws {
    interrupt()
    let result = try await result(seconds: 60)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
  }

  /// Ends the program at once. It uses SIGKILL because the program has inherited a signal mask that blocks the other
  /// signals: it was started on a thread of the concurrency pool.
  func stop() {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits until the program has written `text` to its standard output or error.
  func wait(forText text: String) async -> Bool {
    await wait { $0.errors.contains(text) || $0.output.contains(text) }
  }

  /// The first line of the program's standard output. It waits for that line.
  func firstLine() async -> String? {
    _ = await wait { $0.output.contains("\n") }
    return output.split(separator: "\n").first.map(String.init)
  }

  func wait(for condition: (RunningProgram) -> Bool) async -> Bool {
    let deadline = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < deadline {
      let isRunning = process.isRunning
      if condition(self) { return true }
      if !isRunning { return false }
      try? await Task.sleep(for: .milliseconds(10))
    }
    return false
  }

  func result(seconds: Double = 120) async throws -> ProgramResult {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while process.isRunning, ContinuousClock.now < deadline { try await Task.sleep(for: .milliseconds(10)) }
    if process.isRunning {
      stop()
      Issue.record("\(process.arguments ?? []) hung: \(errors)")
    }
    process.waitUntilExit()
    return ProgramResult(
      status: process.terminationStatus, wasKilled: process.terminationReason == .uncaughtSignal, output: output,
      errors: errors)
  }
}
