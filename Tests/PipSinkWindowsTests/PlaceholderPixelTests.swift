import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests from outside what is shown in the place of a picture: no pixel of the picture may remain. The stream is green,
/// and nothing else on the screens is green.
@Suite(
  .enabled(
    if: XServer.isInstalled && SessionBus.isInstalled,
    "Xvfb, openbox, the X tools, dbus-daemon, gdbus, playerctl or python3 is not installed"),
  .timeLimit(.minutes(10)))
struct PlaceholderPixelTests {
  private static func source(_ name: String, _ pattern: String, _ options: String = "") -> String {
    "videotestsrc is-live=true pattern=\(pattern) \(options) ! video/x-raw,width=320,height=180,framerate=30/1 "
      + "! appsink name=\(name) "
  }

  /// A place for pictures in a screenshot. It tells whether the picture and the microphone's mark are visible.
  private struct Place {
    let screenshot: () async throws -> BGRAImage

    func has(picture: Bool, mark: Bool) async throws -> Bool {
      try await eventually {
        let image = try await screenshot()
        let corner = image.cropped(x: image.size.width - 24, y: image.size.height - 24, width: 24, height: 24)
        return image.isGreenSomewhere == picture && corner.isRedSomewhere == mark
      }
    }
  }

  /// Switches the camera and the microphone off and on again, and checks the place.
  private func check(_ place: Place, _ bus: SessionBus) async throws {
    #expect(try await place.has(picture: true, mark: false))
    _ = try await bus.call("SetMicrophoneState", "a", "off")
    #expect(try await place.has(picture: true, mark: true))
    _ = try await bus.call("SetCameraState", "a", "off")
    #expect(try await place.has(picture: false, mark: true))
    // A text in the middle says that the camera is off. The text has a light colour.
    #expect(
      try await eventually {
        let image = try await place.screenshot()
        let (width, height) = (image.size.width, image.size.height)
        return image.cropped(x: width / 4, y: height / 2 - 30, width: width / 2, height: 60).isLightSomewhere
      })
    _ = try await bus.call("SetMicrophoneState", "a", "on")
    #expect(try await place.has(picture: false, mark: false))
    _ = try await bus.call("SetCameraState", "a", "on")
    #expect(try await place.has(picture: true, mark: false))
  }

  @Test func onX11ACameraAndAMicrophoneThatAreOffAreSeenAndNoPixelOfThePicture() async throws {
    let server = try await XServer()
    let bus = try await SessionBus()
    let demo = try await bus.startSession([Self.source("a", "green")], on: server)
    let app = try await server.window("PipSink")
    let inApp = Place { try await server.screenshot(of: app.id) }
    try await check(inApp, bus)
    _ = try await bus.call("Enable", "a")
    let window = try await server.window("Picture-in-Picture: a")
    try await check(Place { try await server.screenshot(of: window.id) }, bus)
    // The app's window says where the picture is, and shows none of it. The other window is above it.
    #expect(
      try await eventually {
        let screen = try await server.screenshot(of: app.id)
        return !screen.cropped(x: 0, y: 0, width: screen.size.width / 2, height: screen.size.height).isGreenSomewhere
      })
    demo.stop()
  }

  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), arguments: [1, 2])
  func onSwayACameraAndAMicrophoneThatAreOffAreSeenAndNoPixelOfThePicture(scale: Int) async throws {
    let server = try await WaylandServer(.sway)
    try await server.swaymsg("output", "*", "scale", "\(scale)")
    let bus = try await SessionBus()
    let demo = try Demo.start(
      ["play", Self.source("a", "green"), "--dbus", "--surface", "window", "--pip-corner", "bottom-right"],
      environment: bus.environment.merging(server.environment) { $1 })
    #expect(await demo.wait(forText: "On the session bus"))
    // The app's window fills the screen.
    try await check(Place { try await server.screenshot() }, bus)
    _ = try await bus.call("Enable", "a")
    let (width, height) = (320 * scale, 180 * scale)
    let (left, top) = (1024 - 16 * scale - width, 768 - 16 * scale - height)
    let inWindow = Place {
      try await server.screenshot().cropped(x: left, y: top, width: width, height: height)
    }
    try await check(inWindow, bus)
    // This is the part of the app's window above the picture-in-picture window.
    #expect(
      try await eventually {
        try await !server.screenshot().cropped(x: 0, y: 0, width: 1024, height: 340).isGreenSomewhere
      })
    demo.stop()
  }

  @Test func aStreamThatHasEndedLeavesNoPicture() async throws {
    let server = try await XServer()
    let bus = try await SessionBus()
    let demo = try await bus.startSession(
      [
        Self.source("a", "green", "num-buffers=30") + Self.source("b", "white"), "--mode", "pip", "--pip-stream", "a",
        "--pip-end-action", "placeholder",
      ], on: server)
    #expect(try await eventually { try await bus.property("Streams").contains("'a': 'ended'") })
    let window = try await server.window("Picture-in-Picture: a")
    #expect(
      try await eventually {
        let screen = try await server.screenshot()
        let edges = [(2, 2), (317, 177)].map { screen.pixel(window.x + $0, window.y + $1) }
        return !screen.isGreenSomewhere && edges.allSatisfy { $0[0..<3].allSatisfy { $0 == 0x1C } }
      })
    // The picture is not shown in the app either.
    _ = try await bus.call("Stop")
    #expect(
      try await eventually {
        let (windows, screen) = (try await server.windows(), try await server.screenshot())
        return windows.count == 1 && !screen.isGreenSomewhere
      })
    demo.stop()
  }

  @Test func theDemoSwitchesCamerasAndMicrophonesOff() async throws {
    let server = try await XServer()
    let demo = try Demo.start(
      [
        "play", Self.source("a", "green"), "--surface", "window", "--at", "0.5=camera-off:a", "--at",
        "0.5=microphone-off:a",
      ], environment: server.environment)
    let app = try await server.window("PipSink")
    #expect(try await Place { try await server.screenshot(of: app.id) }.has(picture: false, mark: true))
    demo.stop()
  }

  @Test func theDemoShowsTheImageOfSomebodyWhoseCameraIsOff() async throws {
    let (server, folder) = (try await XServer(), try TemporaryFolder())
    let green = [UInt8](repeating: 0, count: 50 * 50 * 4).enumerated().map { UInt8($0.offset % 4 % 2 * 255) }
    try BGRAImage(size: PictureSize(width: 50, height: 50), bytes: green).writePNG(to: folder.path("a.png"))
    let demo = try Demo.start(
      [
        "play", Self.source("a", "white"), "--surface", "window", "--mode", "pip", "--at", "0.5=camera-off:a", "--at",
        "1=image:a=\(folder.path("a.png"))", "--at", "1=image:a=/nowhere.png",
      ], environment: server.environment)
    let window = try await server.window("Picture-in-Picture: a")
    #expect(
      try await eventually {
        let screen = try await server.screenshot(of: window.id)
        // The disc, above the middle.
        return Array(screen.pixel(160, 75)[0..<3]) == [0, 255, 0] && Array(screen.pixel(2, 2)[0..<3]) == [28, 28, 28]
      })
    #expect(await demo.wait(forText: "the picture \"/nowhere.png\" cannot be read: it is not a file"))
    demo.stop()
  }
}

extension BGRAImage {
  /// Whether any pixel has the colour of the test stream.
  fileprivate var isGreenSomewhere: Bool { contains { blue, green, red in green > 120 && blue < 100 && red < 100 } }
  /// Whether any pixel has the colour of the line through the microphone.
  fileprivate var isRedSomewhere: Bool { contains { blue, green, red in red > 190 && blue < 110 && green < 110 } }
  /// Whether any pixel has the colour of the placeholders' text.
  fileprivate var isLightSomewhere: Bool { contains { blue, green, red in red > 200 && blue > 200 && green > 200 } }

  @inline(__always)
  private func contains(_ isWanted: (UInt8, UInt8, UInt8) -> Bool) -> Bool {
    bytes.withUnsafeBufferPointer { bytes in
      var index = 0
      while index < bytes.count {
        if isWanted(bytes[index], bytes[index + 1], bytes[index + 2]) { return true }
        index += 4
      }
      return false
    }
  }
}
