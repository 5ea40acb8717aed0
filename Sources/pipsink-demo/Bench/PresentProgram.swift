import PipSink

/// A program that shows a source in a window, and is watched doing so.
struct PresentProgram {
  /// In results.
  let title: String
  let program: String
  let arguments: [String]
  var environment: [String: String] = [:]

  static let pipSinkTitle = "PipSink"

  static func pipSink(_ source: StillSource, window: PictureSize) -> PresentProgram {
    PresentProgram(
      title: pipSinkTitle, program: ChildProcess.demo,
      arguments: [
        "play", "\(source.description) ! appsink name=a", "--surface", "window", "--window-size", "\(window)",
      ])
  }

  /// - Parameter elements: what the frames go through, with `%` for the window's size in caps.
  static func gstreamer(_ source: StillSource, _ elements: String, window: PictureSize) -> PresentProgram {
    let size = "video/x-raw,width=\(window.width),height=\(window.height)"
    let pipeline = "\(source.description) ! \(elements.replacing("%", with: size))"
    return PresentProgram(
      title: elements.replacing(" ! %", with: ""), program: "/usr/bin/gst-launch-1.0",
      arguments: ["-q"] + pipeline.split(separator: " ").map(String.init))
  }

  /// The same source shown nowhere.
  static func base(_ source: StillSource) -> PresentProgram {
    gstreamer(source, "fakesink sync=true", window: source.size)
  }

  /// Milliseconds of processor time a second, of the program and of the display server.
  func measure(on display: PresentDisplay, seconds: Double, in processes: OwnProcesses) async throws -> Double {
    let state = try ScratchFolder()
    defer { state.remove() }
    let process = try processes.start(
      program, arguments,
      environment: display.environment.merging(["XDG_STATE_HOME": state.path, "NO_AT_BRIDGE": "1"]) { $1 }
        .merging(environment) { $1 })
    defer { process.end() }
    // Until the window is there and pictures flow.
    try await Task.sleep(for: .seconds(min(1.5, seconds)))
    let watched = [process.processIdentifier] + [display.process].compactMap(\.self)
    let (before, start) = (ProcessorTime.nanoseconds(of: watched), MonotonicTime.now)
    try await Task.sleep(for: .seconds(seconds))
    let used = ProcessorTime.nanoseconds(of: watched)
    let elapsed = start.duration(to: .now) / .seconds(1)
    guard process.isRunning, used > before else {
      throw DemoError(.failed, "\"\(title)\" ended by itself: \(process.errors)")
    }
    return Double(used - before) / 1e6 / elapsed
  }
}
