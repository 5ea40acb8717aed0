import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests what happens to picture-in-picture when its stream, its window or the app's window changes, on a real X
/// server.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct WindowChangeTests {
  private static let title = "Picture-in-Picture: a"
  private static let white =
    "videotestsrc is-live=true pattern=white ! video/x-raw,width=320,height=180,framerate=30/1 ! appsink name=a"

  private func play(_ server: XServer, _ arguments: [String]) throws -> RunningProgram {
    try Demo.start(["play"] + arguments + ["--surface", "window", "--report", "-"], environment: server.environment)
  }

  private func press(_ key: String, _ server: XServer) async throws {
    let app = try await server.window("PipSink")
    try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", key)
  }

  /// Ends the run with its key and returns its report.
  private func report(_ server: XServer, _ demo: RunningProgram) async throws -> Report {
    try await press("q", server)
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0, "\(result.errors)")
    return try result.report()
  }

  @Test func theWindowIsTurnedWithItsStreamWhoseCapsStay() async throws {
    let server = try await XServer()
    let source = "video/x-raw,width=320,height=180,framerate=30/1"
    let demo = try play(
      server,
      [
        "concat name=c ! appsink name=a videotestsrc num-buffers=45 pattern=white ! \(source) ! c. "
          + "videotestsrc pattern=red ! \(source) ! taginject tags=\"image-orientation=rotate-90\" ! c.",
        "--mode", "pip",
      ])
    let window = try await server.window(Self.title)
    #expect((window.width, window.height) == (320, 180))
    var found = window
    #expect(
      try await eventually {
        found = try await server.window(Self.title)
        return found.height != window.height
      })
    // The window keeps its width and its corner. At no time does it have a size that the window manager has chosen.
    try #require((found.width, found.height) == (320, 569), "\(found)")
    #expect(
      try await eventually {
        found = try await server.window(Self.title)
        return (found.x, found.y) == (1280 - 320 - 16, 800 - 569 - 16)
      }, "\(found)")
    try #require((found.width, found.height) == (320, 569), "\(found)")
    // The picture fills the window.
    #expect(
      try await eventually {
        let screen = try await server.screenshot()
        return [(5, 5), (314, 563)].allSatisfy { x, y in
          let pixel = screen.pixel(found.x + x, found.y + y)
          return pixel[2] > 200 && pixel[1] < 60
        }
      })
    let report = try await report(server, demo)
    #expect(report.streams["a"]?.format?.contains("320x180") == true)
  }

  @Test func aMinimisedWindowShowsNothingAndTheNextOneIsSeen() async throws {
    let server = try await XServer()
    let folder = try TemporaryFolder()
    let demo = try play(server, [Self.white, "--mode", "pip", "--metrics", folder.path("metrics")])
    let hidden = {
      let text = (try? String(contentsOfFile: folder.path("metrics"), encoding: .utf8)) ?? ""
      let line = text.split(separator: "\n").first { $0.contains("reason=\"hidden\"") && !$0.hasPrefix("#") }
      return line?.split(separator: " ").last.flatMap { Double($0) } ?? 0
    }
    let window = try await server.window(Self.title)
    let isWhite = {
      try await server.screenshot().pixel(window.x + 100, window.y + 90)[0..<3].allSatisfy { $0 > 240 }
    }
    #expect(try await eventually(isWhite))
    try await server.tool("xdotool", "windowminimize", window.id)
    #expect(try await eventually { try await server.properties(window, "WM_STATE").contains("Iconic") })
    // No frame is converted while the window is minimised.
    let before = hidden()
    #expect(await eventually { hidden() > before + 20 })
    try await press("p", server)
    #expect(try await eventually { try await server.windows().count == 1 })
    try await press("p", server)
    #expect(try await eventually(isWhite), "the next window is not minimised")
    // Window managers remove the states of a window that is closed, so each opening sets them.
    let states = try await server.properties(window, "_NET_WM_STATE")
    for state in ["ABOVE", "SKIP_TASKBAR", "SKIP_PAGER"] { #expect(states.contains(state), "\(states)") }
    let report = try await report(server, demo)
    let events = report.pictureInPictureEvents.filter { $0.event != "renderSizeChanged" }
      .map { $0.event + ($0.event == "suspendedChanged" ? " \($0.detail ?? "")" : "") }
    #expect(
      events == ["willStart", "didStart", "suspendedChanged true", "willStop", "didStop", "willStart", "didStart"])
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  /// The app has to be in the background for 0.05 seconds before a window opens. On a machine under load some of the
  /// moments are longer, so the test allows some windows.
  @Test func anAppThatIsMinimisedForAMomentOpensNoWindow() async throws {
    let server = try await XServer()
    let demo = try play(server, [Self.white, "--auto-pip"])
    let app = try await server.window("PipSink")
    #expect(await demo.wait(forText: "a\": "))
    let tries = 12
    for _ in 0..<tries {
      try await server.tool(
        "xdotool", "windowminimize", app.id, "sleep", "0.015", "windowactivate", app.id)
      #expect(try await eventually { try await server.properties(app, "WM_STATE").contains("Normal") })
    }
    // The app is visible again, and then remains minimised.
    try await server.tool("xdotool", "windowminimize", app.id)
    _ = try await server.window(Self.title)
    demo.interrupt()
    let events = try await demo.result(seconds: 60).report().pictureInPictureEvents.map(\.event)
    let count = events.count { $0 == "willStart" }
    #expect((1...1 + tries / 2).contains(count), "\(count) of \(tries) opened a window")
  }
}
