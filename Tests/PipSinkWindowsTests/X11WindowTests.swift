import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests the demo's windows from outside on a real X server with a window manager.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct X11WindowTests {
  private static let streams = [
    "videotestsrc pattern=smpte75 ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=remote-1 "
      + "videotestsrc pattern=ball ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=remote-2"
  ]
  private static let title = "Picture-in-Picture: remote-1"

  private func play(_ server: XServer, _ arguments: [String] = []) throws -> RunningProgram {
    try Demo.start(
      ["play"] + Self.streams + ["--surface", "window", "--pip-stream", "remote-1"] + arguments,
      environment: server.environment)
  }

  @Test func thePictureInPictureWindowIsOneForWindowManagersAndUsers() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip"])
    let window = try await server.window(Self.title)
    let properties = try await server.properties(window)
    #expect(window.title == "Picture-in-Picture")
    #expect(properties.contains("_NET_WM_WINDOW_TYPE_UTILITY"))
    for state in ["_NET_WM_STATE_ABOVE", "_NET_WM_STATE_SKIP_TASKBAR", "_NET_WM_STATE_SKIP_PAGER"] {
      #expect(properties.contains(state))
    }
    // The window is on all workspaces. openbox has no _NET_WM_STATE_STICKY, so the number of the desktop shows it.
    #expect(properties.contains("_NET_WM_DESKTOP(CARDINAL) = 4294967295"))
    #expect(properties.contains("WM_WINDOW_ROLE(STRING) = \"picture-in-picture\""))
    #expect(properties.contains("_NET_FRAME_EXTENTS(CARDINAL) = 0, 0, 0, 0"))
    #expect((window.width, window.height) == (320, 180))
    #expect((window.x, window.y) == (1280 - 320 - 16, 800 - 180 - 16))
    // Some window managers read the place and the size, give every window the focus that takes input, and tile every
    // window that belongs to no other.
    let hints = try await server.properties(window, "WM_NORMAL_HINTS", "WM_HINTS", "WM_TRANSIENT_FOR")
    for hint in [
      "program specified location: 944, 604", "program specified size: 320 by 180",
      "Client accepts input or input focus: False", "WM_TRANSIENT_FOR(WINDOW): window id # 0x",
    ] {
      #expect(hints.contains(hint), "\(hints)")
    }
    let app = try await server.window("PipSink")
    let appProperties = try await server.properties(app)
    #expect(appProperties.contains("WM_WINDOW_ROLE(STRING) = \"in-app\""))
    #expect(appProperties.contains("Client accepts input or input focus: True"))
    // The window has not taken the focus.
    #expect(try await eventually { try await server.activeWindowTitle() == "PipSink" })
    demo.stop()
  }

  @Test func theAppsWindowShowsItsPictureOnAServerWithoutAWindowManager() async throws {
    let server = try await XServer(managesWindows: false)
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a",
        "--surface", "window", "--mode", "normal",
      ], environment: server.environment)
    // A window without a picture would be black.
    #expect(
      try await eventually {
        let screen = try await server.screenshot()
        let redCount = stride(from: 0, to: screen.bytes.count, by: 4).count { index in
          screen.bytes[index + 2] > 200 && screen.bytes[index] < 50 && screen.bytes[index + 1] < 50
        }
        return redCount > 640 * 360 / 2
      }, "\(demo.errors)")
    demo.stop()
  }

  @Test func itStaysAboveAWindowThatIsOpenedAndRaisedLater() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip"])
    let window = try await server.window(Self.title)
    let clock = try server.start("xclock", "-geometry", "600x500+680+300")
    let clockWindow = try await server.window("xclock")
    try await server.tool("wmctrl", "-i", "-a", clockWindow.id)
    let number = { (window: XServer.Window) in Int(window.id.dropFirst(2), radix: 16)! }
    #expect(
      try await eventually {
        try await server.stackingOrder().suffix(2) == [number(clockWindow), number(window)]
      })
    // The pixel belongs to a white bar of 75 % brightness, not to the clock, which is brighter.
    #expect(
      try await eventually {
        let pixel = try await server.screenshot().pixel(window.x + 20, window.y + 40)
        return pixel[0..<3].allSatisfy { (186...196).contains($0) }
      })
    clock.stop()
    demo.stop()
  }

  @Test func itMovesByDraggingSnapsToACornerAndIsThereAfterARestart() async throws {
    let server = try await XServer()
    let first = try play(server, ["--mode", "pip"])
    let window = try await server.window(Self.title)
    try await server.drag(from: (window.x + 100, window.y + 100), to: (300, 200))
    let isInCorner = { (found: XServer.Window) in found.x == 16 && found.y == 16 }
    #expect(try await eventually { isInCorner(try await server.window(Self.title)) })
    try await server.tool("wmctrl", "-i", "-r", window.id, "-e", "0,-1,-1,480,400")
    let isLarger = { (found: XServer.Window) in (found.width, found.height) == (480, 270) }
    #expect(try await eventually { isLarger(try await server.window(Self.title)) }, "16:9 is kept")
    try await server.key("q")
    #expect(try await first.result(seconds: 30).status == 0)
    let second = try play(server, ["--mode", "pip"])
    let again = try await server.window(Self.title)
    #expect(isInCorner(again) && isLarger(again), "\(again)")
    second.stop()
  }

  @Test func aSecondStreamHasTheRightHalfOfTheWindowWhichIsMovedThereToo() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip", "--pip-second", "remote-2", "--at", "12=single"])
    let window = try await server.window("Picture-in-Picture: remote-1, remote-2")
    // The window has room for two pictures of 16:9, side by side.
    let isWide = { (found: XServer.Window) in found.width == 320 && found.height == 90 }
    let title = "Picture-in-Picture: remote-1, remote-2"
    #expect(try await eventually { isWide(try await server.window(title)) })
    let place = try await server.window(title)
    #expect((place.x, place.y) == (1280 - 320 - 16, 800 - 90 - 16))
    // The first stream shows coloured bars, of which the first is white. The second stream beside it is black.
    #expect(
      try await eventually {
        let picture = try await server.screenshot()
        let (left, right) = (picture.pixel(place.x + 8, place.y + 20), picture.pixel(place.x + 164, place.y + 4))
        return left[0..<3].allSatisfy { (180...200).contains($0) } && right[0..<3].allSatisfy { $0 < 24 }
      })
    try await server.drag(from: (place.x + 240, place.y + 45), to: (300, 200))
    #expect(
      try await eventually {
        let found = try await server.window(title)
        return (found.x, found.y) == (16, 16)
      })
    #expect(try await eventually { try await server.window(Self.title).height == 180 }, "it shows one picture again")
    #expect(window.id == (try await server.window(Self.title)).id)
    demo.stop()
  }

  @Test func draggingACornerResizesItInItsShape() async throws {
    let server = try await XServer()
    let demo = try play(server, ["--mode", "pip", "--pip-corner", "top-left", "--pip-size", "320x180"])
    let window = try await server.window(Self.title)
    try await server.drag(
      from: (window.x + window.width - 3, window.y + window.height - 3), to: (window.x + 500, window.y + 300))
    #expect(
      try await eventually {
        let found = try await server.window(Self.title)
        let expected = Int((Double(found.width) * 9 / 16).rounded())
        return found.width > 480 && abs(found.height - expected) <= 1 && found.x == 16 && found.y == 16
      })
    demo.stop()
  }

  @Test func itGoesToItsCornerWhenTheScreenChanges() async throws {
    let server = try await XServer(size: "1024x768", in: XServer(managesWindows: false))
    let demo = try play(server, ["--mode", "pip"])
    _ = try await server.window(Self.title)
    for size in [PictureSize(width: 800, height: 600), PictureSize(width: 1024, height: 768)] {
      try await server.tool("xrandr", "-s", "\(size)")
      #expect(
        try await eventually {
          let found = try await server.window(Self.title)
          return (found.x, found.y) == (size.width - 320 - 16, size.height - 180 - 16)
        }, "\(size)")
    }
    #expect(demo.isRunning)
    demo.stop()
  }

  @Test func theSplitLayoutShowsTheLocalPictureAloneOrBesideTheRemoteOne() async throws {
    let server = try await XServer()
    let demo = try Demo.start(
      [
        "play",
        "videotestsrc pattern=white ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=local "
          + "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=remote",
        "--surface", "window", "--layout", "split", "--gravity", "resizeAspectFill", "--pip-stream", "remote",
      ], environment: server.environment)
    let window = try await server.window("PipSink")
    let isRedOnTheRight = { (isRed: Bool) in
      try await eventually {
        let image = try await server.screenshot(of: window.id)
        let (left, right) = (image.pixel(image.size.width / 4, 100), image.pixel(image.size.width * 3 / 4, 100))
        return left[0] > 240 && (isRed ? right[0] < 30 && right[2] > 200 : right[0] > 240)
      }
    }
    #expect(try await isRedOnTheRight(true))
    // The remote picture moves to picture-in-picture and back.
    try await server.key("p")
    #expect(try await isRedOnTheRight(false))
    try await server.key("p")
    #expect(try await isRedOnTheRight(true))
    demo.stop()
  }

  @Test func keysAndClosingControlIt() async throws {
    let server = try await XServer()
    let folder = try TemporaryFolder()
    let demo = try play(server, ["--report", "-", "--snapshots", folder.url.path])
    _ = try await server.window("PipSink")
    #expect(try await eventually { try await server.activeWindowTitle() == "PipSink" })
    try await server.key("p")
    _ = try await server.window(Self.title)
    try await server.key("n")
    let second = try await server.window("Picture-in-Picture: remote-2")
    try await server.key("s")
    #expect(await eventually { folder.files.contains { $0.contains("pip-remote-2") } })
    try await server.tool("wmctrl", "-i", "-c", second.id)
    #expect(try await eventually { try await server.windows().count == 1 })
    try await server.key("q")
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 0)
    let report = try result.report()
    #expect(report.surface == "x11")
    #expect(report.outcome == .quit)
    #expect(report.modeChanges.map(\.stream) == ["remote-1", "remote-1", "remote-2", "remote-2"])
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  @Test func theServersDeathIsReportedAndEndsTheRunWithItsReport() async throws {
    let server = try await XServer()
    let folder = try TemporaryFolder()
    let demo = try play(server, ["--mode", "pip", "--report", folder.path("report.json")])
    _ = try await server.window(Self.title)
    server.stop()
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 69)
    #expect(!result.wasKilled)
    #expect(result.errors.contains("the display server has gone"))
    let report = try JSONDecoder().decode(
      Report.self, from: Data(contentsOf: URL(fileURLWithPath: folder.path("report.json"))))
    #expect(report.outcome == .failed)
    #expect(report.streams["remote-1"]!.received > 0)
  }

  @Test func doctorSaysWhatIsPossible() async throws {
    let server = try await XServer()
    let result = try await Demo.start(["doctor"], environment: server.environment).result(seconds: 30)
    #expect(result.status == 0)
    #expect(result.output.contains("ok       display: X11\n"))
    #expect(result.output.contains("ok       always on top: the window manager Openbox keeps it above\n"))
    #expect(result.output.contains("ok       picture-in-picture: possible\n"))
    let nowhere = try await Demo.start(["doctor"]).result(seconds: 30)
    #expect(nowhere.status == 69)
    #expect(nowhere.output.contains("missing  picture-in-picture: not possible: there is no display\n"))
    #expect(nowhere.output.contains("ok       element appsink"))
  }
}
