import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests that what the user does with the picture-in-picture window through the window manager counts as the user's,
/// and that what only the desktop does does not.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"), .timeLimit(.minutes(5)))
struct UserThroughWindowManagerTests {
  private static let title = "Picture-in-Picture"
  private static let stream =
    "videotestsrc is-live=true ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a"
  private static let normal = PictureRect(x: 1280 - 336, y: 800 - 196, width: 320, height: 180)

  private func play(_ environment: [String: String]) throws -> RunningProgram {
    try Demo.start(["play", Self.stream, "--surface", "window", "--mode", "pip"], environment: environment)
  }

  private func place(_ server: XServer) async throws -> PictureRect {
    let window = try await server.window(Self.title)
    return PictureRect(x: window.x, y: window.y, width: window.width, height: window.height)
  }

  private func isAt(_ server: XServer, _ rectangle: PictureRect) async throws -> Bool {
    var found = rectangle
    let isThere = try await eventually(within: 15) {
      found = try await place(server)
      return found == rectangle
    }
    return isThere
  }

  /// What the file of places says.
  private func saved(_ server: XServer) throws -> WindowPlacement? {
    let state = try #require(server.environment["XDG_STATE_HOME"])
    return WindowPlacement.load(from: state + "/pipsink/picture-in-picture.ini")
  }

  @Test func theSizeAfterTheWheelAndAfterTheWindowManagersChangeIsWrittenToTheFile() async throws {
    let server = try await XServer()
    let demo = try play(server.environment)
    #expect(try await isAt(server, Self.normal))
    try await server.tool("xdotool", "mousemove", "1100", "700", "click", "4")
    #expect(try await eventually { try saved(server)?.size == PictureSize(width: 352, height: 198) })
    let window = try await server.window(Self.title)
    try await server.tool("wmctrl", "-i", "-r", window.id, "-e", "0,-1,-1,480,400")
    #expect(try await eventually { try saved(server)?.size == PictureSize(width: 480, height: 270) })
    #expect(try await isAt(server, PictureRect(x: 1280 - 496, y: 800 - 286, width: 480, height: 270)))
    demo.stop()
  }

  @Test(
    .enabled(if: WindowManager.xfwm4.isInstalled, "xfwm4 is not installed"),
    arguments: ["maximized_vert,maximized_horz", "fullscreen", "maximized_vert"])
  func aSizeOfTheDesktopsIsNotRemembered(state: String) async throws {
    let server = try await XServer(by: .xfwm4)
    let demo = try play(server.environment)
    #expect(try await isAt(server, Self.normal))
    let window = try await server.window(Self.title)
    try await server.tool("wmctrl", "-i", "-r", window.id, "-b", "add,\(state)")
    #expect(try await eventually { try await place(server).height == 800 })
    #expect(try await !eventually(within: 0.6) { try saved(server) != nil })
    demo.interrupt()
    _ = try await demo.result(seconds: 30)
    #expect(try saved(server)?.size ?? Self.normal.size == Self.normal.size)
    let second = try play(server.environment)
    #expect(try await isAt(server, Self.normal))
    second.stop()
  }

  @Test func aWindowThatTheUserHasMovedStaysThereAndGoesToTheNearestCornerLater() async throws {
    let server = try await XServer()
    let demo = try play(server.environment)
    #expect(try await isAt(server, Self.normal))
    // openbox moves windows with alt and the left button.
    try await server.tool("xdotool", "keydown", "alt")
    try await server.drag(from: (1100, 700), to: (200, 300))
    try await server.tool("xdotool", "keyup", "alt")
    let moved = try await place(server)
    #expect(moved.x < 100 && moved.y < 300 && moved.size == Self.normal.size, "\(moved)")
    #expect(try await eventually { try saved(server)?.corner == .topLeft })
    try await server.showWorkspace(2)
    #expect(
      try await eventually {
        try await server.tool("xprop", "-root", "_NET_CURRENT_DESKTOP").contains("= 1")
      })
    #expect(try await !eventually(within: 0.5) { try await place(server) != moved })
    // With another size it goes to its corner.
    try await server.tool("xdotool", "mousemove", "\(moved.x + 100)", "\(moved.y + 90)", "click", "4")
    #expect(try await isAt(server, PictureRect(x: 16, y: 16, width: 352, height: 198)))
    demo.stop()
  }

  @Test(.enabled(if: SessionBus.isInstalled, "the tools of D-Bus are not installed"))
  func aMinimisedWindowIsShownAgainWhenItIsAskedFor() async throws {
    let (server, bus) = (try await XServer(), try await SessionBus())
    let demo = try await bus.startSession([Self.stream, "--mode", "pip"], on: server)
    #expect(try await isAt(server, Self.normal))
    let window = try await server.window(Self.title)
    let isVisible = {
      try await server.tool("xwininfo", "-id", window.id).contains("Map State: IsViewable")
    }
    for _ in 0..<2 {
      try await server.tool("xdotool", "windowminimize", window.id)
      #expect(try await eventually { try await !isVisible() })
      // The program learns of it after the server.
      let isBack = try await eventually {
        guard try await bus.call("Enable", "a").status == 0 else { return false }
        return try await isVisible()
      }
      #expect(isBack)
    }
    #expect(try await isAt(server, Self.normal))
    let properties = try await server.properties(window, "_NET_WM_STATE")
    #expect(properties.contains("ABOVE") && properties.contains("SKIP_TASKBAR"), "\(properties)")
    demo.stop()
  }

  @Test func windowsOfTwoProgramsAreBesideEachOther() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    let environment = server.environment.merging(["XDG_RUNTIME_DIR": folder.url.path]) { $1 }
    let first = try play(environment)
    #expect(try await isAt(server, Self.normal))
    let second = try play(environment)
    let places = { Set(try await server.windows().filter { $0.title == Self.title }.map(\.y)) }
    #expect(try await eventually { try await places() == [604, 604 - 188] })
    // What a program that was killed has left is not believed.
    first.stop()
    second.stop()
    let third = try play(environment)
    #expect(try await eventually { try await places() == [604] })
    third.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, or what it needs, is not installed"))
  func windowsOfTwoProgramsAreBesideEachOtherOnSway() async throws {
    let server = try await WaylandServer(.sway)
    func play(_ color: String) throws -> RunningProgram {
      let pipeline =
        "videotestsrc is-live=true pattern=\(color) ! video/x-raw,width=640,height=360,framerate=30/1 "
        + "! appsink name=a"
      return try Demo.start(
        ["play", pipeline, "--surface", "window", "--mode", "pip"], environment: server.environment)
    }
    // The middle of the place in the corner, and of the one above it.
    let places = [(x: 1024 - 176, y: 768 - 106), (x: 1024 - 176, y: 768 - 106 - 188)]
    func isShown(_ colors: [UInt8]...) async throws -> Bool {
      try await eventually {
        let image = try await server.screenshot()
        return zip(places, colors).allSatisfy { place, color in
          zip(image.pixel(place.x, place.y), color).allSatisfy { abs(Int($0) - Int($1)) < 12 }
        }
      }
    }
    let first = try play("red")
    #expect(try await isShown([0, 0, 255]))
    let second = try play("blue")
    #expect(try await isShown([0, 0, 255], [255, 0, 0]))
    first.stop()
    second.stop()
    server.stop()
  }

  @Test func theScaleOfTheDesktopIsFollowedWhileTheWindowIsOpen() async throws {
    let server = try await XServer()
    let desktop = try SettingsManager(server)
    desktop.set(scale: 1)
    let demo = try play(server.environment)
    #expect(try await isAt(server, Self.normal))
    desktop.set(scale: 2)
    #expect(try await isAt(server, PictureRect(x: 1280 - 672, y: 800 - 392, width: 640, height: 360)))
    desktop.set(scale: 1)
    #expect(try await isAt(server, Self.normal))
    // Without such a program, the resolution of texts says it.
    desktop.leave()
    let file = try TemporaryFolder()
    for (resolution, scale) in [(192, 2), (120, 1), (288, 3), (96, 1)] {
      try "Xft.dpi: \(resolution)\n".write(toFile: file.path("resources"), atomically: true, encoding: .utf8)
      try await server.tool("xrdb", "-merge", file.path("resources"))
      #expect(try await eventually { try await place(server).width == 320 * scale }, "\(resolution)")
    }
    demo.stop()
  }

  @Test(arguments: [("PipSink", "normal", ["a"]), (title, "pip", ["a", "b"])])
  func theSizeOfTextsIsFollowedWhileTheWindowIsOpen(title: String, mode: String, streams: [String]) async throws {
    let server = try await XServer()
    let desktop = try SettingsManager(server)
    let source =
      "videotestsrc is-live=true pattern=red ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name="
    let demo = try Demo.start(
      [
        "play", streams.map { source + $0 }.joined(separator: " "), "--surface", "window", "--mode", mode,
        "--pip-layout", "grid",
      ], environment: server.environment)
    let window = try await server.window(title)
    /// The height of the name at the lower left.
    func nameHeight() async throws -> Int {
      let image = try await server.screenshot()
      let column = (0..<80).map { image.pixel(window.x + 3, window.y + window.height - 1 - $0) }
      return column.prefix { $0.prefix(3).allSatisfy { (20...36).contains($0) } }.count
    }
    for (resolution, height) in [(96, 19...21), (144, 28...32), (96, 19...21)] {
      desktop.set("Gdk/UnscaledDPI", to: UInt32(resolution * 1024))
      var found = 0
      let isRight = try await eventually {
        found = try await nameHeight()
        return height.contains(found)
      }
      #expect(isRight, "\(resolution): \(found)")
    }
    demo.stop()
  }
}

/// A program that provides the desktop's settings (XSETTINGS).
private final class SettingsManager {
  private let connection: X11Connection
  private let screen: X11Screen
  private let window: UInt32

  init(_ server: XServer) throws {
    connection = try #require(X11Connection(server.display))
    screen = try #require(X11Screen(connection, number: connection.screenNumber))
    window = xcb_generate_id(connection.pointer)
    xcb_create_window(
      connection.pointer, 0, window, screen.root, -1, -1, 1, 1, 0, UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue), 0, 0,
      nil)
    xcb_set_selection_owner(connection.pointer, window, connection.atom("_XSETTINGS_S0"), 0)
    connection.synchronize()
  }

  /// Sets the number of pixels in a unit.
  func set(scale: UInt32) { set("Gdk/WindowScalingFactor", to: scale) }

  /// Has this setting and no other.
  func set(_ name: String, to value: UInt32) {
    let padding = [UInt8](repeating: 0, count: (4 - name.utf8.count % 4) % 4)
    // The byte order, a serial number, the number of settings; then kind 0, the name and its padding, a serial number
    // and the value.
    let bytes: [UInt8] =
      [0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, UInt8(name.utf8.count), 0] + name.utf8 + padding + [1, 0, 0, 0]
      + (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    let atom = screen.atoms[.settings]
    xcb_change_property(
      connection.pointer, UInt8(XCB_PROP_MODE_REPLACE.rawValue), window, atom, atom, 8, UInt32(bytes.count), bytes)
    connection.synchronize()
  }

  func leave() {
    xcb_destroy_window(connection.pointer, window)
    connection.synchronize()
  }
}
