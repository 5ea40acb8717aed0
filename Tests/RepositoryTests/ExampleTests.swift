import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Runs the examples as their readers run them.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct ExampleTests {
  @Test func theGTKCallShowsTwoWindowsThatDoNotOverlapAndTakesThemBack() async throws {
    let server = try await XServer()
    let example = try RunningProgram(
      URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("gtk-call").path, [],
      environment: server.environment)
    let call = try await server.window("Call")
    // The example's button fills the lower edge of the window.
    #expect(
      try await eventually { try await server.screenshot(of: call.id).pixel(call.width / 4, call.height / 2)[1] > 100 })
    try await server.tool("xdotool", "mousemove", "\(call.x + 400)", "\(call.y + call.height - 18)", "click", "1")
    let anna = try await server.window("Picture-in-Picture: anna")
    let ben = try await server.window("Picture-in-Picture: ben")
    let (upper, lower) = anna.y < ben.y ? (anna, ben) : (ben, anna)
    #expect(upper.y + upper.height <= lower.y, "\(anna) \(ben)")
    #expect(anna.x + anna.width == ben.x + ben.width)
    let screen = try await server.screenshot()
    // Anna's picture has bars, of which the first is white. Ben's picture has a white ball on black.
    #expect(screen.pixel(anna.x + 10, anna.y + 20)[0] > 180)
    #expect(screen.pixel(ben.x + 2, ben.y + 2)[0] < 40)
    let click = { () async throws in
      _ = try await server.tool(
        "xdotool", "mousemove", "\(call.x + 400)", "\(call.y + call.height - 18)", "click", "1")
    }
    // A window that opens later is stacked behind the open ones, and is in the corner when it is alone.
    try await server.tool("wmctrl", "-i", "-c", anna.id)
    #expect(try await eventually { try await server.windows().count == 2 })
    try await click()
    #expect(
      try await eventually {
        let windows = try await server.windows().filter { $0.title.hasPrefix("Picture") }
        return windows.map(\.title) == [anna.title] && windows.first?.y == ben.y
      }, "anna's window has come, and ben's has gone")
    try await click()
    #expect(
      try await eventually {
        let windows = try await server.windows().filter { $0.title.hasPrefix("Picture") }
        return windows.map(\.title) == [ben.title] && windows.first?.y == anna.y
      }, "ben's window has come, and anna's has gone")
    try await server.tool("wmctrl", "-i", "-c", ben.id)
    #expect(try await eventually { try await server.windows().count == 1 })
    // When the app is minimised, both windows open by themselves. When the app is closed, the program ends.
    try await server.tool("xdotool", "windowminimize", call.id)
    #expect(try await eventually { try await server.windows().count == 3 })
    try await expectEnd(of: example, byClosing: call, of: server)
  }

  @Test(.enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"))
  func theFilmInPythonTellsOfItsWindowAndEndsWithIt() async throws {
    let folder = try TemporaryFolder()
    let server = try await XServer()
    let example = try RunningProgram(
      "/usr/bin/python3", [Demo.root.appendingPathComponent("examples/pip.py").path],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let window = try await server.window("Picture-in-Picture: video")
    #expect(
      try await eventually { try await isYellow(server.screenshot(), window.x + window.width * 3 / 14, window.y + 40) })
    try await server.tool("wmctrl", "-i", "-c", window.id)
    let result = try await example.result()
    #expect(result.status == 0, "\(result.errors)")
    let events = result.output.split(separator: "\n").compactMap { $0.split(separator: ",").first.map(String.init) }
    #expect(
      events.filter { $0 != "pip-source-changed" } == [
        "pip-will-start", "pip-did-start", "pip-will-stop", "pip-did-stop",
      ],
      "\(result.output)")
  }

  @Test(.enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"))
  func theExampleInPythonPlaysAFilmToItsEnd() async throws {
    let (folder, server) = (try TemporaryFolder(), try await XServer())
    try await Tool.makeVideo(folder.path("film.mkv"), frames: 30, size: "width=64,height=36")
    let result = try await RunningProgram(
      "/usr/bin/python3",
      [Demo.root.appendingPathComponent("examples/pip.py").path, "file://\(folder.path("film.mkv"))"],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 }
    ).result()
    #expect(result.status == 0 && result.output.contains("pip-did-start"), "\(result.output) \(result.errors)")
  }

  @Test(
    .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
    .enabled(if: ElementInspection.exists("webrtcbin"), "webrtcbin is not installed"))
  func theCallByWHEPInPythonIsShownUntilItsWindowIsClosed() async throws {
    let (folder, server, sender) = (try TemporaryFolder(), try await XServer(), try await WHEPServer())
    let example = try RunningProgram(
      "/usr/bin/python3", [Demo.root.appendingPathComponent("examples/whep.py").path, sender.url("red")],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let window = try await server.window("Picture-in-Picture")
    #expect(
      try await eventually(within: 20) {
        let pixel = try await server.screenshot().pixel(window.x + window.width / 2, window.y + window.height / 2)
        return pixel[0] < 40 && pixel[1] < 40 && pixel[2] > 215
      }, "\(example.errors)")
    try await server.tool("wmctrl", "-i", "-c", window.id)
    let result = try await example.result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(sender.log == ["POST /red 201", "DELETE /session/1 200"])
  }

  /// Chromium shows a green picture in place of a camera.
  @Test(
    .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"),
    .enabled(if: ElementInspection.exists("webrtcbin"), "webrtcbin is not installed"),
    .enabled(if: WHEPServer.hasChromium, "chromium-headless-shell is not installed"))
  func aBrowserThatCallsAndTheExampleSeeEachOther() async throws {
    let (folder, server) = (try TemporaryFolder(), try await XServer())
    let example = try RunningProgram(
      "/usr/bin/python3", [Demo.root.appendingPathComponent("examples/browser-call/server.py").path, "0"],
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let address = try #require(await example.firstLine(), "\(example.errors)")
    let browser = try RunningProgram(
      "/usr/bin/python3",
      [
        Demo.root.appendingPathComponent("Tests/TestSupport/Servers/chromium.py").path, folder.path("chromium"),
        address,
      ])
    let window = try await server.window("Picture-in-Picture")
    #expect(
      try await eventually(within: 20) {
        let pixel = try await server.screenshot().pixel(window.x + 20, window.y + 20)
        return pixel[0] < 40 && (100...180).contains(pixel[1]) && pixel[2] < 40
      }, "\(example.errors)")
    // The page's title says when it has a picture.
    #expect(
      await eventually(within: 20) { browser.output.split(separator: "\n").last == "In a call with PipSink" },
      "\(browser.output) \(browser.errors)")
    browser.stop()
    // A page of somebody else may not call.
    let script = "import urllib.request; urllib.request.urlopen('\(address)call', b'v=0')"
    let foreign = try await RunningProgram("/usr/bin/python3", ["-c", script]).result()
    #expect(foreign.errors.contains("HTTP Error 403"), "\(foreign.errors)")
  }

  /// The examples of a call whose SDK gives raw frames: a participant joins, switches the camera off and on, and leaves.
  @Test(.enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"), arguments: ["sdk.py", "sdk.c"])
  func aParticipantWhoseFramesComeFromAnSDKJoinsAndLeaves(name: String) async throws {
    let (folder, server) = (try TemporaryFolder(), try await XServer())
    let source = Demo.root.appendingPathComponent("examples/\(name)").path
    var command = ["/usr/bin/python3", source]
    if name.hasSuffix(".c") {
      command = [folder.path("sdk")]
      let compile = "cc -Wall -Werror -o \(command[0]) \(source) $(pkg-config --cflags --libs gstreamer-app-1.0)"
      let compiler = try await RunningProgram("/bin/sh", ["-c", compile]).result()
      try #require(compiler.status == 0, "\(compiler.errors)")
    }
    let example = try RunningProgram(
      command[0], Array(command.dropFirst()),
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 })
    let app = try await server.window(name.hasSuffix(".c") ? "sdk" : "python3")
    // Ben, who is dark, has the right half until he leaves. Anna, who is bright, has the whole window in the end.
    func brightness() async throws -> UInt8 {
      try await server.screenshot(of: app.id).pixel(app.width * 3 / 4, app.height / 3)[1]
    }
    #expect(try await eventually { try await brightness() > 150 }, "\(example.errors)")
    try await server.tool("wmctrl", "-i", "-c", app.id)
    let result = try await example.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled && !result.errors.contains("CRITICAL"), "\(result.errors)")
    for name in ["anna", "ben"] { #expect(result.output.contains("\(name) has joined\n")) }
  }

  /// The examples in further languages, on X11. `ToolkitTests` looks at what they share with the others.
  @Test(
    .enabled(if: Plugin.isUsable, "a plugin with a sanitizer cannot be loaded"), arguments: ["gtk4.js", "gtk4.vala"])
  func theCallsInJavaScriptAndValaGoToPictureInPictureAndBack(name: String) async throws {
    try await expectCall(of: name, environment: ["GDK_BACKEND": "x11", "GSK_RENDERER": "cairo", "GTK_A11Y": "none"])
  }

  /// Expects an example that shows Anna's and Ben's pictures to do so, also in picture-in-picture.
  private func expectCall(of name: String, environment: [String: String]) async throws {
    let (folder, server, sound) = (try TemporaryFolder(), try await XServer(), try await PulseServer())
    let source = Demo.root.appendingPathComponent("examples/\(name)").path
    var command = ["/usr/bin/gjs", "-m", source]
    if name.hasSuffix(".vala") {
      command = [folder.path("call")]
      let compiler = try await RunningProgram(
        "/usr/bin/valac", ["--pkg", "gtk4", "--pkg", "gstreamer-1.0", "-d", folder.url.path, "-o", "call", source]
      ).result()
      try #require(compiler.status == 0, "\(compiler.errors)")
    }
    let example = try RunningProgram(
      command[0], Array(command.dropFirst()),
      environment: server.environment.merging(try Plugin.environment(folder)) { $1 }.merging(environment) { $1 }
        .merging(["PULSE_SERVER": sound.address]) { $1 })
    let app = try await server.window("Call")
    // Anna's picture has a green bar in its middle, where the placeholder is grey.
    func showsAnna() async throws -> Bool {
      let pixel = try await server.screenshot(of: app.id).pixel(app.width / 4, app.height / 2 - 40)
      return pixel[1] > 150 && pixel[2] < 100
    }
    #expect(try await eventually { try await showsAnna() }, "\(example.errors)")
    let button = (x: "\(app.x + app.width / 6)", y: "\(app.y + app.height - 14)")
    try await server.tool("xdotool", "mousemove", button.x, button.y, "sleep", "0.3", "click", "1")
    let window = try await server.window("Picture-in-Picture: anna")
    #expect(try await eventually { try await !showsAnna() })
    try await server.tool("wmctrl", "-i", "-c", window.id)
    #expect(try await eventually { try await showsAnna() })
    try await expectEnd(of: example, byClosing: app, of: server)
    sound.stop()
  }

  @Test func aCallOfAnSDKInSwiftShowsWhoIsThere() async throws {
    let server = try await XServer()
    // The SDK's messages are read while it runs, so they must not wait in a buffer.
    let example = try RunningProgram(
      "/usr/bin/stdbuf",
      ["-oL", URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("sdk-call").path],
      environment: server.environment)
    let app = try await server.window("sdk-call")
    // Anna is bright, ben is dark, and carl is between them. He comes last and has the place below.
    func brightness(at places: [Double]) async throws -> [UInt8] {
      let picture = try await server.screenshot(of: app.id)
      return places.map { picture.pixel(Int($0 * Double(app.width)), app.height * 3 / 10)[1] }
    }
    let isThere = try await eventually {
      let seen = try await brightness(at: [0.25, 0.75])
      return seen[0] > 150 && (40..<100).contains(seen[1])
    }
    #expect(isThere, "\(example.output)")
    // When the others have gone, or have failed, she has what they had.
    #expect(await example.wait(forText: "ben has left"))
    #expect(await example.wait(forText: "carl: the connection was lost"))
    #expect(try await eventually { try await brightness(at: [0.25])[0] > 150 })
    try await expectEnd(of: example, byClosing: app, of: server)
  }

  @Test func theTwoStreamsInSwiftHaveAWindowWhoseControlsWork() async throws {
    let file = Demo.root.appendingPathComponent("examples/two-streams/main.swift")
    let source = try String(contentsOf: file, encoding: .utf8)
    let document = try String(contentsOf: Demo.root.appendingPathComponent("docs/embedding.md"), encoding: .utf8)
    #expect(document.contains("```swift\n\(source)```"), "docs/embedding.md shows the program exactly as it is")
    let server = try await XServer()
    let example = try RunningProgram(
      URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("two-streams").path, [],
      environment: server.environment)
    let app = try await server.window("two-streams")
    // The first of seven bars is white.
    func showsAnna() async throws -> Bool {
      try await server.screenshot(of: app.id).pixel(app.width / 28, app.height / 3)[0] > 150
    }
    #expect(try await eventually { try await showsAnna() })
    // When the app is minimised, the stream continues in picture-in-picture. The window's button for going back shows
    // the app again.
    try await server.tool("xdotool", "windowminimize", app.id)
    let title = { (id: String) in "Picture-in-Picture: \(id)" }
    var window = try await server.window(title("anna"))
    // Desktops group the two windows by their class, and find the program's icon by it.
    for each in [app, window] {
      #expect(try await server.properties(each, "WM_CLASS").contains("\"two-streams\", \"Two-streams\""))
    }
    func click(_ x: Int, _ y: Int) async throws {
      try await server.tool("xdotool", "mousemove", "\(window.x + x)", "\(window.y + y + 3)")
      try await server.tool("xdotool", "mousemove", "\(window.x + x)", "\(window.y + y)", "sleep", "0.3", "click", "1")
    }
    try await click(window.width - 20, 20)
    #expect(try await eventually { try await server.windows().allSatisfy { !$0.title.hasPrefix("Picture") } })
    #expect(try await eventually { try await !server.properties(app, "WM_STATE").contains("Iconic") })
    // A key starts picture-in-picture, and the button with the arrow shows the next stream.
    try await press("p", in: app, of: server)
    window = try await server.window(title("anna"))
    // The buttons for previous, pause, next and mute are in the lower middle.
    let button = { (number: Int) in window.width / 2 + (2 * number - 3) * 15 }
    try await click(button(2), window.height - 22)
    window = try await server.window(title("ben"))
    // While the stream is paused, the ball stands still for a second. When it plays again, the ball moves. The controls
    // above and below are cut off.
    func picture() async throws -> [UInt8] {
      let height = window.height - 90
      return try await server.screenshot().cropped(x: window.x, y: window.y + 40, width: window.width, height: height)
        .bytes
    }
    func isMoving() async throws -> Bool {
      let first = try await picture()
      for _ in 0..<4 {
        try await Task.sleep(for: .milliseconds(250))
        if try await picture() != first { return true }
      }
      return false
    }
    #expect(try await eventually { try await isMoving() })
    try await click(button(1), window.height - 22)
    #expect(try await eventually { try await !isMoving() })
    try await click(button(1), window.height - 22)
    #expect(try await eventually { try await isMoving() })
    // When the window is closed by its button, everything is shown in the app. When the app's window is closed, the
    // program ends.
    try await click(20, 20)
    #expect(try await eventually { try await server.windows().allSatisfy { !$0.title.hasPrefix("Picture") } })
    #expect(try await eventually { try await showsAnna() })
    try await expectEnd(of: example, byClosing: app, of: server)
  }

  @Test func thePollInSwiftCountsWhoClicksWhatAndLeavesTheWindowWhereItIs() async throws {
    let server = try await XServer()
    let example = try RunningProgram(
      URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("poll").path, [],
      environment: server.environment)
    let window = try await server.window("Picture-in-Picture: talk")
    func content() async throws -> BGRAImage {
      try await server.screenshot().cropped(x: window.x, y: window.y, width: window.width, height: window.height)
    }
    let (yes, no) = (window.width / 2 - 92, window.width / 2 + 4)
    let normal: [UInt8] = [179, 89, 0]
    #expect(
      try await eventually {
        let image = try await content()
        return [yes, no].allSatisfy { Array(image.pixel($0 + 3, 60)[0..<3]) == normal }
          && Array(image.pixel(20, 120)[0..<3]) == [0, 255, 0]
      })
    func text(of button: Int) async throws -> BGRAImage {
      try await content().cropped(x: button + 10, y: 58, width: 68, height: 24)
    }
    try await server.tool("xdotool", "mousemove", "10", "10")
    let before = (yes: try await text(of: yes), no: try await text(of: no))
    try await server.tool(
      "xdotool", "mousemove", "\(window.x + no + 40)", "\(window.y + 72)", "sleep", "0.2", "mousemove",
      "\(window.x + no + 42)", "\(window.y + 70)")
    // The button under the pointer is brighter.
    #expect(try await eventually { Array(try await content().pixel(no + 3, 60)[0..<3]) == [179, 128, 0] })
    // Two quick clicks on the app's own are no double click, which would lead back to the app.
    try await server.tool("xdotool", "click", "1", "click", "1", "mousemove", "10", "10")
    #expect(
      try await eventually {
        let (button, image) = (try await text(of: no), try await content())
        return button.bytes != before.no.bytes && Array(image.pixel(no + 3, 60)[0..<3]) == normal
      })
    let yesAfter = try await text(of: yes)
    #expect(yesAfter.bytes == before.yes.bytes)
    #expect(try await server.window("Picture-in-Picture: talk") == window)
    // A press beside the buttons is the window's: a double click leads back to the app.
    try await server.tool(
      "xdotool", "mousemove", "\(window.x + 100)", "\(window.y + 130)", "sleep", "0.2", "mousemove",
      "\(window.x + 100)", "\(window.y + 132)", "click", "1", "click", "1")
    #expect(try await eventually { try await server.windows().count == 1 })
    example.stop()
  }

  @Test func theCallInSwiftHasNamesCaptionsAndTheControlsOfACall() async throws {
    let server = try await XServer()
    let example = try RunningProgram(
      URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("call").path, [],
      environment: server.environment)
    let app = try await server.window("call")
    // Anna is at the upper left. The first of the seven bars in her picture is white.
    #expect(
      try await eventually { try await server.screenshot(of: app.id).pixel(app.width / 28, app.height / 5)[0] > 150 })
    // The app is minimised, and the streams continue in picture-in-picture.
    try await server.tool("xdotool", "windowminimize", app.id)
    let window = try await server.window("Picture-in-Picture: Anna, Ben, Me")
    func click(_ x: Int) async throws {
      let (x, y) = (window.x + x, window.y + window.height - 20)
      try await server.tool(
        "xdotool", "mousemove", "\(x)", "\(y + 3)", "mousemove", "\(x)", "\(y)", "sleep", "0.3", "click", "1")
    }
    // The buttons for microphone, camera, hand and hang up are in the lower middle. The user's own picture is blue, and
    // so is the ground of a button that is switched on.
    let button = { (number: Int) in window.width / 2 + (2 * number - 3) * 15 }
    func isBlue(_ x: Int, _ y: Int) async throws -> Bool {
      let pixel = try await server.screenshot().pixel(window.x + x, window.y + y)
      return pixel[0] > 120 && pixel[0] > pixel[2] + 60
    }
    func showsOwnPicture() async throws -> Bool { try await isBlue(window.width / 2 - 45, window.height - 70) }
    #expect(try await eventually { try await showsOwnPicture() })
    // Anna's caption darkens the yellow bar.
    let screen = try await server.screenshot()
    #expect(screen.pixel(window.x + 33, window.y + 44)[1] > 150)
    #expect(screen.pixel(window.x + 33, window.y + 57)[1] < 100)
    // The user's name is at the left, and the microphone's sign at the right of the lower edge.
    func hasWhite(_ columns: Range<Int>) async throws -> Bool {
      let screen = try await server.screenshot()
      return columns.contains { x in
        (window.height - 22..<window.height - 2).contains { y in
          screen.pixel(window.x + x, window.y + y)[0...2].min() ?? 0 > 150
        }
      }
    }
    #expect(try await hasWhite(81..<100))
    #expect(try await !hasWhite(222..<240))
    try await click(button(0))
    #expect(try await eventually { try await hasWhite(222..<240) })
    try await click(button(1))
    #expect(try await eventually { try await !showsOwnPicture() })
    let hand = (x: button(2) - 11, y: window.height - 11)
    #expect(try await !isBlue(hand.x, hand.y))
    try await click(button(2))
    #expect(try await eventually { try await isBlue(hand.x, hand.y) })
    try await click(button(1))
    #expect(try await eventually { try await showsOwnPicture() })
    // Hanging up ends the program.
    try await click(button(3))
    try await expectEnd(of: example)
  }

  private func expectEnd(
    of example: RunningProgram, byClosing window: XServer.Window, of server: XServer
  ) async throws {
    try await server.tool("wmctrl", "-i", "-c", window.id)
    try await expectEnd(of: example)
  }

  private func expectEnd(of example: RunningProgram) async throws {
    let result = try await example.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    #expect(!result.errors.contains("CRITICAL"), "\(result.errors)")
  }

  private func press(_ key: String, in window: XServer.Window, of server: XServer) async throws {
    try await server.tool("xdotool", "windowactivate", "--sync", window.id, "key", key)
  }

  private func isYellow(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    let pixel = image.pixel(x, y)
    return pixel[2] > 150 && pixel[1] > 150 && pixel[0] < 100
  }
}
