import CWindows
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests the part of a monitor that panels leave free.
@Suite struct X11PanelTests {
  private let screen = PictureSize(width: 2304, height: 800)
  /// A monitor, and a lower one on its right.
  private let tall = PictureRect(x: 0, y: 0, width: 1280, height: 800)
  private let short = PictureRect(x: 1280, y: 0, width: 1024, height: 576)

  private func free(_ monitor: PictureRect, _ numbers: [UInt32], window: PictureRect? = nil) -> PictureRect {
    X11Panel.panels(numbers, window: window, on: screen).reduce(monitor) { $1.free(of: $0, on: monitor) }
  }

  @Test func aPanelTakesRoomFromItsOwnMonitorAlone() {
    // A panel of 40 pixels at the lower end of the short monitor reserves them from the end of the screen.
    let numbers: [UInt32] = [0, 0, 0, 264, 0, 0, 0, 0, 0, 0, 1280, 2303]
    #expect(free(tall, numbers) == tall)
    #expect(free(short, numbers) == PictureRect(x: 1280, y: 0, width: 1024, height: 536))
  }

  @Test func aPanelBetweenMonitorsTakesRoomFromTheOneThatItIsOn() {
    let window = PictureRect(x: 1280, y: 0, width: 50, height: 576)
    let numbers: [UInt32] = [1330, 0, 0, 0, 0, 575, 0, 0, 0, 0, 0, 0]
    #expect(free(tall, numbers, window: window) == tall)
    #expect(free(short, numbers, window: window) == PictureRect(x: 1330, y: 0, width: 974, height: 576))
  }

  @Test func panelsAtAllEdgesTakeTheirRoom() {
    let numbers: [UInt32] = [10, 0, 20, 30, 0, 799, 0, 0, 0, 2303, 0, 2303]
    #expect(free(tall, numbers) == PictureRect(x: 10, y: 20, width: 1270, height: 750))
    #expect(free(short, numbers) == PictureRect(x: 1280, y: 20, width: 1024, height: 556))
    #expect(free(short, [0, 40, 0, 0, 0, 0, 0, 100, 0, 0, 0, 0]).width == 984)
    // The older property has no ranges.
    #expect(free(tall, [0, 0, 25, 0]) == PictureRect(x: 0, y: 25, width: 1280, height: 775))
  }

  @Test(
    arguments: [
      [], [1, 2, 3], [UInt32](repeating: .max, count: 4), [UInt32](repeating: .max, count: 12),
      [0, 0, 800, 0, 0, 0, 0, 0, 0, 2303, 0, 0], [0, 0, 40, 0, 0, 0, 0, 0, 900, 100, 0, 0],
    ] as [[UInt32]])
  func aPanelThatMakesNoSenseLeavesTheMonitorAsItIs(numbers: [UInt32]) {
    #expect(free(tall, numbers) == tall)
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func onAServerThePanelOfOneMonitorIsNotInTheWayOnTheOther() async throws {
    let server = try await XServer()
    try await server.tool("xrandr", "--setmonitor", "left", "640/170x800/210+0+0", "screen")
    try await server.tool("xrandr", "--setmonitor", "right", "640/170x600/160+640+0", "none")
    let connection = try #require(X11Connection(server.display))
    let screen = try #require(X11Screen(connection, number: connection.screenNumber))
    let area = { (name: String) -> PictureRect? in
      let monitors = screen.monitors
      return monitors.first { $0.name == name }.map {
        screen.workArea(in: $0.area, isAlone: monitors.count == 1)
      }
    }
    let panel = xcb_generate_id(connection.pointer)
    xcb_create_window(
      connection.pointer, UInt8(XCB_COPY_FROM_PARENT), panel, screen.root, 640, 560, 640, 40, 0,
      UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), UInt32(XCB_COPY_FROM_PARENT), 0, nil)
    let atom = UInt32(XCB_ATOM_ATOM.rawValue)
    connection.set(
      screen.atoms[.windowType], of: panel, to: [connection.atom("_NET_WM_WINDOW_TYPE_DOCK")], type: atom)
    connection.set(
      screen.atoms[.strut], of: panel, to: [0, 0, 0, 240, 0, 0, 0, 0, 0, 0, 640, 1279],
      type: UInt32(XCB_ATOM_CARDINAL.rawValue))
    // PPosition and the place.
    let hints = UInt32(XCB_ATOM_WM_NORMAL_HINTS.rawValue)
    connection.set(
      hints, of: panel, to: [4, 640, 560] + [UInt32](repeating: 0, count: 15),
      type: UInt32(XCB_ATOM_WM_SIZE_HINTS.rawValue))
    xcb_map_window(connection.pointer, panel)
    connection.flush()
    #expect(await eventually { area("right") == PictureRect(x: 640, y: 0, width: 640, height: 560) })
    #expect(area("left") == PictureRect(x: 0, y: 0, width: 640, height: 800))
    // openbox takes the room from all monitors.
    #expect(try await eventually { try await server.tool("xprop", "-root", "_NET_WORKAREA").contains("560") })
    #expect(area("left") == PictureRect(x: 0, y: 0, width: 640, height: 800))
    // The window asks the same way.
    try await MainActor.run { [display = server.display] in
      let window = try PictureInPictureWindow(display: display, placementPath: nil)
      try window.open(.plain())
      let native = try #require(window.native)
      for (name, height) in [("left", 800), ("right", 560)] {
        native.go(to: try #require(native.monitors.first { $0.name == name }))
        #expect(native.workArea.height == height, "\(name)")
      }
      window.close()
    }
    xcb_destroy_window(connection.pointer, panel)
    connection.flush()
    #expect(await eventually { area("right")?.height == 600 })
  }
}
