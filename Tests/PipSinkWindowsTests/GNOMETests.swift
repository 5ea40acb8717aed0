import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests picture-in-picture on GNOME's Wayland session from outside.
@Suite(.enabled(if: GNOMEServer.isInstalled, "mutter, Xwayland or the X tools are not installed"))
struct GNOMETests {
  private func play(_ server: GNOMEServer, _ arguments: String...) throws -> RunningProgram {
    let red = "videotestsrc pattern=red ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=remote-1"
    return try Demo.start(
      ["play", red, "--surface", "window", "--mode", "pip"] + arguments, environment: server.environment)
  }

  private func isRed(_ server: GNOMEServer, _ x: Int, _ y: Int) async throws -> Bool {
    let pixel = try await server.outer.screenshot().pixel(x, y)
    return pixel[2] > 200 && pixel[1] < 40
  }

  /// The part of the screen that is red, from 0 to 1.
  private func redPart(_ server: GNOMEServer) async throws -> Double {
    let image = try await server.outer.screenshot()
    let places = stride(from: 0, to: image.size.height, by: 16).flatMap { y in
      stride(from: 0, to: image.size.width, by: 16).map { x in image.pixel(x, y) }
    }
    return Double(places.count { $0[2] > 200 && $0[1] < 40 }) / Double(max(1, places.count))
  }

  @Test func theWindowStaysAboveAMaximisedWindowThatHasTheFocus() async throws {
    let server = try await GNOMEServer()
    let demo = try play(server)
    // The window is in its corner, inside the margin.
    #expect(try await eventually { try await isRed(server, 1280 - 16 - 160, 800 - 16 - 90) })
    let other = try server.maximisedWindow()
    /// Whether the screen shows the other window at a place.
    func isGreen(_ x: Int, _ y: Int) async throws -> Bool {
      let pixel = try await server.outer.screenshot().pixel(x, y)
      return pixel[1] > 200 && pixel[2] < 40
    }
    #expect(try await eventually { try await isGreen(1200, 300) }, "\(other.errors)")
    // The app's window may have opened later. A click beside it gives the other window the focus.
    try await server.outer.tool("xdotool", "mousemove", "1200", "301", "mousemove", "1200", "300", "click", "1")
    #expect(try await eventually { try await isGreen(640, 400) })
    for _ in 0..<5 { #expect(try await isRed(server, 1280 - 16 - 160, 800 - 16 - 90)) }
    other.stop()
    demo.stop()
  }

  @Test func theAppsWindowIsWaylandsAndTheOtherOneIsX11s() async throws {
    let server = try await GNOMEServer()
    let demo = try play(server)
    #expect(try await eventually { try await server.pictureInPictureRectangle() != nil })
    let tree = try await RunningProgram("/usr/bin/xwininfo", ["-root", "-tree"], environment: server.environment)
      .result(seconds: 30).output
    #expect(!tree.contains("\"PipSink\""), "\(tree)")
    let doctor = try await Demo.start(["doctor"], environment: server.environment).result(seconds: 60)
    let reason = "the compositor has no layer-shell; it is a window of its Xwayland"
    #expect(doctor.output.contains("ok       always on top: \(reason)\n"), "\(doctor.output)")
    demo.stop()
  }

  @Test func itIsDraggedToAnotherCornerAndClosedByItsButton() async throws {
    let server = try await GNOMEServer()
    let demo = try play(server)
    // The app's window shows the picture first, and may cover the place.
    #expect(
      try await eventually { try await server.pictureInPictureRectangle() != nil },
      "\(demo.isRunning ? "the demo runs" : "the demo has ended"): \(demo.errors)")
    #expect(try await eventually { try await redPart(server) < 0.1 })
    #expect(try await eventually { try await isRed(server, 1280 - 16 - 160, 800 - 16 - 90) })
    // On a busy machine mutter, in a window of an X server, gives some presses to no window: the window hears of the
    // pointer's motion alone, so that a user has to drag again.
    #expect(
      try await eventually {
        try await server.outer.drag(from: (1280 - 16 - 160, 800 - 16 - 90), to: (200, 200))
        return try await eventually(within: 3) {
          guard let rectangle = try await server.pictureInPictureRectangle() else { return false }
          return (rectangle.x, rectangle.y) == (16, 16)
        }
      }, "\(demo.errors)")
    #expect(try await eventually { try await isRed(server, 16 + 160, 16 + 90) })
    #expect(try await redPart(server) < 0.1)
    // The close button in the upper left corner appears when the pointer moves, and disappears when the pointer rests.
    // After the click the app's window, which is below, shows its picture again. On a busy machine the compositor may
    // show the pointer's motion so late that a user has to click again.
    #expect(
      try await eventually(within: 60) {
        try await server.outer.tool(
          "xdotool", "mousemove", "60", "100", "mousemove", "36", "37", "sleep", "0.4", "click", "1")
        return try await eventually(within: 3) { try await redPart(server) > 0.3 }
      })
    #expect(demo.isRunning)
    demo.stop()
  }

  @Test func aWindowOfAnotherKindIsHadWhereTheUserWantsIt() async throws {
    let server = try await GNOMEServer()
    let environment = server.environment.merging(["PIPSINK_PIP_WINDOW": "toplevel"]) { $1 }
    let doctor = try await Demo.start(["doctor"], environment: environment).result(seconds: 60)
    let reason = "other windows can cover it: PIPSINK_PIP_WINDOW asks for toplevel"
    #expect(doctor.output.contains("limited  always on top: \(reason)\n"), "\(doctor.output)")
  }
}
