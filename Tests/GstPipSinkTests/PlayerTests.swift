import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of the element as the video sink of players: as playbin's property, or chosen by its rank.
@Suite(
  .enabled(
    if: Plugin.isUsable && XServer.isInstalled
      && FileManager.default.isExecutableFile(atPath: "/usr/bin/gst-play-1.0"),
    "a plugin with a sanitizer cannot be loaded, or the X tools or gst-play-1.0 are not installed"))
struct PlayerTests {
  @Test(arguments: [Desktop.openbox, .sway].filter(\.isInstalled))
  func playbinSeeksAHundredTimesAndGoesToTwentyTracksAndItsPictureIsTheRightOne(desktop: Desktop) async throws {
    let (server, folder) = (try await desktop.start(), try TemporaryFolder())
    defer { server.stop() }
    let script = Demo.root.appendingPathComponent("Tests/GstPipSinkTests/player.py").path
    let program = try RunningProgram(
      "/usr/bin/python3", [script, folder.url.path, server.screen.display],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let result = try await program.result(seconds: 150)
    #expect(result.status == 0 && !result.wasKilled && result.output.hasSuffix("done\n"), "\(result.output)")
    #expect(!result.errors.contains("CRITICAL") && !result.errors.contains("WARNING"), "\(result.errors)")
  }

  @Test func aPlayerThatChoosesByRankShowsItsFilmsAndItsKeysAreTheWindows() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    for pattern in ["red", "green"] {
      try await Tool.gstLaunch(
        "videotestsrc num-buffers=600 pattern=\(pattern) ! video/x-raw,width=160,height=120,framerate=10/1 ! jpegenc "
          + "! matroskamux ! filesink location=\(folder.path(pattern))")
    }
    let player = try RunningProgram(
      "/usr/bin/gst-play-1.0", ["--no-interactive", folder.path("red"), folder.path("green")],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 }
        .merging(["GST_PLUGIN_FEATURE_RANK": "pipsink:MAX"]) { $1 })
    // The parts of a pixel are blue, green and red.
    func shows(_ part: Int) async throws -> Bool {
      try await eventually {
        let window = try await server.window("gst-play-1.0")
        let pixel = try await server.screenshot().pixel(window.x + window.width / 2, window.y + window.height / 2)
        return (0..<3).allSatisfy { $0 == part ? pixel[$0] > 100 : pixel[$0] < 40 }
      }
    }
    func press(_ key: String) async throws {
      try await server.tool(
        "xdotool", "windowactivate", "--sync", try await server.window("gst-play-1.0").id, "key", key)
    }
    #expect(try await shows(2))
    try await press("n")
    #expect(try await shows(1))
    try await press("b")
    #expect(try await shows(2))
    try await press("q")
    let result = try await player.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
  }
}
