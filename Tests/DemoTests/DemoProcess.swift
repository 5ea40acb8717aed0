import Foundation
import Testing

@testable import pipsink_demo

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

enum Demo {
  /// The path of the demo, which was built beside the tests.
  static let path: String = {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("pipsink-demo").path
  }()

  /// The root folder of the repository.
  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  static func start(_ arguments: [String], environment: [String: String] = [:]) throws -> RunningProgram {
    try RunningProgram(path, arguments, environment: environment)
  }

  static func play(_ arguments: [String], environment: [String: String] = [:]) async throws -> ProgramResult {
    try await start(["play"] + arguments, environment: environment).result()
  }

  static func pipeline(_ name: String) -> [String] {
    ["--pipeline", root.appendingPathComponent("pipelines/\(name).launch").path]
  }
}

extension ProgramResult {
  /// The report that the option `--report -` made the program write.
  func report() throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(output.utf8))
  }
}

/// A temporary folder for one test, which is removed at the test's end.
final class TemporaryFolder {
  let url: URL

  init() throws {
    url = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit {
    try? FileManager.default.removeItem(at: url)
  }

  func path(_ name: String) -> String { url.appendingPathComponent(name).path }

  var files: [String] { ((try? FileManager.default.contentsOfDirectory(atPath: url.path)) ?? []).sorted() }
}

enum Tool {
  /// Runs one of GStreamer's own programs to its end.
  @discardableResult
  static func gstLaunch(_ pipeline: String, verbose: Bool = false) async throws -> ProgramResult {
    let words = pipeline.split(separator: " ").map(String.init)
    let result = try await RunningProgram("/usr/bin/gst-launch-1.0", (verbose ? ["-v"] : ["-q"]) + words).result()
    #expect(result.status == 0, "\(pipeline): \(result.errors)")
    return result
  }

  /// Writes a Matroska file of H.264 test pictures with the given pattern.
  static func makeVideo(
    _ path: String, frames: Int = 40, pattern: String = "smpte100", size: String = "width=640,height=480"
  ) async throws {
    try await gstLaunch(
      "videotestsrc num-buffers=\(frames) pattern=\(pattern) ! video/x-raw,format=I420,\(size),framerate=30/1 "
        + "! x264enc speed-preset=ultrafast key-int-max=15 ! h264parse ! matroskamux ! filesink location=\(path)")
  }
}
