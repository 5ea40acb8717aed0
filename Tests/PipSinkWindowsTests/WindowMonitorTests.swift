import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests the picture-in-picture window from outside on one of two monitors, which are connected and disconnected.
@Suite struct WindowMonitorTests {
  private static let stream =
    "videotestsrc pattern=white ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=remote-1"

  private func play(_ environment: [String: String]) throws -> RunningProgram {
    try Demo.start(
      ["play", Self.stream, "--surface", "window", "--mode", "pip"], environment: environment)
  }

  // MARK: - X11

  /// Starts a server whose screen of 1280x800 is divided into two monitors.
  private func divided() async throws -> XServer {
    let server = try await XServer()
    try await server.tool("xrandr", "--setmonitor", "left", "640/170x800/210+0+0", "screen")
    try await addRight(server)
    return server
  }

  /// Saves a monitor as the one on which the window was last, so that the place of the app's window does not matter.
  private func remember(_ monitor: String, _ environment: [String: String]) throws {
    let state = try #require(environment["XDG_STATE_HOME"])
    #expect(WindowPlaces(monitor: monitor).save(to: state + "/pipsink/picture-in-picture.ini"))
  }

  private func addRight(_ server: XServer) async throws {
    try await server.tool("xrandr", "--setmonitor", "right", "640/170x800/210+640+0", "none")
    #expect(try await server.tool("xrandr", "--listmonitors").contains("right"))
  }

  private func isAt(_ server: XServer, _ x: Int, _ y: Int, _ size: PictureSize) async throws -> Bool {
    try await eventually(within: 15) {
      let found = try await server.window("Picture-in-Picture")
      return (found.x, found.y) == (x, y) && (found.width, found.height) == (size.width, size.height)
    }
  }

  private let normal = PictureSize(width: 320, height: 180)

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func itIsDraggedToAnotherMonitorAndIsThereAfterARestart() async throws {
    let server = try await divided()
    try remember("left", server.environment)
    let first = try play(server.environment)
    let window = try await server.window("Picture-in-Picture")
    // The window is in the lower right corner of the first monitor.
    #expect(try await isAt(server, 640 - 336, 800 - 196, normal))
    // The window is dropped with its larger part on the second monitor, in the lower half.
    try await server.drag(from: (640 - 336 + 100, 800 - 196 + 90), to: (640 - 336 + 100 + 250, 500))
    #expect(try await isAt(server, 640 + 16, 800 - 196, normal))
    // On the second monitor the window gets another size and corner.
    try await server.tool("wmctrl", "-i", "-r", window.id, "-e", "0,-1,-1,480,400")
    let large = PictureSize(width: 480, height: 270)
    #expect(try await isAt(server, 640 + 16, 800 - 16 - 270, large))
    try await server.drag(from: (640 + 16 + 240, 800 - 16 - 135), to: (1000, 200))
    #expect(try await isAt(server, 1280 - 16 - 480, 16, large))
    try await server.key("q")
    #expect(try await first.result(seconds: 30).status == 0)
    let second = try play(server.environment)
    #expect(try await isAt(server, 1280 - 16 - 480, 16, large))
    second.stop()
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func whenItsMonitorGoesItGoesToTheOtherOneAndComesBackWithIt() async throws {
    let server = try await divided()
    try remember("left", server.environment)
    let demo = try play(server.environment)
    _ = try await server.window("Picture-in-Picture")
    #expect(try await isAt(server, 640 - 336, 800 - 196, normal))
    try await server.drag(from: (640 - 336 + 100, 800 - 196 + 90), to: (1000, 200))
    #expect(try await isAt(server, 1280 - 336, 16, normal))
    for _ in 0..<2 {
      try await server.tool("xrandr", "--delmonitor", "right")
      // The window keeps its corner.
      #expect(try await isAt(server, 640 - 336, 16, normal))
      try await addRight(server)
      #expect(try await isAt(server, 1280 - 336, 16, normal))
    }
    // If the window opens while its monitor is disconnected, it opens on the other one. It returns when the monitor is
    // connected again.
    try await server.tool("xrandr", "--delmonitor", "right")
    #expect(try await isAt(server, 640 - 336, 16, normal))
    demo.stop()
    let second = try play(server.environment)
    _ = try await server.window("Picture-in-Picture")
    #expect(try await eventually { try await server.window("Picture-in-Picture").x < 640 })
    try await addRight(server)
    #expect(try await isAt(server, 1280 - 336, 16, normal))
    second.stop()
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func whereTheWindowManagerHasPutItOnAnotherMonitorItStaysThere() async throws {
    let server = try await divided()
    try remember("left", server.environment)
    let demo = try play(server.environment)
    let window = try await server.window("Picture-in-Picture")
    #expect(try await isAt(server, 640 - 336, 800 - 196, normal))
    try await server.tool("wmctrl", "-i", "-r", window.id, "-e", "0,800,330,-1,-1")
    #expect(try await isAt(server, 800, 330, normal))
    // A step of the wheel enlarges the window, which then goes to the nearest corner of this monitor.
    try await server.tool("xdotool", "mousemove", "900", "400", "click", "4")
    let larger = PictureSize(width: 352, height: 198)
    #expect(try await isAt(server, 1280 - 16 - 352, 800 - 16 - 198, larger))
    demo.stop()
    // The monitor that the user has chosen through the window manager is remembered, as is the size.
    let again = try play(server.environment)
    #expect(try await isAt(server, 1280 - 16 - 352, 800 - 16 - 198, larger))
    again.stop()
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func itOpensOnTheMonitorOfTheAppsWindowWhereNoneIsRemembered() async throws {
    let server = try await divided()
    let demo = try Demo.start(
      ["play", Self.stream, "--surface", "window", "--window-size", "400x225"], environment: server.environment)
    let app = try await server.window("PipSink")
    for (x, corner) in [(700, 1280 - 336), (50, 1280 - 336)] {
      try await server.tool("wmctrl", "-i", "-r", app.id, "-e", "0,\(x),300,-1,-1")
      #expect(try await eventually { abs(try await server.window("PipSink").x - x) < 20 })
      try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", "p")
      // The window opens on its first monitor again, wherever the app's window is.
      #expect(try await isAt(server, corner, 800 - 196, normal))
      try await server.tool("xdotool", "windowactivate", "--sync", app.id, "key", "p")
      #expect(
        try await eventually { try await !server.tool("wmctrl", "-l").contains("Picture-in-Picture") })
    }
    demo.stop()
  }

  // MARK: - Wayland

  /// Whether a place shows the picture. All other places show the background colour of the desktop.
  private func isWhite(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    image.pixel(x, y)[0..<3].allSatisfy { $0 > 240 }
  }

  /// A corner of one of the monitors, which are side by side.
  private struct Corner: Equatable {
    let monitor: Int
    let isLeft: Bool
    let isTop: Bool
  }

  /// The corner in which the picture is; nil if it is in none, or in several.
  ///
  /// - Parameter monitor: the size of each monitor.
  private func corner(_ image: BGRAImage, _ monitor: PictureSize) -> Corner? {
    var found: Corner?
    for place in 0..<image.size.width / monitor.width * 4 {
      let corner = Corner(monitor: place / 4, isLeft: place % 2 == 0, isTop: place % 4 < 2)
      let x = corner.monitor * monitor.width + (corner.isLeft ? 16 : monitor.width - 336)
      let y = corner.isTop ? 16 : monitor.height - 196
      let whites = [(3, 3), (316, 3), (3, 176), (316, 176)].filter { isWhite(image, x + $0, y + $1) }.count
      if whites == 0 { continue }
      guard whites == 4, found == nil else { return nil }
      found = corner
    }
    return found
  }

  /// Whether the picture is in exactly one place: in a corner of one of two monitors of 1024x768.
  private func isAlone(_ server: WaylandServer, on monitor: Int, isLeft: Bool, isTop: Bool) async throws -> Bool {
    let wanted = Corner(monitor: monitor, isLeft: isLeft, isTop: isTop)
    return try await eventually(within: 15) {
      corner(try await server.screenshot(), PictureSize(width: 1024, height: 768)) == wanted
    }
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayItIsLetGoBeyondTheEdgeAndIsOnTheNextMonitorAfterARestartToo() async throws {
    let server = try await WaylandServer(.sway, monitorCount: 2)
    // The version of sway decides which of its monitors it announces first.
    try remember("X11-1", server.environment)
    let demo = try play(server.environment)
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"PipSink\"") })
    try await server.swaymsg("[app_id=\"pipsink-demo\"] move container to scratchpad")
    #expect(try await isAlone(server, on: 0, isLeft: false, isTop: false))
    let corner = (x: 1024 - 336, y: 768 - 196)
    try await server.outer.drag(from: (corner.x + 20, corner.y + 90), to: (1020, 200))
    #expect(try await isAlone(server, on: 1, isLeft: true, isTop: true))
    try await demo.end()
    let second = try play(server.environment)
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"PipSink\"") })
    try await server.swaymsg("[app_id=\"pipsink-demo\"] move container to scratchpad")
    #expect(try await isAlone(server, on: 1, isLeft: true, isTop: true))
    second.stop()
  }

  @Test(
    .enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), arguments: ["X11-1", "X11-2"])
  func onSwayItOpensOnTheMonitorOfTheAppsWindowWhereNoneIsRemembered(monitor: String) async throws {
    let server = try await WaylandServer(.sway, monitorCount: 2)
    let demo = try Demo.start(
      ["play", Self.stream, "--surface", "window"], environment: server.environment)
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"PipSink\"") })
    let isRight = monitor == "X11-2"
    try await server.swaymsg("[app_id=\"pipsink-demo\"] move container to output \(monitor)")
    try await server.swaymsg("[app_id=\"pipsink-demo\"] focus")
    // The app's picture is in the middle of its monitor.
    let (here, there) = (isRight ? 1536 : 512, isRight ? 512 : 1536)
    #expect(
      try await eventually {
        let image = try await server.screenshot()
        return isWhite(image, here, 384) && !isWhite(image, there, 384)
      })
    try await server.outer.tool("xdotool", "mousemove", "\(here)", "384", "click", "2", "key", "p")
    // The app's picture disappears, and the window's picture appears in the corner of the same monitor.
    let (x, y, other) = ((isRight ? 1024 : 0) + 1024 - 336 + 3, 768 - 196 + 3, (isRight ? 0 : 1024) + 1024 - 336 + 3)
    #expect(
      try await eventually {
        let image = try await server.screenshot()
        return !isWhite(image, here, 200) && isWhite(image, x, y) && !isWhite(image, other, y)
      })
    demo.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
  func onSwayItGoesToItsMonitorWhenThatComesAndToAnotherOneWhenItGoes() async throws {
    let parent = try await WaylandServer(.sway, hasPointer: false, windowCount: 4)
    let server = try await WaylandServer(.sway, in: parent)
    let unplug = { (name: String) in
      try await parent.swaymsg("[title=\(name)] kill")
      #expect(try await eventually { try await !server.swaymsg("-t", "get_outputs").contains("\"\(name)\"") })
    }
    // The window was last on a monitor that is disconnected.
    let state = try #require(server.environment["XDG_STATE_HOME"])
    var places = WindowPlaces(monitor: "WL-2")
    places.note(WindowPlacement(corner: .topLeft), on: "WL-2")
    places.note(WindowPlacement(corner: .topRight), on: "WL-1")
    #expect(places.save(to: state + "/pipsink/picture-in-picture.ini"))
    let demo = try play(server.environment)
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"PipSink\"") })
    try await server.swaymsg("[app_id=\"pipsink-demo\"] move container to scratchpad")
    #expect(try await isAlone(server, on: 0, isLeft: false, isTop: true))
    try await server.swaymsg("create_output")
    #expect(try await isAlone(server, on: 1, isLeft: true, isTop: true), "\(demo.errors)")
    try await unplug("WL-2")
    #expect(try await isAlone(server, on: 0, isLeft: false, isTop: true), "\(demo.errors)")
    // On a monitor that is new to the window, it takes the corner that it had last.
    try await server.swaymsg("create_output")
    #expect(try await eventually { try await server.screenshot().size.width == 2048 })
    try await unplug("WL-1")
    #expect(try await isAlone(server, on: 0, isLeft: false, isTop: true), "\(demo.errors)")
    // Without any monitor the demo waits for one.
    try await unplug("WL-3")
    try await server.swaymsg("create_output")
    #expect(try await isAlone(server, on: 0, isLeft: false, isTop: true), "\(demo.errors)")
    #expect(demo.isRunning, "\(demo.errors)")
    demo.stop()
  }

  // MARK: - KWin and mutter

  private static let desktops = [Desktop.kwin, .mutter].filter(\.isInstalled)

  /// Starts a desktop of two monitors.
  private func divided(_ desktop: Desktop) async throws -> any DesktopServer {
    if desktop == .kwin { try await KWinServer(monitorCount: 2) } else { try await GNOMEServer(monitorCount: 2) }
  }

  @Test(arguments: desktops)
  func onKWinAndMutterItIsDraggedToTheNextMonitorAndIsThereAfterARestart(desktop: Desktop) async throws {
    let server = try await divided(desktop)
    defer { server.stop() }
    let place = { corner(try await server.screen.screenshot(), server.size) }
    let first = try play(server.environment)
    #expect(try await eventually(within: 30) { try await place() != nil }, "\(first.errors)")
    let old = try #require(try await place())
    #expect(!old.isLeft && !old.isTop)
    let new = Corner(monitor: 1 - old.monitor, isLeft: true, isTop: true)
    let (from, to) = (old.monitor * server.size.width, new.monitor * server.size.width)
    // As a user would, the test drags again when the window has not moved.
    for _ in 0..<3 where try await place() == old {
      try await server.screen.drag(
        from: (from + server.size.width - 336 + 160, server.size.height - 196 + 90), to: (to + 300, 200))
      _ = try await eventually(within: 5) { try await place() != old }
    }
    #expect(try await eventually(within: 15) { try await place() == new })
    try await first.end()
    let second = try play(server.environment)
    #expect(try await eventually(within: 30) { try await place() == new }, "\(second.errors)")
    second.stop()
  }

  /// Xwayland gives a monitor another name whenever that is connected.
  @Test(.enabled(if: Desktop.mutter.isInstalled, "mutter, Xwayland and root are needed"))
  func onMutterItGoesToAnotherMonitorAndComesBackWithItsOwn() async throws {
    let server = try await GNOMEServer(monitorCount: 2)
    defer { server.stop() }
    var places = WindowPlaces(monitor: "LVDS2")
    places.note(WindowPlacement(corner: .topLeft), on: "LVDS2")
    places.note(WindowPlacement(corner: .topRight), on: "LVDS1")
    let state = try #require(server.environment["XDG_STATE_HOME"])
    #expect(places.save(to: state + "/pipsink/picture-in-picture.ini"))
    let demo = try play(server.environment)
    let isAt = { (wanted: Corner) in
      try await eventually(within: 30) { corner(try await server.screen.screenshot(), server.size) == wanted }
    }
    let (here, there) = (
      Corner(monitor: 1, isLeft: true, isTop: true), Corner(monitor: 0, isLeft: false, isTop: true)
    )
    #expect(try await isAt(here), "\(demo.errors)")
    for _ in 0..<2 {
      try await server.setMonitorCount(1)
      #expect(try await isAt(there), "\(demo.errors)")
      try await server.setMonitorCount(2)
      #expect(try await isAt(here), "\(demo.errors)")
    }
    demo.stop()
  }

  @Test(arguments: desktops, [0, 1])
  func onKWinAndMutterItOpensOnTheMonitorOfTheAppsWindowWhereNoneIsRemembered(
    desktop: Desktop, monitor: Int
  ) async throws {
    let server = try await divided(desktop)
    defer { server.stop() }
    // These desktops open windows on the monitor that has the pointer.
    let left = monitor * server.size.width
    try await server.screen.tool("xdotool", "mousemove", "\(left + 900)", "700")
    let demo = try Demo.start(
      ["play", Self.stream, "--surface", "window", "--at", "2=pip:remote-1"], environment: server.environment)
    let wanted = Corner(monitor: monitor, isLeft: false, isTop: false)
    let isThere = try await eventually(within: 30) {
      let image = try await server.screen.screenshot()
      // The app's window has a dark background beside its text.
      let app = image.pixel(left + 840, 300)[0..<3]
      return corner(image, server.size) == wanted && app.allSatisfy { abs(Int($0) - 0x1C) <= 2 }
    }
    #expect(isThere, "\(demo.errors)")
    demo.stop()
  }
}
