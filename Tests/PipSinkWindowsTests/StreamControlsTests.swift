import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of the app's windows on X11: the picture-in-picture button over each stream, its key, and what remains after
/// closing.
@Suite(
  .enabled(
    if: Plugin.isUsable && XServer.isInstalled,
    "a plugin with a sanitizer cannot be loaded, or Xvfb, openbox and the X tools are not installed"))
struct StreamControlsTests {
  private static let title = "Picture-in-Picture"

  /// The middle of the button in the upper right corner of a stream's place.
  private func button(of place: PictureRect, in window: XServer.Window) -> (x: Int, y: Int) {
    (window.x + place.x + place.width - 20, window.y + place.y + 20)
  }

  private func place(_ index: Int, of count: Int, in window: XServer.Window) -> PictureRect {
    GridLayout.rectangles(count: count, in: PictureSize(width: window.width, height: window.height))[index]
  }

  private func hover(_ place: PictureRect, in window: XServer.Window, of server: XServer) async throws {
    let (x, y) = (window.x + place.x + place.width / 2, window.y + place.y + place.height / 2)
    try await server.tool("xdotool", "mousemove", "\(x)", "\(y)", "mousemove_relative", "5", "5")
  }

  /// Whether the white upper line of the button's icon is there.
  private func showsButton(at button: (x: Int, y: Int), of server: XServer) async throws -> Bool {
    let pixel = try await server.screenshot().pixel(button.x, button.y - 6)
    return pixel[0] > 150 && pixel[1] > 150 && pixel[2] > 150
  }

  /// Moves the pointer into a place, waits for its button, and presses it.
  private func press(_ place: PictureRect, in window: XServer.Window, of server: XServer) async throws {
    let button = button(of: place, in: window)
    try await hover(place, in: window, of: server)
    #expect(try await eventually { try await showsButton(at: button, of: server) })
    try await server.tool("xdotool", "mousemove", "\(button.x)", "\(button.y)", "click", "1")
  }

  @Test func theButtonOverAnElementsStreamTakesItToPictureInPictureAndBack() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    let launch = try Plugin.launch(
      "videotestsrc pattern=red ! video/x-raw,width=320,height=180 ! pipsink stream-id=a", folder,
      environment: server.environment, options: ["-m"])
    let window = try await server.window("gst-launch-1.0")
    let place = place(0, of: 1, in: window)
    let button = button(of: place, in: window)
    // The pointer starts outside of the window.
    try await server.tool("xdotool", "mousemove", "1", "1")
    #expect(
      try await eventually {
        try await server.screenshot().pixel(window.x + window.width / 2, window.y + window.height / 2)[2] > 200
      })
    #expect(try await !showsButton(at: button, of: server))
    try await press(place, in: window, of: server)
    _ = try await server.window(Self.title)
    #expect(await launch.wait(forText: "pip-did-start"))
    // The button is hidden again when the pointer has left the window.
    try await press(place, in: window, of: server)
    #expect(try await eventually { try await server.windows().count == 1 })
    #expect(await launch.wait(forText: "pip-did-stop"))
    try await server.tool("xdotool", "mousemove", "1", "1")
    #expect(try await eventually { try await !showsButton(at: button, of: server) })
    launch.stop()
  }

  @Test func eachStreamOfTheDemoHasItsOwn() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    let source = "videotestsrc is-live=true pattern=red ! video/x-raw,width=320,height=180 ! appsink name="
    let file = folder.path("two.launch")
    try "\(source)one \(source)two".write(toFile: file, atomically: true, encoding: .utf8)
    let demo = try Demo.start(["play", "--pipeline", file], environment: server.environment)
    let window = try await server.window("PipSink")
    try await press(place(1, of: 2, in: window), in: window, of: server)
    _ = try await server.window("\(Self.title): two")
    try await press(place(0, of: 2, in: window), in: window, of: server)
    _ = try await server.window("\(Self.title): one")
    demo.stop()
  }

  @Test func theKeyOfAnElementsWindowsTogglesPictureInPicture() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    let launch = try Plugin.launch(
      "videotestsrc ! pipsink stream-id=a", folder, environment: server.environment, options: ["-m"])
    try await server.tool("xdotool", "mousemove", "1", "1")
    let window = try await server.window("gst-launch-1.0")
    try await server.tool("xdotool", "windowactivate", "--sync", window.id, "key", "p")
    let pictureInPicture = try await server.window(Self.title)
    try await server.giveKeyboard(to: pictureInPicture)
    try await server.key("p")
    #expect(try await eventually { try await server.windows().map(\.id) == [window.id] })
    // This key sends no event to the pipeline, but other keys do.
    try await server.tool("xdotool", "mousemove", "1", "1")
    #expect(!launch.output.contains("GstNavigationMessage"))
    try await server.tool("xdotool", "windowactivate", "--sync", window.id, "key", "n")
    #expect(await launch.wait(forText: "GstNavigationMessage"))
    launch.stop()
  }

  @Test func closingAnElementsPictureInPictureWindowOpensNoOther() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    let launch = try Plugin.launch(
      "videotestsrc ! pipsink stream-id=a mode=pip", folder, environment: server.environment, options: ["-m"])
    let window = try await server.window(Self.title)
    #expect(await launch.wait(forText: "pip-did-start"))
    try await server.tool("wmctrl", "-i", "-c", window.id)
    #expect(await launch.wait(forText: "pip-did-stop"))
    #expect(try await eventually { try await server.windows().isEmpty })
    #expect(try await !eventually(within: 1) { try await !server.windows().isEmpty })
    #expect(launch.isRunning)
    launch.stop()
  }

  @Test func aKeyBringsAStreamThatWasInPictureInPictureFromTheStartToTheApp() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    let launch = try Plugin.launch(
      "videotestsrc ! pipsink stream-id=a mode=pip", folder, environment: server.environment, options: ["-m"])
    let window = try await server.window(Self.title)
    #expect(await launch.wait(forText: "pip-did-start"))
    try await server.giveKeyboard(to: window)
    try await server.key("p")
    _ = try await server.window("gst-launch-1.0")
    launch.stop()
  }
}
