import Foundation
import Testing

@testable import PipSink

/// Picture-in-picture windows on the overlay layer of a real Wayland compositor.
@Suite(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
struct WaylandLayerTests {
  /// Nothing but the workspace's own colour, 204060.
  private func isEmpty(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    zip(image.pixel(x, y), [0x60, 0x40, 0x20]).allSatisfy { abs(Int($0) - $1) < 8 }
  }

  private func isWhite(_ image: BGRAImage, _ x: Int, _ y: Int) -> Bool {
    image.pixel(x, y)[0..<3].allSatisfy { $0 > 180 }
  }

  @Test func twoWindowsInOneCornerLieOneOverTheOther() async throws {
    let server = try await WaylandServer(.sway)
    let example = try await startGTKCall(server)
    // Both start by themselves, in any order: one with bars, of which the first is white, the other black with a white ball.
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
    // Each has its whole height, with a gap between them and the margins around.
    #expect(isWhite(screen, left + 3, bars + 150) && isBlack(screen, left + 317, ball + 237))
    for (x, y) in [
      (left + 30, lower - 4), (left + 30, upper - 4), (left - 4, lower + 30), (left - 4, upper + 30),
      (left + 324, lower + 30), (left + 30, lower + 244),
    ] { #expect(isEmpty(screen, x, y), "\(x), \(y)") }
    example.stop()
  }

  /// `examples/gtk-call`, whose window is shown.
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
    // The lower one of the two, 320x240 in its corner; the one above it is there when its place is not empty.
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
    // A click before the button is there would be none on it. What plays there does not move in this corner.
    #expect(try await eventually { try await corner() != before })
    try await server.outer.tool("xdotool", "click", "1")
    #expect(try await eventually { try await server.focusedWorkspace() == "1" }, "\(example.errors)")
    // It is seen to be in the foreground, so that nothing is left of picture-in-picture.
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
    // The app's window stays behind.
    try await server.swaymsg("workspace", "2")
    // 992x558.
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
