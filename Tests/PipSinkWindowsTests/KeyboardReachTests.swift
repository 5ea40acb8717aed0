import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// Users without a pointer reach the picture-in-picture window, use its controls and leave it.
@MainActor @Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct KeyboardReachTests {
  // MARK: - Places of controls

  private nonisolated static let all: [PictureInPictureAction] = [
    .close, .changeLayout, .backToApp, .mute, .playPause, .nextStream, .seek,
  ]

  private var bars: ControlBars {
    ControlBars(Self.all.map { .init($0) }, in: PictureSize(width: 320, height: 180))
  }

  @Test func tabGoesFromTheUpperLeftToTheLowerRightInACircle() throws {
    let bars = bars
    #expect(bars.firstForKeyboard == .mute)
    var (forward, backward): ([PictureInPictureAction], [PictureInPictureAction]) = ([.mute], [.mute])
    for index in Self.all.indices {
      forward.append(try #require(bars.neighbour(of: forward[index], isAfter: true)))
      backward.append(try #require(bars.neighbour(of: backward[index], isAfter: false)))
    }
    #expect(forward == [.mute, .playPause, .nextStream, .close, .changeLayout, .backToApp, .seek, .mute])
    #expect(backward == forward.reversed())
  }

  @Test(arguments: [
    (PictureInPictureAction.mute, 1, 0, PictureInPictureAction.playPause), (.playPause, -1, 0, .mute),
    (.mute, -1, 0, .mute), (.nextStream, 1, 0, .nextStream), (.playPause, 0, 1, .playPause),
    (.playPause, 0, -1, .seek), (.seek, 0, -1, .changeLayout), (.seek, 0, 1, .playPause), (.close, 1, 0, .changeLayout),
    (.backToApp, -1, 0, .changeLayout), (.close, 0, 1, .seek), (.close, 0, -1, .close), (.hangUp, 1, 0, .mute),
  ])
  func arrowsGoToTheNearestControlInTheirDirection(
    from: PictureInPictureAction, x: Int, y: Int, to: PictureInPictureAction
  ) {
    #expect(bars.neighbour(of: from, x: x, y: y) == to)
  }

  @Test func nothingIsReachedWhereThereIsNothing() {
    let bars = ControlBars([], in: PictureSize(width: 320, height: 180))
    #expect(bars.firstForKeyboard == nil)
    #expect(bars.neighbour(of: .close, isAfter: true) == nil)
    #expect(bars.neighbour(of: .close, x: 1, y: 0) == nil)
  }

  // MARK: - In a window

  /// What a window has reported.
  private final class Reports {
    var actions: [PictureInPictureAction] = []
    var times: [Double] = []

    func note(_ event: PictureInPictureWindowEvent) {
      switch event {
      case .action(let action): actions.append(action)
      case .seek(let time): times.append(time.seconds)
      default: break
      }
    }
  }

  private var presentation: PictureInPicturePresentation {
    var presentation = PictureInPicturePresentation.plain(aspectRatio: 16 / 9)
    presentation.controls = Self.all.map { .init($0) }
    presentation.progress = PlaybackProgress(position: MediaTime(seconds: 3), duration: MediaTime(seconds: 20))
    return presentation
  }

  @Test func theKeyboardComesGoesThroughTheControlsAndReturnsToTheWindowThatHadIt() async throws {
    let server = try await XServer()
    // Another window has the keyboard.
    let other = try PictureInPictureWindow(
      display: server.display, placement: WindowPlacement(corner: .topLeft), placementPath: nil)
    try other.open(.plain(aspectRatio: 16 / 9))
    #expect(await eventually { other.native?.rectangle == PictureRect(x: 16, y: 16, width: 320, height: 180) })
    try await server.tool("xdotool", "mousemove", "100", "100", "sleep", "0.1", "click", "1")
    #expect(await eventually { other.hasKeyboard })
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    #expect(!window.takeKeyboard(), "it is closed")
    let reports = Reports()
    window.eventHandler = { reports.note($0) }
    var keys: [UInt32] = []
    window.keyPressed = { key in
      keys.append(key)
      return false
    }
    try window.open(presentation)
    #expect(await eventually { window.size == PictureSize(width: 320, height: 180) })
    #expect(window.controls.focused == nil)
    #expect(window.takeKeyboard())
    #expect(await eventually { window.controls.focused == .mute })
    #expect(await eventually { !other.hasKeyboard })

    for (key, action) in [
      ("Tab", PictureInPictureAction.playPause), ("Right", .nextStream), ("Up", .seek), ("Up", .changeLayout),
      ("Right", .backToApp), ("Left", .changeLayout), ("shift+Tab", .close), ("Down", .seek),
    ] {
      try await server.key(key)
      #expect(await eventually { window.controls.focused == action }, "\(key): \(action)")
    }
    // On the bar for seeking, left and right are times, and Return does nothing.
    for key in ["Right", "Left", "Return"] { try await server.key(key) }
    try await server.key("Down")
    #expect(await eventually { window.controls.focused == .playPause })
    #expect(reports.times == [8, 0])
    for key in ["space", "Return", "KP_Enter"] { try await server.key(key) }
    #expect(await eventually { reports.actions == [.playPause, .playPause, .playPause] })
    #expect(keys == [UInt32(XKB_KEY_Shift_L)], "only a key that has no meaning for a control")
    // A key that means nothing for a control means what it does otherwise.
    try await server.key("m")
    #expect(await eventually { reports.actions.last == .mute })
    #expect(keys.last == UInt32(XKB_KEY_m))

    // A control that is not offered any more is not used.
    var fewer = presentation
    fewer.controls.removeAll { $0.action == .playPause }
    window.update(fewer)
    #expect(window.controls.focused == .mute)

    try await server.key("Escape")
    #expect(await eventually { other.hasKeyboard })
    #expect(window.controls.focused == nil)
    #expect(reports.actions.count == 4, "Escape has not closed it")

    // The user leaves it with the pointer, too.
    #expect(window.takeKeyboard())
    #expect(await eventually { window.controls.focused == .mute })
    try await server.tool("xdotool", "click", "1")
    #expect(await eventually { other.hasKeyboard && window.controls.focused == nil })
    // A window that is closed gives the keyboard back.
    #expect(window.takeKeyboard())
    #expect(await eventually { window.controls.focused == .mute })
    window.close()
    #expect(await eventually { other.hasKeyboard })
    other.close()
    server.stop()
  }

  @Test func tabBeginsWhereAPressHasGivenTheKeyboard() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    let reports = Reports()
    window.eventHandler = { reports.note($0) }
    try window.open(presentation)
    #expect(
      await eventually { window.native?.rectangle == PictureRect(x: 944, y: 604, width: 320, height: 180) })
    try await server.tool("xdotool", "mousemove", "1100", "690", "sleep", "0.1", "click", "1")
    #expect(await eventually { window.hasKeyboard })
    // Without a control, the keys mean what they do otherwise.
    try await server.key("Right")
    #expect(await eventually { reports.actions == [.nextStream] })
    try await server.key("Tab")
    #expect(await eventually { window.controls.focused == .mute })
    // The first Escape leaves the controls, and the second one closes the window.
    try await server.key("Escape")
    #expect(await eventually { window.controls.focused == nil })
    #expect(reports.actions == [.nextStream])
    try await server.key("Escape")
    #expect(await eventually { reports.actions == [.nextStream, .close] })
    window.close()
    server.stop()
  }

  @Test func aFrameShowsWhatTheKeyboardUses() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    let layer = SampleBufferDisplayLayer(name: "a", videoGravity: .resize)
    layer.attach(to: window.renderer)
    #expect(window.unsupportedReason == nil)
    // The window is at (944, 604) and the lowest row begins at (116, 146) in it.
    try window.open(presentation)
    layer.enqueue(try PlainFrame.make([255, 255, 255]))
    let environment = server.environment
    /// The places in the lowest row that have a frame.
    func framed() async throws -> [Int] {
      layer.enqueue(try PlainFrame.make([255, 255, 255]))
      let screen = try await XServer.screenshot(environment: environment)
      return (0..<3).filter { index in
        let left = 944 + 116 + index * 30
        return [(14, 1), (14, 26), (1, 14), (26, 14)].allSatisfy { screen.pixel(left + $0, 604 + 146 + $1)[1] > 240 }
          && screen.pixel(left + 14, 604 + 146 + 4)[1] < 130
      }
    }
    #expect(window.takeKeyboard())
    #expect(try await eventually { try await framed() == [0] })
    try await server.key("Right")
    #expect(try await eventually { try await framed() == [1] })
    // The controls stay while the keyboard uses one, although the pointer does not come.
    try await server.tool("xdotool", "sleep", "3")
    #expect(try await framed() == [1])
    window.close()
    server.stop()
  }
}

/// The way to the controls from the app's own window.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct KeyboardReachFromTheAppTests {
  @Test func f6InTheAppsWindowLeadsToTheControls() async throws {
    let server = try await XServer()
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=red ! video/x-raw,width=320,height=180 ! appsink name=a", "--mode", "pip",
        "--surface", "window", "--pip-controls=-vote:Vote", "--at", "1=focus", "--report", "-",
      ], environment: server.environment)
    let window = try await server.window("Picture-in-Picture")
    let id = try #require(Int(window.id.dropFirst(2), radix: 16))
    func hasKeyboard() async throws -> Bool {
      try await Int(server.tool("xdotool", "getwindowfocus").trimmingCharacters(in: .whitespacesAndNewlines)) == id
    }
    #expect(try await eventually { try await hasKeyboard() })
    try await server.key("Escape")
    #expect(try await eventually { try await server.activeWindowTitle().hasPrefix("PipSink") })
    try await server.key("F6")
    #expect(try await eventually { try await hasKeyboard() })
    try await server.key("Return")
    #expect(await demo.wait(forText: "control \"vote\" is on"), "\(demo.errors)")
    demo.interrupt()
    let used = try await demo.result(seconds: 60).report().pictureInPictureEvents.filter { $0.event == "action" }
    #expect(used.map(\.detail) == ["vote"])
    server.stop()
  }

  @Test(.enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"))
  func anApplicationOfTheElementLeadsToTheControls() async throws {
    let server = try await XServer()
    let folder = try TemporaryFolder()
    let script = """
      import gi
      gi.require_version("Gst", "1.0")
      from gi.repository import GLib, Gst
      Gst.init(None)
      pipeline = Gst.parse_launch(
          "videotestsrc is-live=true ! video/x-raw,width=320,height=180 ! pipsink name=sink mode=pip pip-controls=vote:Vote")
      loop = GLib.MainLoop()
      sink = pipeline.get_by_name("sink")
      sink.connect("pip-did-start", lambda sink, latency: sink.emit("focus-pip"))
      sink.connect("pip-action", lambda sink, action: (print(action), loop.quit()))
      pipeline.set_state(Gst.State.PLAYING)
      loop.run()
      pipeline.set_state(Gst.State.NULL)
      """
    let program = try RunningProgram(
      "/usr/bin/python3", ["-c", script],
      environment: Plugin.environment(folder).merging(server.environment) { $1 })
    let window = try await server.window("Picture-in-Picture")
    let id = try #require(Int(window.id.dropFirst(2), radix: 16))
    #expect(
      try await eventually {
        try await Int(server.tool("xdotool", "getwindowfocus").trimmingCharacters(in: .whitespacesAndNewlines)) == id
      }, "\(program.errors)")
    try await server.key("Return")
    let result = try await program.result(seconds: 60)
    #expect(result.output == "vote\n", "\(result.errors)")
    server.stop()
  }
}
