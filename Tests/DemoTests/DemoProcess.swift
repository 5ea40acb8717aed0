import Foundation
import Testing

@testable import pipsink_demo

/// A run of a program, with what it wrote.
struct ProgramResult {
  let status: Int32
  /// Whether a signal ended it: a crash.
  let wasKilled: Bool
  let output: String
  let errors: String
}

/// A program that runs; ended at the latest by its deadline, so that a hang fails a test rather than the whole suite.
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
    // Whoever runs the tests may have a display, which only the tests that start one of their own are to use.
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

  /// Ends it at once. By SIGKILL: it was started on a thread of the concurrency pool, which blocks the other signals,
  /// and has inherited that.
  func stop() {
    guard process.isRunning else { return }
    kill(process.processIdentifier, SIGKILL)
    process.waitUntilExit()
  }

  /// Waits until it has written `text`, on standard output or error.
  func wait(forText text: String) async -> Bool {
    await wait { $0.errors.contains(text) || $0.output.contains(text) }
  }

  /// The first line of its standard output, once that is there.
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
  /// The demo that was built with the tests, beside them.
  static let path: String = {
    let tests = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
    return tests.deletingLastPathComponent().appendingPathComponent("pipsink-demo").path
  }()

  /// The repository.
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
  /// The report that `--report -` wrote.
  func report() throws -> Report {
    try JSONDecoder().decode(Report.self, from: Data(output.utf8))
  }
}

/// A folder of a test's own, removed at its end.
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
  /// Runs a stock GStreamer program to its end.
  @discardableResult
  static func gstLaunch(_ pipeline: String, verbose: Bool = false) async throws -> ProgramResult {
    let words = pipeline.split(separator: " ").map(String.init)
    let result = try await RunningProgram("/usr/bin/gst-launch-1.0", (verbose ? ["-v"] : ["-q"]) + words).result()
    #expect(result.status == 0, "\(pipeline): \(result.errors)")
    return result
  }

  /// An H.264 file of test pictures, half of it bars, half of it white.
  static func makeVideo(
    _ path: String, frames: Int = 40, pattern: String = "smpte100", size: String = "width=640,height=480"
  ) async throws {
    try await gstLaunch(
      "videotestsrc num-buffers=\(frames) pattern=\(pattern) ! video/x-raw,format=I420,\(size),framerate=30/1 "
        + "! x264enc speed-preset=ultrafast key-int-max=15 ! h264parse ! matroskamux ! filesink location=\(path)")
  }
}
