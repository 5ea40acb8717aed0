import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// Tests from outside what the picture-in-picture window does on each desktop, and that `docs/desktops.md` agrees with
/// it.
@Suite(.enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"))
struct DesktopTests {
  enum Ability: String, CaseIterable {
    case aboveFocused = "above the window with the focus"
    case aboveMaximised = "above a maximised one"
    case aboveFullscreen = "above a fullscreen one"
    case leavesFocus = "takes no focus"
    case allWorkspaces = "on all workspaces"
    case moves = "dragged"
    case snaps = "goes to its corner"
    case resizes = "resized by the wheel"
    case startsInBackground = "starts in the background"
    case goesBack = "back to the app"
    case outlivesServer = "error when the server dies"
  }

  private static let document = Demo.root.appendingPathComponent("docs/desktops.md")

  /// The documented abilities of a desktop or window manager, from its column in the table. The table has a row for each
  /// ability.
  static func documented(_ desktop: String) throws -> [Ability: Bool] {
    let text = try String(contentsOf: document, encoding: .utf8)
    let rows = text.split(separator: "\n").filter { $0.hasPrefix("|") }.map { line in
      line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
    }
    let column = try #require(rows.first?.firstIndex { $0.hasPrefix(desktop) })
    // The second row is the line that separates the header from the other rows.
    let abilities = rows.dropFirst(2)
    #expect(abilities.compactMap(\.first).elementsEqual(Ability.allCases.map(\.rawValue)))
    try #require(abilities.count == Ability.allCases.count && abilities.allSatisfy { $0.count > column })
    return Dictionary(uniqueKeysWithValues: zip(Ability.allCases, abilities.map { $0[column].hasPrefix("yes") }))
  }

  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func theTableSaysWhatTheWindowDoes(on desktop: Desktop) async throws {
    let expected = try Self.documented(desktop.rawValue)
    var found: [Ability: Bool] = [:]
    for part in [DesktopLook.windows, DesktopLook.background] {
      let look = try DesktopLook(desktop: try await desktop.start(), expected: expected)
      try await found.merge(part(look)()) { $1 }
    }
    found[.outlivesServer] = try await endsWithAnError(on: desktop)
    for ability in Ability.allCases {
      #expect(found[ability] == expected[ability], "\(desktop.rawValue): \(ability.rawValue)")
    }
  }

  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func theDoctorNamesTheWindowThatIsUsed(on desktop: Desktop) async throws {
    let server = try await desktop.start()
    let run = ["play", "videotestsrc ! appsink name=a", "--mode", "pip", "--duration", "0.5"]
    let kinds: [PictureInPictureWindow.Kind?] = desktop == .openbox ? [nil] : [nil, .toplevel]
    for kind in kinds {
      var environment = server.environment
      if let kind { environment["PIPSINK_PIP_WINDOW"] = kind.rawValue }
      let doctor = try await Demo.start(["doctor"], environment: environment).result(seconds: 60)
      let play = try await Demo.start(run + ["--log-level", "pipsink.windows:debug"], environment: environment)
        .result(seconds: 60)
      let said = doctor.output.firstMatch(of: #/(?:ok|limited) +always on top: (.*)/#)?.1
      let used = try #require(
        play.errors.firstMatch(of: #/the picture-in-picture window is ([a-z0-9-]+): (.*)/#), "\(play.errors)")
      let (first, reason) = expected(on: desktop)
      #expect(String(used.1) == (kind ?? first).rawValue)
      #expect(String(used.2) == kind.map { "PIPSINK_PIP_WINDOW asks for \($0.rawValue)" } ?? reason)
      let covered = kind == .toplevel ? "other windows can cover it: " : ""
      let onX11 = "the window manager Openbox keeps it above"
      #expect(said.map(String.init) == (desktop == .openbox ? onX11 : covered + used.2), "\(doctor.output)")
    }
    server.stop()
  }

  /// The window that a desktop has, and why.
  private func expected(on desktop: Desktop) -> (kind: PictureInPictureWindow.Kind, reason: String) {
    switch desktop {
    case .openbox: (.x11, "it is an X11 window")
    case .sway, .kwin: (.layerShell, "the compositor has layer-shell; it is a surface on the overlay layer")
    case .mutter: (.xwayland, "the compositor has no layer-shell; it is a window of its Xwayland")
    }
  }

  @Test(arguments: [Desktop.sway, .kwin].filter(\.isInstalled))
  func theWindowHasTheKeyboardFromAPressUntilThePointerLeavesIt(on desktop: Desktop) async throws {
    let server = try await desktop.start()
    let look = try DesktopLook(desktop: server, expected: [:])
    // The pointer rests where the window will open.
    let corner = (x: server.size.width - 16 - 300, y: server.size.height - 16 - 90)
    // The other window may have a title bar.
    let body = (x: 60, y: server.size.height / 2 + 60)
    try await server.screen.tool("xdotool", "mousemove", "\(corner.x)", "\(corner.y)")
    let other = try OtherWindow(.maximised, on: server)
    #expect(try await eventually { try await look.colour(body.x, body.y) != nil }, "\(other.errors)")
    try await look.click(10, server.size.height / 2)
    #expect(try await eventually { try await look.colour(body.x, body.y) == .green })
    try await server.screen.tool("xdotool", "mousemove", "\(corner.x)", "\(corner.y)")
    let launch = try look.launch("mode=pip")
    #expect(try await eventually { try await look.colour(corner.x, corner.y) == .red }, "\(launch.errors)")
    for step in [2, 4, 6] {
      try await server.screen.tool("xdotool", "mousemove", "\(corner.x + step)", "\(corner.y)", "sleep", "0.1")
    }
    #expect(try await look.colour(body.x, body.y) == .green)
    try await server.screen.key("space")
    try await server.screen.tool("xdotool", "click", "1", "sleep", "0.2", "mousemove", "\(corner.x)", "\(corner.y)")
    #expect(try await eventually { try await look.colour(body.x, body.y) == .blue }, "a press gives it the keyboard")
    try await server.screen.key("space")
    #expect(await launch.wait(forText: "Setting state to PAUSED as requested"))
    try await look.click(10, server.size.height / 2)
    #expect(try await eventually { try await look.colour(body.x, body.y) == .green })
    // If the first key had counted, the second one would have made it play again.
    #expect(!launch.output.contains("Setting state to PLAYING as requested"), "\(launch.output)")
    launch.stop()
    other.stop()
    server.stop()
  }

  /// The number of tries, which the environment variable `PIPSINK_TRIES` can set.
  private static let tries = ProcessInfo.processInfo.environment["PIPSINK_TRIES"].flatMap(Int.init) ?? 2

  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func itIsAboveAMaximisedWindowWithTheFocusEveryTime(on desktop: Desktop) async throws {
    let server = try await desktop.start()
    for number in 0..<Self.tries {
      let look = try DesktopLook(desktop: server, expected: [:])
      // In every second try the other window opens first.
      let isAbove = try await look.isOnTop(opensLast: number % 2 == 0)
      #expect(isAbove, "\(desktop.rawValue), \(number)")
    }
    server.stop()
  }

  /// The moments are spread over the start of the program, of its window and of picture-in-picture.
  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func itsServerMayDieAtAnyMoment(on desktop: Desktop) async throws {
    for number in 0..<Self.tries {
      let server = try await desktop.start()
      let demo = try Demo.start(
        ["play", "videotestsrc is-live=true ! appsink name=a", "--surface", "window", "--at", "0.5=pip:a"],
        environment: server.environment)
      let milliseconds = (number * 2 + 1) * 1200 / (2 * Self.tries)
      try await Task.sleep(for: .milliseconds(milliseconds))
      server.stop()
      let result = try await demo.result(seconds: 60)
      #expect(
        result.status == 69 && !result.wasKilled && !result.errors.isEmpty,
        "\(desktop.rawValue), after \(milliseconds) ms: \(result.status) \(result.errors)")
    }
  }

  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func everyControlThatTheAppGivesIsUsedByAClick(on desktop: Desktop) async throws {
    let server = try await desktop.start()
    let look = try DesktopLook(desktop: server, expected: [:])
    let list = "raiseHand,-vote::camera-photo-symbolic,leave:Leave soon,hangUp"
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=8/1 ! appsink name=a",
        "--surface", "window", "--mode", "pip", "--pip-controls", list, "--report", "-",
      ], environment: server.environment)
    // In the app a placeholder is in place of the picture.
    let window = PictureRect(x: server.size.width - 336, y: server.size.height - 196, width: 320, height: 180)
    #expect(try await eventually { try await look.colour(window.x + 20, window.y + 90) == .red }, "\(demo.errors)")
    var faces = ControlFaces()
    let bars = ControlBars(try .init(text: list), in: window.size) { faces.width(of: $0, scale: 1) }
    let bar = try #require(bars.bars.first)
    // A compositor in a window of another server follows the pointer from the first press on.
    try await look.click(10, server.size.height / 2)
    // The controls come with the pointer. Close is in the window's corner.
    let close = (x: window.x + 20, y: window.y + 9)
    #expect(
      try await eventually {
        for step in 0...1 {
          try await server.screen.tool("xdotool", "mousemove", "\(window.x + 160 + step)", "\(window.y + 90)")
        }
        return try await server.screen.screenshot().pixel(close.x, close.y)[2] < 150
      }, "\(desktop.rawValue)")
    let clicks = [
      (0, "control \"raiseHand\" is on"), (1, "control \"vote\" is on"), (2, "control \"leave\"\n"),
      (0, "control \"raiseHand\" is off"), (1, "control \"vote\" is off"),
    ]
    for (number, text) in clicks {
      let (_, x, width) = bar.places[number]
      try await look.click(window.x + bar.rectangle.x + x + width / 2, window.y + bar.rectangle.y + 14)
      #expect(await demo.wait(forText: text), "\(desktop.rawValue): \(demo.errors)")
    }
    let (_, x, width) = bar.places[3]
    try await look.click(window.x + bar.rectangle.x + x + width / 2, window.y + bar.rectangle.y + 14)
    let result = try await demo.result(seconds: 60)
    #expect(result.status == 0, "\(desktop.rawValue): \(result.errors)")
    let used = try result.report().pictureInPictureEvents.filter { $0.event == "action" }.map(\.detail)
    #expect(used == ["raiseHand", "vote", "leave", "raiseHand", "vote", "hangUp"])
    server.stop()
  }

  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func itKeepsOutOfTheWayAndFillsTheScreen(on desktop: Desktop) async throws {
    let server = try await desktop.start()
    let look = try DesktopLook(desktop: server, expected: [:])
    let (width, height) = (server.size.width, server.size.height)
    let window = PictureRect(x: width - 336, y: height - 196, width: 320, height: 180)
    let other = try OtherWindow(.maximised, on: server)
    #expect(try await eventually { try await look.colour(60, height / 2) != nil }, "\(other.errors)")
    let launch = try look.launch("mode=pip pip-click-through=true")
    #expect(try await eventually { try await look.colour(window.x + 60, window.y + 90) == .red }, "\(launch.errors)")
    try await look.click(10, height / 2)
    #expect(try await eventually { try await look.colour(60, height / 2) == .green })

    let hasButton = try await server.screen.screenshot().pixel(window.x + 9, window.y + 9)[2] < 150
    // mutter gives a window of its Xwayland the pointer whatever its shape is.
    #expect(hasButton == (desktop != .mutter))
    if hasButton {
      // The wheel and presses go to the window below, but the button gives the window its presses back.
      #expect(!other.hasScrolled)
      try await look.click(window.x + 160, window.y + 90, button: 4)
      #expect(await eventually { other.hasScrolled }, "\(desktop.rawValue)")
      try await look.click(window.x + 160, window.y + 90)
      #expect(try await look.colour(60, height / 2) == .green)
      try await look.click(window.x + 20, window.y + 20)
    }
    // The other controls come with the pointer.
    #expect(
      try await eventually {
        for step in 0...1 {
          try await server.screen.tool("xdotool", "mousemove", "\(window.x + 160 + step)", "\(window.y + 90)")
        }
        return try await server.screen.screenshot().pixel(window.x + 311, window.y + 9)[2] < 150
      }, "\(desktop.rawValue)")
    try await server.screen.tool("xdotool", "click", "1")

    // The picture is as wide as the screen, with bars above and below.
    try await server.screen.key("f")
    let isFull = try await eventually {
      let image = try await server.screen.screenshot()
      return [3, width - 4].allSatisfy { DesktopLook.Colour(image.pixel($0, height / 2)) == .red }
        && [3, height - 4].allSatisfy { image.pixel(width / 2, $0)[0...2].max() ?? 255 < 10 }
    }
    #expect(isFull, "\(desktop.rawValue): \(launch.errors)")
    try await server.screen.key("Escape")
    #expect(try await eventually { try await look.colour(3, height / 2) != .red }, "\(desktop.rawValue)")
    #expect(try await eventually { try await look.colour(window.x + 60, window.y + 90) == .red })
    launch.stop()

    // The pointer is elsewhere when the window opens.
    try await look.click(10, height / 4)
    let otherLook = try DesktopLook(desktop: server, expected: [:])
    let second = try otherLook.launch("mode=pip pip-steps-aside=true")
    #expect(try await eventually { try await look.colour(window.x + 60, window.y + 90) == .red }, "\(second.errors)")
    try await server.screen.tool(
      "xdotool", "mousemove", "\(window.x - 40)", "\(window.y + 90)", "sleep", "0.1", "mousemove",
      "\(window.x + 160)", "\(window.y + 90)")
    let isAside = try await eventually {
      let image = try await server.screen.screenshot()
      return DesktopLook.Colour(image.pixel(16 + 60, window.y + 90)) == .red
        && DesktopLook.Colour(image.pixel(window.x + 60, window.y + 90)) != .red
    }
    #expect(isAside, "\(desktop.rawValue): \(second.errors)")
    second.stop()
    other.stop()
    server.stop()
  }

  /// Another program, which a key of the desktop may have started, gives the window the keyboard.
  @Test(
    .enabled(if: SessionBus.isInstalled, "dbus-daemon, gdbus, playerctl or python3 is not installed"),
    arguments: Desktop.allCases.filter(\.isInstalled))
  func theKeyboardAloneReachesTheControlsAndLeavesThem(on desktop: Desktop) async throws {
    let server = try await desktop.start()
    let look = try DesktopLook(desktop: server, expected: [:])
    let (width, height) = (server.size.width, server.size.height)
    let window = PictureRect(x: width - 336, y: height - 196, width: 320, height: 180)
    let bus = try await SessionBus()
    let list = "-vote::camera-photo-symbolic,raiseHand,hangUp"
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=8/1 ! appsink name=a",
        "--surface", "window", "--mode", "pip", "--pip-controls=\(list)", "--dbus", "--report", "-",
      ], environment: server.environment.merging(bus.environment) { $1 })
    #expect(try await eventually { try await look.colour(window.x + 60, window.y + 90) == .red }, "\(demo.errors)")
    let other = try OtherWindow(.maximised, on: server)
    // Sway puts it on the right side of the app's window.
    let body = (x: width - 60, y: height / 2)
    #expect(try await eventually { try await look.colour(body.x, body.y) != nil }, "\(other.errors)")
    // A compositor in a window of another server follows the pointer from the first press on.
    let isFocused = try await eventually {
      try await look.click(body.x, body.y)
      return try await look.colour(body.x, body.y - 40) == .green
    }
    #expect(isFocused, "\(desktop.rawValue)")
    let call = try await bus.call("FocusPictureInPicture")
    #expect(call.status == 0, "\(desktop.rawValue): \(call.errors)")
    // Where the controls are, nothing else is white.
    let bar = try #require(ControlBars(try .init(text: list), in: window.size).bars.first)
    func hasFrame(_ number: Int) async throws -> Bool {
      let (_, x, width) = bar.places[number]
      let (left, top) = (window.x + bar.rectangle.x + x, window.y + bar.rectangle.y)
      let screen = try await server.screen.screenshot()
      return [(width / 2, 1), (width / 2, 26), (1, 14), (width - 2, 14)].allSatisfy {
        screen.pixel(left + $0, top + $1)[0...1].min() ?? 0 > 240
      }
    }
    #expect(try await eventually { try await hasFrame(0) }, "\(desktop.rawValue): \(demo.errors)")
    try await server.screen.key("Return")
    #expect(await demo.wait(forText: "control \"vote\" is on"), "\(desktop.rawValue): \(demo.errors)")
    try await server.screen.key("Tab")
    #expect(try await eventually { try await hasFrame(1) }, "\(desktop.rawValue)")
    try await server.screen.key("space")
    #expect(await demo.wait(forText: "control \"raiseHand\" is on"), "\(desktop.rawValue): \(demo.errors)")
    #expect(other.keys == [])
    try await server.screen.key("Escape")
    #expect(try await eventually { try await !hasFrame(1) }, "\(desktop.rawValue)")
    // The keyboard is where it was, and the window is still there.
    #expect(
      try await eventually {
        try await server.screen.key("x")
        return other.keys.contains("x")
      }, "\(desktop.rawValue)")
    #expect(try await eventually { try await look.colour(window.x + 60, window.y + 90) == .red }, "\(desktop.rawValue)")
    demo.interrupt()
    let result = try await demo.result(seconds: 60)
    let used = try result.report().pictureInPictureEvents.filter { $0.event == "action" }.map(\.detail)
    #expect(used == ["vote", "raiseHand"], "\(desktop.rawValue)")
    other.stop()
    bus.stop()
    server.stop()
  }

  /// The film is red for a minute, and then blue.
  @Test(arguments: Desktop.allCases.filter(\.isInstalled))
  func theUserSeeksByAPressAndADragOnTheBar(on desktop: Desktop) async throws {
    let folder = try TemporaryFolder()
    let film = folder.path("film.mkv")
    let parts = ["red", "blue"].enumerated().map { index, pattern in
      "videotestsrc pattern=\(pattern) num-buffers=60 ! video/x-raw,width=320,height=180,framerate=1/1 ! c.sink_\(index)"
    }
    try await Tool.gstLaunch(
      "concat name=c ! jpegenc ! matroskamux ! filesink location=\(film) " + parts.joined(separator: " "))
    let server = try await desktop.start()
    let look = try DesktopLook(desktop: server, expected: [:])
    let demo = try Demo.start(
      ["play", film, "--surface", "window", "--mode", "pip"], environment: server.environment)
    let window = PictureRect(x: server.size.width - 336, y: server.size.height - 196, width: 320, height: 180)
    let place = (x: window.x + 20, y: window.y + 90)
    #expect(try await eventually { try await look.colour(place.x, place.y) == .red }, "\(demo.errors)")
    try await look.click(10, server.size.height / 2)
    let bar = try #require(ControlBars(.player, in: window.size).seekBar)
    let y = window.y + bar.y + bar.height / 2
    // The track is between two times, which are equally wide.
    func x(_ part: Double) -> Int { window.x + 50 + Int(220 * part) }
    func controlsAreShown() async throws -> Bool {
      try await eventually {
        for step in 0...1 {
          try await server.screen.tool("xdotool", "mousemove", "\(window.x + 160 + step)", "\(window.y + 60)")
        }
        return try await server.screen.screenshot().pixel(window.x + 20, window.y + 9)[0...2].max() ?? 255 < 150
      }
    }
    #expect(try await controlsAreShown(), "\(desktop.rawValue)")
    try await look.click(x(0.8), y)
    #expect(try await eventually { try await look.colour(place.x, place.y) == .blue }, "\(desktop.rawValue)")
    #expect(try await controlsAreShown(), "\(desktop.rawValue)")
    try await server.screen.tool(
      "xdotool", "mousemove", "\(x(0.9))", "\(y)", "mousedown", "1", "sleep", "0.1", "mousemove", "\(x(0.5))",
      "\(y)", "sleep", "0.1", "mousemove", "\(x(0.2))", "\(y - 30)", "sleep", "0.1", "mouseup", "1")
    #expect(try await eventually { try await look.colour(place.x, place.y) == .red }, "\(desktop.rawValue)")
    demo.stop()
    server.stop()
  }

  private func endsWithAnError(on desktop: Desktop) async throws -> Bool {
    let server = try await desktop.start()
    let demo = try Demo.start(
      ["play", "videotestsrc ! appsink name=a", "--surface", "window", "--mode", "pip"], environment: server.environment
    )
    #expect(await demo.wait(forText: "pip:a"))
    server.stop()
    let result = try await demo.result(seconds: 60)
    return result.status == 69 && !result.wasKilled && result.errors.contains("the display server has gone")
  }
}

/// Acts as a user who looks at a desktop and tries the window of an element, whose picture is red.
private struct DesktopLook {
  typealias Ability = DesktopTests.Ability
  let desktop: any DesktopServer
  /// The documented abilities. The tests wait less long for an ability that is not expected.
  let expected: [Ability: Bool]
  private let folder: TemporaryFolder

  init(desktop: any DesktopServer, expected: [Ability: Bool]) throws {
    (self.desktop, self.expected) = (desktop, expected)
    folder = try TemporaryFolder()
  }

  func launch(_ properties: String) throws -> RunningProgram {
    // The desktops draw without a GPU, so a high frame rate would only make the test slower.
    try Plugin.launch(
      "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=8/1 ! pipsink \(properties)", folder,
      environment: desktop.environment)
  }

  // MARK: - Looking

  private func eventually(_ ability: Ability, _ condition: () async throws -> Bool) async throws -> Bool {
    try await TestSupport.eventually(within: expected[ability] ?? false ? 60 : 5, condition)
  }

  func colour(_ x: Int, _ y: Int) async throws -> Colour? {
    Colour(try await desktop.screen.screenshot().pixel(x, y))
  }

  enum Colour {
    case red, green, blue

    init?(_ pixel: [UInt8]) {
      let (blue, green, red) = (pixel[0], pixel[1], pixel[2])
      // The controls darken the picture.
      if red > 70, green < 50, blue < 50 {
        self = .red
      } else if green > 200, red < 50, blue < 50 {
        self = .green
      } else if blue > 200, red < 50, green < 50 {
        self = .blue
      } else {
        return nil
      }
    }
  }

  /// The smallest rectangle around all pixels of a colour, accurate to a few pixels; nil when no pixel has that colour.
  private func rectangle(_ colour: Colour) async throws -> PictureRect? {
    let (image, step) = (try await desktop.screen.screenshot(), 4)
    var (left, right, top, bottom) = (Int.max, -1, Int.max, -1)
    for y in stride(from: 0, to: desktop.size.height, by: step) {
      for x in stride(from: 0, to: desktop.size.width, by: step) where Colour(image.pixel(x, y)) == colour {
        (left, right, top, bottom) = (min(left, x), max(right, x), min(top, y), max(bottom, y))
      }
    }
    return right < 0 ? nil : PictureRect(x: left, y: top, width: right - left + step, height: bottom - top + step)
  }

  /// The rectangle of the other window on the screen, with or without the focus.
  private func otherRectangle() async throws -> PictureRect? {
    if let green = try await rectangle(.green) { return green }
    return try await rectangle(.blue)
  }

  private func isNear(_ first: PictureRect?, _ second: PictureRect) -> Bool {
    guard let first else { return false }
    return max(
      abs(first.x - second.x), abs(first.y - second.y), abs(first.width - second.width),
      abs(first.height - second.height)) <= 8
  }

  /// Whether the red window is in its place and remains there for some time.
  private func stays(_ place: PictureRect) async throws -> Bool {
    for _ in 0..<5 where try await !isNear(rectangle(.red), place) { return false }
    return true
  }

  func click(_ x: Int, _ y: Int, times: Int = 1, button: Int = 1) async throws {
    // The pointer moves in two steps, so that the window receives an event of its motion.
    try await desktop.screen.tool(
      "xdotool", "mousemove", "\(x)", "\(y + 3)", "mousemove", "\(x)", "\(y)", "sleep", "0.3")
    try await desktop.screen.tool("xdotool", "click", "--repeat", "\(times)", "--delay", "60", "\(button)")
  }

  // MARK: - Trying

  func windows() async throws -> [Ability: Bool] {
    var found: [Ability: Bool] = [:]
    let normal = try OtherWindow(.normal, on: desktop)
    var isSeen = try await TestSupport.eventually { try await rectangle(.green) != nil }
    try #require(isSeen, "\(normal.errors)")
    let launch = try launch("mode=pip")
    isSeen = try await TestSupport.eventually { try await rectangle(.red) != nil }
    try #require(isSeen, "\(launch.errors)")
    found[.leavesFocus] = try await rectangle(.green) != nil
    let place = try #require(try await rectangle(.red))
    let other = try #require(try await otherRectangle())
    try await click(other.x + 20, other.y + other.height - 20)
    found[.aboveFocused] = try await stays(place)
    normal.stop()
    found[.aboveMaximised] = try await isAbove(.maximised, at: place)
    found[.aboveFullscreen] = try await isAbove(.fullscreen, at: place)
    try await tryWorkspaces(&found)
    try await tryPointer(&found)
    launch.stop()
    desktop.stop()
    return found
  }

  /// Whether our window, which opens before or after a maximised one, is above that window when that one has the focus.
  func isOnTop(opensLast: Bool) async throws -> Bool {
    let isFree = try await TestSupport.eventually {
      let (ours, other) = (try await rectangle(.red), try await otherRectangle())
      return ours == nil && other == nil
    }
    try #require(isFree)
    var launch: RunningProgram?
    if !opensLast {
      launch = try self.launch("mode=pip")
      _ = try await TestSupport.eventually { try await rectangle(.red) != nil }
    }
    let other = try OtherWindow(.maximised, on: desktop)
    let (right, bottom) = (desktop.size.width - 6, desktop.size.height - 6)
    let isThere = try await TestSupport.eventually { try await [.green, .blue].contains(colour(right, bottom)) }
    try #require(isThere, "\(other.errors)")
    if opensLast { launch = try self.launch("mode=pip") }
    let corner = PictureRect(x: right + 6 - 336, y: bottom + 6 - 196, width: 320, height: 180)
    _ = try await TestSupport.eventually { try await rectangle(.red) != nil }
    try await click(10, desktop.size.height / 2)
    let hasFocus = try await TestSupport.eventually { try await colour(right, bottom) == .green }
    let isAbove = try await stays(corner)
    launch?.stop()
    other.stop()
    return hasFocus && isAbove
  }

  private func isAbove(_ state: OtherWindow.State, at place: PictureRect) async throws -> Bool {
    let other = try OtherWindow(state, on: desktop)
    let (right, bottom) = (desktop.size.width - 6, desktop.size.height - 6)
    let isThere = try await TestSupport.eventually { try await [.green, .blue].contains(colour(right, bottom)) }
    try #require(isThere, "\(other.errors)")
    try await click(10, desktop.size.height / 2)
    #expect(try await TestSupport.eventually { try await colour(right, bottom) == .green })
    let result = try await stays(place)
    other.stop()
    _ = try await TestSupport.eventually { try await colour(right, bottom) == nil }
    return result
  }

  private func tryWorkspaces(_ found: inout [Ability: Bool]) async throws {
    let place = try #require(try await rectangle(.red))
    let other = try OtherWindow(.normal, on: desktop)
    let isSeen = try await TestSupport.eventually { try await otherRectangle() != nil }
    try #require(isSeen, "\(other.errors)")
    try await desktop.showWorkspace(2)
    let isElsewhere = try await eventually(.allWorkspaces) { try await otherRectangle() == nil }
    found[.allWorkspaces] = isElsewhere ? try await stays(place) : false
    try await desktop.showWorkspace(1)
    other.stop()
    #expect(try await TestSupport.eventually { try await otherRectangle() == nil })
  }

  private func tryPointer(_ found: inout [Ability: Bool]) async throws {
    var seen: PictureRect?
    _ = try await TestSupport.eventually {
      seen = try await rectangle(.red)
      return seen != nil
    }
    let old = try #require(seen)
    try await desktop.screen.drag(from: (old.x + 160, old.y + 90), to: (220, 200))
    found[.moves] = try await eventually(.moves) { try await rectangle(.red).map { !isNear($0, old) } ?? false }
    let corner = PictureRect(x: 16, y: 16, width: 320, height: 180)
    found[.snaps] = try await eventually(.snaps) { try await isNear(rectangle(.red), corner) }
    let place = try #require(try await rectangle(.red))
    try await click(place.x + 160, place.y + 90, times: 3, button: 4)
    found[.resizes] = try await eventually(.resizes) { try await rectangle(.red).map { $0.width > 340 } ?? false }
    if found[.resizes] == false, try await !passesTheWheelOn() { found[.resizes] = expected[.resizes] }
  }

  /// Whether the desktop passes events of the wheel on to programs. mutter 48 does not while it is a window in an X
  /// server, so the test cannot try resizing there.
  private func passesTheWheelOn() async throws -> Bool {
    let other = try OtherWindow(.normal, on: desktop)
    defer { other.stop() }
    var place: PictureRect?
    _ = try await TestSupport.eventually {
      place = try await otherRectangle()
      return place != nil
    }
    guard let place else { return true }
    try await click(place.x + place.width / 2, place.y + place.height - 40, times: 3, button: 4)
    return await TestSupport.eventually(within: 5) { other.hasScrolled }
  }

  /// On a busy machine, two clicks may take longer than the time limit of a double click. Only then does the test click
  /// again.
  private func goesBack(byClickingIn place: PictureRect) async throws -> Bool {
    for _ in 0..<5 {
      let start = ContinuousClock.now
      try await click(place.x + 160, place.y + 90, times: 2)
      // These are the pause before the clicks and the time limit of a double click.
      let wasQuick = ContinuousClock.now - start < .milliseconds(300 + 400)
      let isBack = { try await rectangle(.red).map { $0.width > 500 } ?? false }
      if wasQuick { return try await eventually(.goesBack, isBack) }
      if try await TestSupport.eventually(within: 10, isBack) { return true }
    }
    return false
  }

  /// Tries the abilities that need the app's window, which goes to another workspace and comes back.
  func background() async throws -> [Ability: Bool] {
    var found: [Ability: Bool] = [:]
    let launch = try launch("auto-pip=true")
    // The app's window is larger than the picture-in-picture window.
    let isSeen = try await TestSupport.eventually { try await rectangle(.red).map { $0.width > 500 } ?? false }
    try #require(isSeen, "\(launch.errors)")
    try await desktop.showWorkspace(2)
    var place: PictureRect?
    found[.startsInBackground] = try await eventually(.startsInBackground) {
      place = try await rectangle(.red)
      // While the workspace changes, the screen may show a part of the app's window.
      guard let place, place.width < 400 else { return false }
      return try await stays(place)
    }
    found[.goesBack] = false
    if found[.startsInBackground] == true, let place {
      found[.goesBack] = try await goesBack(byClickingIn: place)
    }
    launch.stop()
    desktop.stop()
    return found
  }
}
