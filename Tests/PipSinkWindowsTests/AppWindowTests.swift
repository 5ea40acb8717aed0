import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// These tests look from outside at how the app's window reacts to the desktop's requests and to keys that are held
/// down.
@Suite struct AppWindowTests {
  private func play(_ environment: [String: String]) throws -> RunningProgram {
    try Demo.start(
      ["play", "videotestsrc ! video/x-raw,width=320,height=180 ! appsink name=remote-1", "--surface", "window"],
      environment: environment)
  }

  /// When the desktop has changed the fullscreen state, the window's own key toggles from that state instead of asking
  /// for a state that already holds.
  private func theKeyEndsWhatTheDesktopBegan(
    isFullscreen: () async throws -> Bool, set: (Bool) async throws -> Void, press: () async throws -> Void
  ) async throws {
    try await set(true)
    #expect(try await eventually { try await isFullscreen() })
    try await press()
    #expect(try await eventually { try await !isFullscreen() })
    try await press()
    #expect(try await eventually { try await isFullscreen() })
    try await set(false)
    #expect(try await eventually { try await !isFullscreen() })
    try await press()
    #expect(try await eventually { try await isFullscreen() })
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func onX11ItsKeyEndsTheFullscreenOfTheWindowManager() async throws {
    let server = try await XServer()
    let demo = try play(server.environment)
    let window = try await server.window("PipSink")
    try await server.tool("wmctrl", "-i", "-a", window.id)
    try await theKeyEndsWhatTheDesktopBegan {
      try await server.tool("xprop", "-id", window.id, "_NET_WM_STATE").contains("FULLSCREEN")
    } set: {
      try await server.tool("wmctrl", "-i", "-r", window.id, "-b", $0 ? "add,fullscreen" : "remove,fullscreen")
    } press: {
      try await server.key("f")
    }
    demo.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayItsKeyEndsTheFullscreenOfTheCompositor() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try play(server.environment)
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"PipSink\"") })
    try await theKeyEndsWhatTheDesktopBegan {
      // Workspaces have this number as well, so the search starts at the window.
      let tree = try await server.swaymsg("-t", "get_tree")
      let window = try #require(tree.range(of: "\"app_id\": \"pipsink-demo\""))
      let number = try #require(tree[..<window.lowerBound].range(of: "\"fullscreen_mode\": ", options: .backwards))
      return tree[number.upperBound] != "0"
    } set: {
      try await server.swaymsg("[app_id=\"pipsink-demo\"] fullscreen \($0 ? "enable" : "disable")")
    } press: {
      try await server.outer.key("f")
    }
    demo.stop()
  }

  /// In a grid of three, nobody is on either side of the last one.
  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func theHelpIsWholeBesideALastRowThatIsNotFull() async throws {
    let server = try await XServer()
    let streams = (0..<3).map { index in
      "videotestsrc is-live=true pattern=blue ! video/x-raw,width=320,height=180,framerate=8/1 ! appsink name=s\(index)"
    }
    /// The number of light pixels in each of eight columns of the lower half, where the third stream has the middle.
    func light(_ window: XServer.Window) async throws -> [Int] {
      let image = try await server.screenshot(of: window.id)
      let (width, height) = (image.size.width / 8, image.size.height / 2 - 30)
      return (0..<8).map { column in
        let part = image.cropped(
          x: column * width, y: image.size.height / 2 + 2, width: width, height: height)
        return (0..<width * height).count { part.bytes[$0 * 4..<$0 * 4 + 3].allSatisfy { $0 > 200 } }
      }
    }
    var seen: [[Int]] = []
    for count in [1, 3] {
      let demo = try Demo.start(
        ["play", streams.prefix(count).joined(separator: " "), "--surface", "window"], environment: server.environment)
      let window = try await server.window("PipSink")
      #expect(try await eventually { try await light(window).allSatisfy { $0 == 0 } }, "the placeholders have gone")
      // The help has nearly the width of a small window.
      try await server.tool("wmctrl", "-i", "-r", window.id, "-e", "0,-1,-1,520,360")
      #expect(try await eventually { try await server.screenshot(of: window.id).size.width == 520 })
      try await server.tool("wmctrl", "-i", "-a", window.id)
      try await server.key("question")
      #expect(try await eventually { try await light(window).contains { $0 > 0 } })
      seen.append(try await light(window))
      demo.stop()
    }
    #expect(seen[0] == seen[1])
    #expect(seen[0][1] > 20, "the text begins beside the third stream")
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func aStreamThatMayNotBeInPictureInPictureHasNoButtonForIt() async throws {
    let (server, bus) = (try await XServer(), try await SessionBus())
    let demo = try Demo.start(
      [
        "play", "videotestsrc is-live=true pattern=blue ! video/x-raw,width=320,height=180 ! appsink name=a",
        "--surface", "window", "--dbus", "--pip-exclude", "a",
      ], environment: bus.environment.merging(server.environment) { $1 })
    #expect(await demo.wait(forText: "On the session bus"))
    let window = try await server.window("PipSink")
    /// Whether the upper half has something light while the pointer moves: the button's icon. The name is below.
    func hasButton() async throws -> Bool {
      let x = window.x + window.width / 2 + Int.random(in: 0..<40)
      try await server.tool("xdotool", "mousemove", "\(x)", "\(window.y + window.height / 2)", "sleep", "0.4")
      let image = try await server.screenshot(of: window.id)
      let pixels = 0..<image.size.width * image.size.height / 2
      return pixels.contains { image.bytes[$0 * 4..<$0 * 4 + 3].allSatisfy { $0 > 200 } }
    }
    for isAllowed in [true, false, true] {
      #expect(try await bus.call("SetPictureInPictureAllowed", "a", "\(isAllowed)").status == 0)
      #expect(try await eventually { try await hasButton() == isAllowed }, "\(isAllowed)")
    }
    demo.stop()
  }

  /// The environment selects the display, so the window is in a process of its own.
  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func onX11AHiddenWindowIsShownInFullscreenWhereThatWasAskedFor() async throws {
    let server = try await XServer()
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      for (name, value) in environment { setenv(name, value, 1) }
      try await HiddenWindow.run(environment)
    }
    server.stop()
  }

  /// Collects the window's key events in the order in which they arrive.
  @MainActor private final class Keys {
    private(set) var keys: [WindowKey] = []
    var all: [UInt32] { keys.map(\.keysym) }
    func note(_ event: WindowEvent) { if case .key(let key) = event { keys.append(key) } }
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayAKeyThatIsHeldIsPressedAgainAndAgainUntilItIsReleased() async throws {
    let server = try await WaylandServer(.sway)
    let display = try #require(server.environment["XDG_RUNTIME_DIR"]) + "/wayland-1"
    let keys = Keys()
    let window = try await MainActor.run {
      try WaylandAppWindow(display: display, size: PictureSize(width: 320, height: 180), BackgroundOptions()) {
        keys.note($0)
      }
    }
    await window.setTitle("Keys")
    await window.show()
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"Keys\"") })
    let (right, a, b) = (UInt32(XKB_KEY_Right), UInt32(XKB_KEY_a), UInt32(XKB_KEY_b))
    try await server.outer.tool("xdotool", "keydown", "Right")
    #expect(await eventually { await keys.all.count(where: { $0 == right }) > 3 })
    try await server.outer.tool("xdotool", "keyup", "Right")
    try await server.outer.key("a")
    #expect(await eventually { await keys.all.contains(a) })
    try await server.outer.key("b")
    #expect(await eventually { await keys.all.contains(b) })
    let all = await keys.all
    let first = try #require(all.firstIndex(of: a))
    #expect(!all[first...].contains(right))
    // Only the press of a key that is held is no repetition.
    #expect(await keys.keys.count { !$0.isRepeat } == 3)
    #expect(await keys.keys.first?.isRepeat == false)
    // The key that was pressed last is repeated, also when the one before it is released.
    try await server.outer.tool("xdotool", "keydown", "Right", "keydown", "b", "keyup", "Right")
    let count = await keys.all.count { $0 == b }
    #expect(await eventually { await keys.all.count { $0 == b } > count + 5 })
    try await server.outer.tool("xdotool", "keyup", "b")
    await window.hide()
  }
}

/// A window that becomes fullscreen, and stops being that, while it is hidden. A failure in this process is a failure of
/// the test.
private enum HiddenWindow {
  @MainActor static func run(_ environment: [String: String]) async throws {
    let window = try VideoWindow(content: VideoContainer(), title: "call", size: PictureSize(width: 320, height: 180))
    for size in ["1280x800", "320x180"] {
      window.toggleFullscreen()
      try window.show()
      let isShown = try await eventually {
        let windows = try RunningProgram("/usr/bin/xwininfo", ["-name", "call"], environment: environment)
        return try await windows.result(seconds: 30).output.contains("-geometry \(size)")
      }
      #expect(isShown, "\(size)")
      window.hide()
    }
  }
}
