import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Measures how much processor time an app takes whose window is hidden.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct BackgroundDecodingWindowTests {
  /// The seconds of processor time that a program has used so far, as the kernel counts them (proc_pid_stat(5)).
  private func processorSeconds(_ program: RunningProgram) throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(program.processIdentifier)/stat", encoding: .utf8)
    // The program's name comes before these fields and may contain spaces.
    let fields = try #require(text.split(separator: ")").last).split(separator: " ")
    let ticks = try #require(Double(fields[11])) + #require(Double(fields[12]))
    return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// The seconds of processor time that the program uses in the next two seconds.
  private func load(of program: RunningProgram) async throws -> Double {
    let before = try processorSeconds(program)
    try await Task.sleep(for: .seconds(2))
    return try processorSeconds(program) - before
  }

  @Test func anAppThatIsMinimisedDecodesNothingAndGoesOnWhenItIsShown() async throws {
    let folder = try TemporaryFolder()
    let file = folder.path("film.mkv")
    try await Tool.gstLaunch(
      "videotestsrc num-buffers=1800 pattern=smpte horizontal-speed=4 "
        + "! video/x-raw,format=I420,width=1280,height=720,framerate=30/1 "
        + "! x264enc speed-preset=ultrafast key-int-max=30 ! h264parse ! matroskamux ! filesink location=\(file)")
    let server = try await XServer()
    let streams = ["a", "b"].map { "filesrc location=\(file) ! decodebin ! videoconvert ! appsink name=\($0)" }
    let demo = try Demo.start(
      ["play", streams.joined(separator: " "), "--surface", "window", "--report", "-"],
      environment: server.environment)
    let app = try await server.window("PipSink")
    #expect(await demo.wait(forText: "b\": "))
    let foreground = try await load(of: demo)
    try await server.tool("xdotool", "windowminimize", app.id)
    #expect(try await eventually { try await server.properties(app, "WM_STATE").contains("Iconic") })
    // It takes a moment until the app counts as being in the background.
    try await Task.sleep(for: .milliseconds(500))
    let background = try await load(of: demo)
    #expect(background <= foreground / 5, "\(background) s of 2 in the background, \(foreground) in the foreground")
    try await server.tool("wmctrl", "-i", "-a", app.id)
    let again = { try await load(of: demo) > foreground / 3 }
    #expect(try await eventually(again), "the app decodes again when its window is shown")
    try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", "q")
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.report().streams.values.allSatisfy { $0.state == "playing" })
  }
}
