import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests what the picture-in-picture window does under each window manager for X11, and that `docs/desktops.md` agrees
/// with it. Where a window is, and which windows are above it, is asked of the server.
@Suite(.timeLimit(.minutes(5)))
struct WindowManagerTests {
  private typealias Ability = DesktopTests.Ability

  @Test(arguments: WindowManager.allCases.filter { $0.isInstalled && $0 != .openbox })
  func theTableSaysWhatTheWindowDoes(under manager: WindowManager) async throws {
    let expected = try DesktopTests.documented(manager.rawValue)
    let look = try await ManagedLook(manager, expected: expected)
    let found = try await look.all()
    // Under bspwm some tries do not go back.
    for ability in Ability.allCases where (manager, ability) != (.bspwm, .goesBack) {
      #expect(found[ability] == expected[ability], "\(manager.rawValue): \(ability.rawValue)")
    }
  }
}

/// Acts as a user of the demo's windows on an X server, beside a window of another program.
private final class ManagedLook {
  typealias Ability = DesktopTests.Ability
  private let server: XServer
  private let bus: SessionBus
  private let expected: [Ability: Bool]
  private let connection: X11Connection
  private let screen: X11Screen
  /// The role of the app's window.
  private static let appRole = "in-app"

  init(_ manager: WindowManager, expected: [Ability: Bool]) async throws {
    self.expected = expected
    server = try await XServer(by: manager)
    bus = try await SessionBus()
    connection = try #require(X11Connection(server.display))
    screen = try #require(X11Screen(connection, number: connection.screenNumber))
  }

  private func play(_ arguments: String...) throws -> RunningProgram {
    try Demo.start(
      ["play", "videotestsrc ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a"] + arguments,
      environment: server.environment.merging(bus.environment) { $1 })
  }

  // MARK: - Looking

  /// The part of the screen that the window manager's own panels leave free.
  private var area: PictureRect {
    screen.workArea(in: PictureRect(x: 0, y: 0, width: 1280, height: 800), isAlone: true)
  }

  /// The place of a window that has just opened.
  private var corner: PictureRect {
    PictureRect(x: area.x + area.width - 336, y: area.y + area.height - 196, width: 320, height: 180)
  }

  private func eventually(_ ability: Ability, _ condition: () async throws -> Bool) async throws -> Bool {
    try await TestSupport.eventually(within: expected[ability] ?? false ? 30 : 2, condition)
  }

  private func children(of window: UInt32) -> [UInt32] {
    let query = xcb_query_tree(connection.pointer, window)
    guard let tree = connection.answer(query.sequence, as: xcb_query_tree_reply_t.self) else { return [] }
    defer { free(tree) }
    return Array(UnsafeBufferPointer(start: xcb_query_tree_children(tree), count: Int(tree.pointee.children_len)))
  }

  /// The visible window with a role, which may be in the frame of a window manager.
  private func window(_ role: String) -> UInt32? {
    var windows = children(of: screen.root)
    for _ in 0..<2 { windows += windows.flatMap(children) }
    return windows.first { connection.property(screen.atoms[.wmRole], of: $0) == Array(role.utf8) && isViewable($0) }
  }

  private func isViewable(_ window: UInt32) -> Bool {
    let query = xcb_get_window_attributes(connection.pointer, window)
    let reply = connection.answer(query.sequence, as: xcb_get_window_attributes_reply_t.self)
    defer { free(reply) }
    return reply?.pointee.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue)
  }

  /// The rectangle of the picture-in-picture window, or nil where it is not open.
  private var place: PictureRect? { window(WindowIdentity.role).flatMap { screen.rectangle(of: $0) } }

  /// Whether the picture-in-picture window is at a place, except for the border that some window managers give it.
  private func isAt(_ wanted: PictureRect) -> Bool {
    guard let place else { return false }
    return place.size == wanted.size && max(abs(place.x - wanted.x), abs(place.y - wanted.y)) <= 2
  }

  /// Whether the picture-in-picture window is what a user sees in the middle of its corner.
  private func isOnTop() -> Bool {
    guard let wanted = window(WindowIdentity.role) else { return false }
    var (found, last) = (screen.root, UInt32(0))
    while found != 0, found != wanted {
      last = found
      let corner = corner
      let query = xcb_translate_coordinates(
        connection.pointer, screen.root, last, Int16(corner.x + corner.width / 2), Int16(corner.y + corner.height / 2))
      let reply = connection.answer(query.sequence, as: xcb_translate_coordinates_reply_t.self)
      defer { free(reply) }
      found = reply?.pointee.child ?? 0
    }
    return found == wanted
  }

  private var focus: UInt32 {
    let query = xcb_get_input_focus(connection.pointer)
    let reply = connection.answer(query.sequence, as: xcb_get_input_focus_reply_t.self)
    defer { free(reply) }
    return reply?.pointee.focus ?? 0
  }

  // MARK: - The other window

  private func openOther() async throws -> UInt32 {
    let other = xcb_generate_id(connection.pointer)
    let values = [UInt32(XCB_EVENT_MASK_KEY_PRESS.rawValue)]
    xcb_create_window(
      connection.pointer, UInt8(XCB_COPY_FROM_PARENT), other, screen.root, 300, 150, 900, 600, 0,
      UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), UInt32(XCB_COPY_FROM_PARENT),
      UInt32(XCB_CW_EVENT_MASK.rawValue), values)
    connection.set(screen.atoms[.wmRole], of: other, to: "other", type: UInt32(XCB_ATOM_STRING.rawValue))
    let hints = UInt32(XCB_ATOM_WM_HINTS.rawValue)
    connection.set(hints, of: other, to: [3, 1, 1, 0, 0, 0, 0, 0, 0], type: hints)
    xcb_map_window(connection.pointer, other)
    connection.flush()
    try #require(await TestSupport.eventually(within: 15) { self.isViewable(other) })
    try await focusOther(other)
    return other
  }

  /// Gives the other window the focus as a user does, by a click, or, where the window manager has no such setting, by a
  /// list of windows.
  private func focusOther(_ other: UInt32) async throws {
    let isFocused = try await TestSupport.eventually(within: 15) {
      if let place = screen.rectangle(of: other) {
        try await server.tool("xdotool", "mousemove", "\(place.x + 30)", "\(place.y + 200)", "click", "1")
      }
      if await TestSupport.eventually(within: 0.3, { self.focus == other }) { return true }
      screen.send(.activeWindow, about: other, (2, 0, 0, 0, 0))
      return await TestSupport.eventually(within: 0.3) { self.focus == other }
    }
    try #require(isFocused, "the other window has no focus")
  }

  private func setState(_ names: [String], _ isOn: Bool, of window: UInt32) {
    let atoms = names.map { connection.atom("_NET_WM_STATE_\($0)") } + [0]
    screen.send(.state, about: window, (isOn ? 1 : 0, atoms[0], atoms[1], 1, 0))
  }

  private func isAbove(_ ability: Ability, with states: [String], other: UInt32) async throws -> Bool {
    setState(states, true, of: other)
    // Where windows are tiled, the other one fills the screen without that.
    _ = await TestSupport.eventually(within: 1) { self.screen.rectangle(of: other)?.width == 1280 }
    try await focusOther(other)
    let isAbove = try await eventually(ability) { self.isOnTop() }
    setState(states, false, of: other)
    _ = await TestSupport.eventually(within: 1) { self.screen.rectangle(of: other)?.width != 1280 }
    return isAbove
  }

  // MARK: - Trying

  func all() async throws -> [Ability: Bool] {
    var found: [Ability: Bool] = [:]
    let demo = try play("--dbus")
    try #require(await TestSupport.eventually(within: 15) { self.window(Self.appRole) != nil }, "\(demo.errors)")
    let other = try await openOther()
    try #require(await TestSupport.eventually(within: 15) { try await self.bus.call("Enable", "a").status == 0 })
    let isThere = await TestSupport.eventually(within: 15) { self.isAt(self.corner) }
    #expect(isThere, "it does not open in its corner, but at \(place.map { "\($0)" } ?? "-")")
    // A window manager may set the focus anew where it is when windows come.
    let isMoved = await TestSupport.eventually(within: expected[.leavesFocus] == true ? 0.5 : 15) {
      self.focus != other
    }
    found[.leavesFocus] =
      if isMoved { await TestSupport.eventually(within: 0.5) { self.focus == other } } else { true }
    try await focusOther(other)
    found[.aboveFocused] = try await eventually(.aboveFocused) { self.isOnTop() }
    found[.aboveMaximised] = try await isAbove(
      .aboveMaximised, with: ["MAXIMIZED_VERT", "MAXIMIZED_HORZ"], other: other)
    found[.aboveFullscreen] = try await isAbove(.aboveFullscreen, with: ["FULLSCREEN"], other: other)
    xcb_destroy_window(connection.pointer, other)
    connection.flush()
    try await server.showWorkspace(2)
    #expect(await TestSupport.eventually(within: 15) { !self.appIsVisible })
    found[.allWorkspaces] = try await eventually(.allWorkspaces) { self.isOnTop() }
    try await server.showWorkspace(1)
    _ = await TestSupport.eventually(within: 15) { self.isAt(self.corner) }
    try await tryPointer(&found)
    demo.stop()
    try await tryBackground(&found)
    return found
  }

  private func tryPointer(_ found: inout [Ability: Bool]) async throws {
    let old = try #require(place)
    let middle = (x: old.x + 160, y: old.y + 90)
    try await server.drag(from: middle, to: (220, 200))
    found[.moves] = try await eventually(.moves) { self.place.map { ($0.x, $0.y) != (old.x, old.y) } ?? false }
    found[.snaps] = try await eventually(.snaps) {
      self.isAt(PictureRect(x: self.area.x + 16, y: self.area.y + 16, width: 320, height: 180))
    }
    let place = try #require(place)
    try await server.tool(
      "xdotool", "mousemove", "\(place.x + 160)", "\(place.y + 90)", "click", "--repeat", "3", "--delay", "60", "4")
    found[.resizes] = try await eventually(.resizes) { self.place?.width == 425 }
    // The window takes the keyboard when it is clicked.
    try await server.tool("xdotool", "click", "1")
    #expect(await TestSupport.eventually(within: 15) { self.window(WindowIdentity.role) == self.focus })
    try await server.key("Escape")
    #expect(await TestSupport.eventually(within: 15) { self.place == nil }, "a key does nothing after a click")
  }

  private func tryBackground(_ found: inout [Ability: Bool]) async throws {
    let demo = try play("--auto-pip")
    let isThere = await TestSupport.eventually(within: 15) {
      self.window(Self.appRole).map { self.focus == $0 } ?? false
    }
    #expect(isThere, "the app's window has not got the focus")
    #expect(await demo.wait(forText: "stream \"a\": "))
    try await server.showWorkspace(2)
    found[.startsInBackground] = try await eventually(.startsInBackground) { self.place != nil }
    found[.goesBack] = false
    if let place {
      try await server.tool("xdotool", "mousemove", "\(place.x + 160)", "\(place.y + 90)")
      let patience = expected[.goesBack] ?? false ? 10.0 : 2.0
      found[.goesBack] = try await eventually(.goesBack) {
        // Without the window, the clicks would be in what is below it.
        if self.place != nil { try await server.tool("xdotool", "click", "--repeat", "2", "--delay", "60", "1") }
        return await TestSupport.eventually(within: patience) { self.place == nil && self.appIsVisible }
      }
    }
    server.stop()
    let result = try await demo.result(seconds: 60)
    found[.outlivesServer] =
      result.status == 69 && !result.wasKilled && result.errors.contains("the display server has gone")
  }

  /// Whether the app's window is on the workspace that is shown. dwm moves windows on other ones out of the screen.
  private var appIsVisible: Bool { window(Self.appRole).flatMap { screen.rectangle(of: $0) }?.x ?? -1 >= 0 }
}
