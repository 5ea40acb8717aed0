import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// Tests picture-in-picture as a user meets it: by minimising the app, by using the window's controls, and by killing
/// the window.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct PictureInPictureWindowTests {
  private static let streams =
    "videotestsrc pattern=white ! video/x-raw,width=640,height=360,framerate=60/1 ! appsink name=remote-1 "
    + "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=60/1 ! appsink name=remote-2"
  private static let title = "Picture-in-Picture: remote-1"

  private func play(_ server: XServer, _ arguments: [String] = []) throws -> RunningProgram {
    try Demo.start(
      ["play", Self.streams, "--surface", "window", "--report", "-"] + arguments, environment: server.environment)
  }

  private func hasPictureInPicture(_ server: XServer) async throws -> Bool {
    try await server.windows().contains { $0.title.hasPrefix("Picture-in-Picture") }
  }

  /// Ends the run with its key and returns the events that it reported.
  private func events(_ server: XServer, _ demo: RunningProgram) async throws -> [String] {
    let app = try await server.window("PipSink")
    try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", "q")
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
    return report.pictureInPictureEvents.map(\.event).filter { $0 != "renderSizeChanged" && $0 != "suspendedChanged" }
  }

  /// Clicks on a control, which appears when the pointer moves.
  private func click(_ server: XServer, _ window: XServer.Window, x: Int, y: Int) async throws {
    try await server.tool("xdotool", "mousemove", "\(window.x + x)", "\(window.y + y + 4)")
    try await server.tool("xdotool", "mousemove", "\(window.x + x)", "\(window.y + y)")
    // The controls fade in, so the test waits until they are visible.
    _ = try await eventually {
      let image = try await server.screenshot().cropped(x: window.x, y: window.y, width: 40, height: 40)
      return (10..<30).contains { image.pixel($0, 10)[0] < 200 }
    }
    // The controls fade out again while the screenshot is taken, so the pointer moves once more.
    try await server.tool(
      "xdotool", "mousemove", "\(window.x + x)", "\(window.y + y + 1)", "sleep", "0.3", "click", "1")
  }

  @Test func minimisingTheAppStartsItAndGoingBackStopsIt() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--auto-pip"])
    let app = try await server.window("PipSink")
    #expect(await demo.wait(forText: "remote-1\": "))
    try await server.tool("xdotool", "windowminimize", app.id)
    let window = try await server.window(Self.title)
    // The window shows the stream and is not black.
    #expect(
      try await eventually {
        try await server.screenshot().pixel(window.x + window.width / 2, window.y + window.height / 2)[0] > 240
      })
    try await click(server, window, x: window.width - 20, y: 20)
    #expect(try await eventually { try await !hasPictureInPicture(server) })
    #expect(try await eventually { try await !server.properties(app, "WM_STATE").contains("Iconic") })
    #expect(
      try await events(server, demo) == ["willStart", "didStart", "willStop", "restoreUserInterface", "didStop"])
  }

  @Test func itStopsByItselfWhenTheAppComesBack() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--auto-pip"])
    let app = try await server.window("PipSink")
    #expect(await demo.wait(forText: "remote-1\": "))
    // This time the app goes to the background because another workspace is shown.
    try await server.tool("wmctrl", "-s", "1")
    _ = try await server.window(Self.title)
    try await server.tool("wmctrl", "-s", "0")
    #expect(try await eventually { try await !hasPictureInPicture(server) })
    try await server.tool("xdotool", "windowminimize", app.id)
    _ = try await server.window(Self.title)
    try await server.tool("wmctrl", "-i", "-a", app.id)
    #expect(try await eventually { try await !hasPictureInPicture(server) })
    #expect(
      try await events(server, demo) == [
        "willStart", "didStart", "willStop", "didStop", "willStart", "didStart", "willStop", "didStop",
      ])
  }

  @Test func theCloseButtonLeavesTheVideoInTheApp() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip"])
    let window = try await server.window(Self.title)
    try await click(server, window, x: 20, y: 20)
    #expect(try await eventually { try await !hasPictureInPicture(server) })
    let app = try await server.window("PipSink")
    #expect(
      try await eventually { try await server.screenshot(of: app.id).pixel(app.width / 4, app.height / 3)[0] > 240 })
    #expect(try await events(server, demo) == ["willStart", "didStart", "willStop", "didStop"])
  }

  @Test func aDoubleClickGoesBackAndTheWheelResizes() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip"])
    let window = try await server.window(Self.title)
    let middle = (x: window.x + window.width - 100, y: window.y + window.height - 80)
    try await server.tool("xdotool", "mousemove", "\(middle.x)", "\(middle.y)", "click", "4", "click", "4")
    #expect(
      try await eventually {
        let found = try await server.window(Self.title)
        return found.width > window.width + 40 && abs(found.height - found.width * 9 / 16) <= 1
          && found.x + found.width == window.x + window.width
      })
    try await server.tool(
      "xdotool", "mousemove", "\(middle.x)", "\(middle.y)", "click", "--repeat", "2", "--delay", "50", "1")
    #expect(try await eventually { try await !hasPictureInPicture(server) })
    #expect(
      try await events(server, demo) == ["willStart", "didStart", "willStop", "restoreUserInterface", "didStop"])
  }

  @MainActor @Test(arguments: [96, 192])
  func theTwoClicksOfADoubleClickMayLieFiveUnitsApart(resolution: Int) async throws {
    let server = try await XServer()
    let folder = try TemporaryFolder()
    try "Xft.dpi: \(resolution)\n".write(toFile: folder.path("resources"), atomically: true, encoding: .utf8)
    try await server.tool("xrdb", "-merge", folder.path("resources"))
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    try window.open(.plain())
    let scale = Double(resolution) / 96
    #expect(window.native?.scale == scale)
    var count = 0
    window.eventHandler = { if case .action(.backToApp) = $0 { count += 1 } }
    for (distance, time, expected) in [(5.0, 400 as UInt32, 1), (5.5, 400, 1), (5, 401, 1), (-5, 0, 2)] {
      window.pointer.press(1, WindowEvent.Place(x: 100 * scale, y: 90 * scale), 1000)
      window.pointer.press(1, WindowEvent.Place(x: (100 + distance) * scale, y: 90 * scale), 1000 + time)
      #expect(count == expected, "\(distance) units, \(time) ms")
      // A press far away, so that the next one is no second click.
      window.pointer.press(1, WindowEvent.Place(x: 30 * scale, y: 90 * scale), 3000)
      window.pointer.cancel()
    }
    window.close()
    server.stop()
  }

  /// A touchpad sends many small parts of a step.
  @MainActor @Test func partsOfAStepOfTheWheelAddUp() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    try window.open(.plain())
    let cases: [(delta: Double, count: Int, width: Int)] = [
      (-0.15, 6, 320), (-0.15, 1, 352), (0.25, 3, 352), (-0.5, 1, 352), (0.5, 2, 317), (-1, 1, 348), (-2.5, 1, 416),
      (-0.5, 1, 457), (0, 5, 457), (1e9, 1, 96), (-0.9, 1, 96), (-0.1, 1, 105),
    ]
    for (delta, count, width) in cases {
      for _ in 0..<count { window.scroll(delta) }
      #expect(window.placement.width == width, "\(delta)")
    }
    window.close()
    server.stop()
  }

  /// As while a shared window is resized. Each size that a window manager takes is as old as its last answer.
  @MainActor @Test func sizesDoNotPileUpAtASlowWindowManager() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    var sizes: [PictureSize] = []
    window.eventHandler = { if case .renderSizeChanged(let size) = $0 { sizes.append(size) } }
    func show(_ aspectRatio: Double) {
      window.update(.plain(aspectRatio: aspectRatio))
    }
    try window.open(.plain(aspectRatio: 16 / 9))
    let wide = PictureSize(width: 320, height: 180)
    #expect(await eventually { sizes == [wide] })
    let manager = try #require(server.managerProcess)
    kill(manager, SIGSTOP)
    for step in 0..<100 { show(0.25 + Double(step) / 100) }
    show(16 / 9)
    kill(manager, SIGCONT)
    #expect(await eventually { sizes.count > 1 && sizes.last == wide })
    #expect(sizes.count < 10, "\(sizes)")
    // Nor does a size that was asked for earlier count as the user's.
    #expect(await eventually { window.awaitedSize == nil })
    #expect(window.placement.size == wide)
    window.close()
    server.stop()
  }

  @Test func itHasTheShapeThatAnOptionSays() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip", "--pip-size", "300x300", "--pip-aspect-ratio", "1x1"])
    let window = try await server.window(Self.title)
    #expect(window.width == 300 && window.height == 300)
    _ = try await events(server, demo)
  }

  @Test func aKilledWindowLeavesNormalModeAndCanBeOpenedAgain() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip", "--pip-retries", "0"])
    let window = try await server.window(Self.title)
    try await server.tool("xkill", "-id", window.id)
    #expect(await demo.wait(forText: "the picture-in-picture window is gone"))
    let app = try await server.window("PipSink")
    try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", "p")
    let again = try await server.window(Self.title)
    #expect(
      try await eventually {
        try await server.screenshot().pixel(again.x + 100, again.y + 60)[0] > 240
      })
    #expect(
      try await events(server, demo) == ["willStart", "didStart", "willStop", "didStop", "willStart", "didStart"])
  }

  @Test func theNextStreamTakesTheWindowWhenOneEnds() async throws {
    let server = try await XServer()
    let demo = try Demo.start(
      [
        "play",
        "videotestsrc num-buffers=30 pattern=white ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a "
          + "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=b", "--surface",
        "window", "--mode", "pip", "--report", "-",
      ], environment: server.environment)
    _ = try await server.window("Picture-in-Picture: a")
    let window = try await server.window("Picture-in-Picture: b")
    #expect(
      try await eventually {
        let pixel = try await server.screenshot().pixel(window.x + 100, window.y + 60)
        return pixel[2] > 200 && pixel[0] < 40
      })
    #expect(try await events(server, demo) == ["willStart", "didStart", "sourceChanged"])
  }

  @Test func aHundredSwitchesAtSixtyFramesASecondLoseAndRepeatNothing() async throws {
    let server = try await XServer()
    let actions = (0..<100).flatMap { number in
      ["--at", "\(1 + Double(number) * 0.1)=pip:\(number % 2 == 0 ? "remote-2" : "remote-1")"]
    }
    // The run ends after all switches, however late they are.
    let demo = try play(server, ["--mode", "pip", "--at", "12=quit"] + actions)
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    // Each switch moves one stream to picture-in-picture and the other one back.
    #expect(report.modeChanges.count == 200)
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
    let entries = report.modeChanges.filter { $0.to == "pip" }
    // On a busy machine the next switch may come before the first picture. No switch follows the last one, so that one
    // has a picture.
    #expect(entries.count == 100 && entries.last?.firstFrameLatencyMs != nil)
    let latencies = entries.compactMap(\.firstFrameLatencyMs).sorted()
    try #require(!latencies.isEmpty)
    print(
      "request to first picture: p50 \(latencies[latencies.count / 2]) ms, longest \(latencies[latencies.count - 1]) ms, "
        + "\(latencies.count) of 100 shown before the next")
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayItStartsWhenTheAppsWorkspaceIsHidden() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try Demo.start(
      [
        "play", Self.streams, "--surface", "window", "--auto-pip", "--report", "-",
      ], environment: server.environment)
    #expect(await demo.wait(forText: "remote-1\": "))
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"PipSink\"") })
    // The window is in the lower right corner. The screen is 1024x768, the window 320x180 and the margin 16.
    let corner = (x: 1024 - 16 - 160, y: 768 - 16 - 90)
    let isWhite = { (x: Int, y: Int) in
      try await eventually { try await server.screenshot().pixel(x, y)[0..<3].allSatisfy { $0 > 240 } }
    }
    let isDark = { (x: Int, y: Int) in
      try await eventually { try await server.screenshot().pixel(x, y)[1] < 100 }
    }
    try await server.swaymsg("workspace", "2")
    #expect(try await isWhite(corner.x, corner.y))
    try await server.swaymsg("workspace", "1")
    #expect(try await isDark(corner.x, corner.y))
    try await server.swaymsg("[app_id=\"pipsink-demo\"]", "move", "scratchpad")
    #expect(try await isWhite(corner.x, corner.y))
    demo.interrupt()
    let result = try await demo.result(seconds: 30)
    let events = try result.report().pictureInPictureEvents.map(\.event).filter { $0.hasPrefix("did") }
    #expect(events == ["didStart", "didStop", "didStart"])
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayTheControlsCloseItAndGoBackToTheApp() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try Demo.start(
      ["play", Self.streams, "--surface", "window", "--auto-pip", "--report", "-"], environment: server.environment)
    // The app shows two tiles side by side, of which the first one is white.
    let showsTheApp = {
      try await eventually { try await server.screenshot().pixel(256, 320)[0..<3].allSatisfy { $0 > 240 } }
    }
    #expect(try await showsTheApp())
    let (left, top) = (1024 - 16 - 320, 768 - 16 - 180)
    let isWhite = { (isWhite: Bool) in
      try await eventually {
        let pixel = try await server.screenshot().pixel(left + 160, top + 90)
        return pixel[0..<3].allSatisfy { $0 > 240 } == isWhite
      }
    }
    let click = { (x: Int, y: Int) in
      try await server.outer.tool("xdotool", "mousemove", "\(left + x)", "\(top + y + 4)")
      try await server.outer.tool("xdotool", "mousemove", "\(left + x)", "\(top + y)")
      // The control is darker than the picture.
      #expect(try await eventually { try await server.screenshot().pixel(left + x, top + y - 12)[1] < 200 })
      try await server.outer.tool("xdotool", "click", "1")
    }
    try await server.swaymsg("workspace", "2")
    #expect(try await isWhite(true))
    try await click(20, 20)
    #expect(try await isWhite(false))
    try await server.swaymsg("workspace", "1")
    #expect(try await showsTheApp())
    try await server.swaymsg("workspace", "2")
    #expect(try await isWhite(true))
    try await click(300, 20)
    // The app has asked for activation, and sway is configured to show it then.
    #expect(try await eventually { try await server.focusedWorkspace() == "1" })
    #expect(try await isWhite(false))
    demo.interrupt()
    let events = try await demo.result(seconds: 30).report().pictureInPictureEvents.map(\.event)
    #expect(events.contains("restoreUserInterface"))
  }
}
