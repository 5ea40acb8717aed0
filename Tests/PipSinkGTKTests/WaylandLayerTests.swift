import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of picture-in-picture windows on the overlay layer of a real Wayland compositor.
@Suite(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
struct WaylandLayerTests {
  /// Whether a place shows only the background colour of the workspace, 204060.
  private func isEmpty(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    zip(image.pixel(x, y), [0x60, 0x40, 0x20]).allSatisfy { abs(Int($0) - $1) < 8 }
  }

  private func isWhite(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    image.pixel(x, y)[0..<3].allSatisfy { $0 > 180 }
  }

  @Test func twoWindowsInOneCornerLieOneOverTheOther() async throws {
    let server = try await WaylandServer(.sway)
    let example = try await startGTKCall(server)
    // Both windows open by themselves, in any order. One shows bars, of which the first is white. The other one is
    // black with a white ball.
    try await server.swaymsg("workspace", "2")
    let (left, lower, upper) = (1024 - 16 - 320, 768 - 16 - 240, 768 - 16 - 240 - 8 - 240)
    let isBlack = { (image: BGRAImage, x: Int, y: Int) in image.pixel(x, y)[0..<3].allSatisfy { $0 < 40 } }
    let areShown = { (screen: BGRAImage, bars: Int, ball: Int) in
      isWhite(screen, left + 3, bars + 3) && isBlack(screen, left + 2, ball + 2)
    }
    var screen = try await server.screenshot()
    #expect(
      try await eventually {
        screen = try await server.screenshot()
        return areShown(screen, lower, upper) || areShown(screen, upper, lower)
      })
    let (bars, ball) = areShown(screen, lower, upper) ? (lower, upper) : (upper, lower)
    // Each window has its whole height. There is a gap between the two, and there are margins around them.
    #expect(isWhite(screen, left + 3, bars + 150) && isBlack(screen, left + 317, ball + 237))
    for (x, y) in [
      (left + 30, lower - 4), (left + 30, upper - 4), (left - 4, lower + 30), (left - 4, upper + 30),
      (left + 324, lower + 30), (left + 30, lower + 244),
    ] { #expect(isEmpty(screen, x, y), "\(x), \(y)") }
    example.stop()
  }

  /// Starts `examples/gtk-call` and waits until its window is shown.
  private func startGTKCall(_ server: WaylandServer) async throws -> RunningProgram {
    let example = try RunningProgram(
      URL(fileURLWithPath: Demo.path).deletingLastPathComponent().appendingPathComponent("gtk-call").path, [],
      environment: server.environment)
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"Call\"") })
    #expect(try await eventually { try await !isEmpty(server.screenshot(), 300, 100) })
    return example
  }

  @Test func theGTKCallsWindowIsShownForAClickInAPictureInPictureWindow() async throws {
    let server = try await WaylandServer(.sway)
    let example = try await startGTKCall(server)
    try await server.swaymsg("workspace", "2")
    // The lower window is 320x240 and in the corner. The upper one is there when its place is not empty.
    let (left, top) = (1024 - 16 - 320, 768 - 16 - 240)
    #expect(
      try await eventually {
        let screen = try await server.screenshot()
        return !isEmpty(screen, left + 160, top + 120) && !isEmpty(screen, left + 160, top - 128)
      })
    #expect(try await server.focusedWorkspace() != "1")
    let corner = { try await server.screenshot().cropped(x: left + 284, y: top + 4, width: 32, height: 32).bytes }
    let before = try await corner()
    try await server.outer.tool("xdotool", "mousemove", "\(left + 300)", "\(top + 24)")
    try await server.outer.tool("xdotool", "mousemove", "\(left + 300)", "\(top + 20)")
    // The test clicks only when the button is there. The stream's picture does not change in this corner, so any change
    // is the button.
    #expect(try await eventually { try await corner() != before })
    try await server.outer.tool("xdotool", "click", "1")
    #expect(try await eventually { try await server.focusedWorkspace() == "1" }, "\(example.errors)")
    // The app is now in the foreground, so no picture-in-picture window remains.
    try await server.outer.tool("xdotool", "mousemove", "20", "20")
    try await server.swaymsg("[title=\"Call\"]", "floating", "enable")
    try await server.swaymsg("[title=\"Call\"]", "move", "position", "0", "0")
    #expect(try await eventually { try await isEmpty(server.screenshot(), left + 310, top + 230) })
    #expect(example.isRunning)
    example.stop()
  }

  @Test func whereThereIsNoPointerTheGTKCallGoesOnAllTheSame() async throws {
    let server = try await WaylandServer(.sway, hasPointer: false)
    let example = try await startGTKCall(server)
    try await server.swaymsg("workspace", "2")
    let isSeen = {
      let screen = try await server.screenshot()
      return !isEmpty(screen, 1024 - 16 - 160, 768 - 16 - 120)
    }
    #expect(try await eventually { try await isSeen() })
    try await server.swaymsg("workspace", "1")
    #expect(try await eventually { try await !isEmpty(server.screenshot(), 300, 100) })
    try await server.swaymsg("workspace", "2")
    #expect(try await eventually { try await isSeen() })
    #expect(example.isRunning, "\(example.errors)")
    example.stop()
  }

  @Test func aWindowIsNoWiderThanTheScreenLessItsMargins() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=white ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a",
        "--surface", "window", "--mode", "pip", "--pip-corner", "top-left", "--pip-size", "4000x2250",
      ], environment: server.environment)
    #expect(try await eventually { try await server.swaymsg("-t", "get_tree").contains("\"name\": \"PipSink\"") })
    // The app's window remains on the other workspace.
    try await server.swaymsg("workspace", "2")
    // The window is 992x558.
    var screen = try await server.screenshot()
    #expect(
      try await eventually {
        screen = try await server.screenshot()
        return isWhite(screen, 500, 300) && isEmpty(screen, 500, 700)
      })
    for (x, y) in [(20, 20), (1003, 20), (20, 569), (1003, 569)] { #expect(isWhite(screen, x, y), "\(x), \(y)") }
    for (x, y) in [(12, 300), (1012, 300), (500, 12), (500, 578)] { #expect(isEmpty(screen, x, y), "\(x), \(y)") }
    demo.stop()
  }
}
