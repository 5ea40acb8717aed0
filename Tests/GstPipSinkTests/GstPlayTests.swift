import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of the element as the video sink of gst-play-1.0, which has no code for PipSink.
@Suite(
  .enabled(
    if: Plugin.isUsable && XServer.isInstalled
      && FileManager.default.isExecutableFile(atPath: "/usr/bin/gst-play-1.0"),
    "a plugin with a sanitizer cannot be loaded, or the X tools or gst-play-1.0 are not installed"))
struct GstPlayTests {
  /// Writes a film of a minute and a half with sound, in which a red ball moves.
  private func makeFilm(_ path: String) async throws {
    let picture =
      "videotestsrc num-buffers=900 pattern=ball foreground-color=0xffff0000 "
      + "! video/x-raw,width=160,height=120,framerate=10/1 ! jpegenc"
    let sound = "audiotestsrc num-buffers=720 samplesperbuffer=1000 ! audio/x-raw,rate=8000 ! vorbisenc ! mux."
    try await Tool.gstLaunch("\(picture) ! matroskamux name=mux ! filesink location=\(path) \(sound)")
  }

  @Test func itsPictureInPictureWindowPausesAndMutesItAndShowsThat() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    try await makeFilm(folder.path("film.mkv"))
    let player = try RunningProgram(
      "/usr/bin/gst-play-1.0",
      [
        "--no-interactive", "-v", "--audiosink=fakesink sync=true", "--videosink=pipsink mode=pip",
        folder.path("film.mkv"),
      ], environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let window = try await server.window("Picture-in-Picture")
    // The buttons for pause and mute are in the lower middle.
    let (pause, mute) = (window.width / 2 - 15, window.width / 2 + 15)
    #expect(try await eventually { try await isMoving(window, of: server) })
    #expect(try await eventually { try await !showsPlay(at: pause, in: window, of: server) })

    try await click(pause, in: window, of: server)
    #expect(try await eventually { try await !isMoving(window, of: server) })
    #expect(player.output.contains("paused = true"))
    #expect(try await eventually { try await showsPlay(at: pause, in: window, of: server) })
    // The player prints its position ten times a second.
    let (position, count) = (try #require(positions(player).last), positions(player).count)
    #expect(await player.wait { positions($0).count > count + 10 })
    #expect(positions(player).last == position)

    try await click(mute, in: window, of: server)
    #expect(await player.wait(forText: ": mute = true"))
    #expect(await player.wait(forText: "muted = true"))
    try await click(mute, in: window, of: server)
    #expect(await player.wait(forText: ": mute = false"))

    try await click(pause, in: window, of: server)
    #expect(try await eventually { try await isMoving(window, of: server) })
    #expect(player.output.contains("paused = false"))
    #expect(try await eventually { try await !showsPlay(at: pause, in: window, of: server) })
    #expect(await player.wait { positions($0).last != position })
    // The window passes on to the player any key that it does not use itself.
    try await server.tool("xdotool", "windowactivate", "--sync", window.id, "key", "q")
    let result = try await player.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
  }

  /// The positions that the player has printed, such as "0:00:03.7 / 0:01:30.0".
  private func positions(_ player: RunningProgram) -> [Substring] {
    player.output.split { $0.isNewline }.filter { $0.contains(" / 0:01:") }.map { $0.prefix(9) }
  }

  /// Moves the pointer onto a button, so that the controls appear.
  private func point(_ x: Int, in window: XServer.Window, of server: XServer) async throws {
    let y = window.y + window.height - 22
    try await server.tool("xdotool", "mousemove", "\(window.x + x)", "\(y + 3)")
    try await server.tool("xdotool", "mousemove", "\(window.x + x)", "\(y)", "sleep", "0.3")
  }

  private func click(_ x: Int, in window: XServer.Window, of server: XServer) async throws {
    try await point(x, in: window, of: server)
    try await server.tool("xdotool", "click", "1")
  }

  /// Whether the button shows the triangle for playing, which has fewer white pixels than the two bars for pause.
  private func showsPlay(at x: Int, in window: XServer.Window, of server: XServer) async throws -> Bool {
    try await point(x, in: window, of: server)
    let icon = try await server.screenshot().cropped(
      x: window.x + x - 12, y: window.y + window.height - 22 - 12, width: 24, height: 24)
    let whiteCount = (0..<24 * 24).count { pixel in
      icon.pixel(pixel % 24, pixel / 24).prefix(3).allSatisfy { $0 > 180 }
    }
    return (30..<80).contains(whiteCount)
  }

  /// Whether the picture changes within a second. The controls above and below are cut off.
  private func isMoving(_ window: XServer.Window, of server: XServer) async throws -> Bool {
    func picture() async throws -> [UInt8] {
      try await server.screenshot().cropped(
        x: window.x, y: window.y + 40, width: window.width, height: window.height - 90
      ).bytes
    }
    let first = try await picture()
    for _ in 0..<4 {
      try await Task.sleep(for: .milliseconds(250))
      if try await picture() != first { return true }
    }
    return false
  }
}
