import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of monitors that have a fractional number of pixels for each unit.
struct WaylandScaleTests {
  enum Compositor: String, CaseIterable, CustomTestStringConvertible {
    /// KWin announces the scale by wp_fractional_scale.
    case kwin
    /// Version 1.7 of sway announces the scale only by the monitor's size in units.
    case sway

    var testDescription: String { rawValue }
    var isInstalled: Bool { self == .kwin ? KWinServer.isInstalled : WaylandServer.isInstalled(.sway) }

    func start(scale: Double) async throws -> any DesktopServer {
      switch self {
      case .kwin: try await KWinServer(scale: scale)
      case .sway: try await WaylandServer(.sway, scale: scale)
      }
    }
  }

  @Test(arguments: Compositor.allCases.filter(\.isInstalled), [1.25, 1.5, 1.75])
  func aFrameOfTheWindowsSizeInPixelsIsShownPixelForPixel(on compositor: Compositor, scale: Double) async throws {
    let desktop = try await compositor.start(scale: scale)
    let pixels = { (units: Int) in Int((Double(units) * scale).rounded()) }
    let (margin, width, height) = (pixels(16), pixels(320), pixels(180))
    // Red and green pixels alternate, so any scaling would change the colours.
    let demo = try Demo.start(
      [
        "play",
        "videotestsrc pattern=checkers-1 ! video/x-raw,format=BGRx,width=\(width),height=\(height),framerate=30/1 "
          + "! appsink name=a",
        "--surface", "window", "--mode", "pip", "--pip-stream", "a", "--pip-corner", "top-left", "--pip-size",
        "320x180",
      ], environment: desktop.environment)
    var wrong: [(x: Int, y: Int, pixel: [UInt8])] = []
    let isExact = try await eventually {
      let screen = try await desktop.screen.screenshot()
      wrong = []
      for y in 0..<height {
        for x in 0..<width {
          let pixel = Array(screen.pixel(margin + x, margin + y)[0..<3])
          if pixel != ((x + y) % 2 == 0 ? [0, 0, 255] : [0, 255, 0]) { wrong.append((x, y, pixel)) }
        }
      }
      return wrong.isEmpty
    }
    #expect(isExact, "\(wrong.count) of \(width * height) pixels, \(wrong.prefix(4))")
    demo.stop()
    desktop.stop()
  }

  /// Writes a theme whose only cursor is a green square with the given number of pixels on each side.
  private func writeCursorTheme(named name: String, in folder: TemporaryFolder, size: Int) throws {
    let cursors = folder.path("\(name)/cursors")
    try FileManager.default.createDirectory(atPath: cursors, withIntermediateDirectories: true)
    // The form of Xcursor: a header, a table with one entry, and one image.
    let header = [0x7275_6358, 16, 0x10000, 1, 0xFFFD_0002, size, 28]
    let image = [36, 0xFFFD_0002, size, 1, size, size, 0, 0, 0] + Array(repeating: 0xFF00_FF00, count: size * size)
    let bytes = (header + image).flatMap { number in (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } }
    try Data(bytes).write(to: URL(fileURLWithPath: "\(cursors)/left_ptr"))
  }

  /// The surface of a cursor may not have a size that is no multiple of its scale: the compositor ends the connection.
  @Test(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), arguments: [24, 25])
  func aCursorOfAnySizeIsShownAtScaleTwo(size: Int) async throws {
    let server = try await WaylandServer(.sway, scale: 2)
    // Newer compositors draw the shapes themselves (cursor-shape-v1), in their own theme.
    let display = try #require(server.environment["XDG_RUNTIME_DIR"]) + "/wayland-1"
    let isDrawnByCompositor = try await MainActor.run {
      let connection = try WaylandConnection.shared(display)
      return withExtendedLifetime(connection) { connection.globals.cursorShapeManager != nil }
    }
    guard !isDrawnByCompositor else { return server.stop() }
    let folder = try TemporaryFolder()
    try writeCursorTheme(named: "test", in: folder, size: size)
    let environment = ["XCURSOR_PATH": folder.url.path, "XCURSOR_THEME": "test"]
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=black ! video/x-raw,width=320,height=180 ! appsink name=a", "--mode", "pip",
        "--pip-corner", "top-left",
      ], environment: server.environment.merging(environment) { $1 })
    let isShown = try await eventually {
      try await server.screen.tool("xdotool", "mousemove", "200", "150", "mousemove", "210", "160")
      let picture = try await server.screenshot(withCursor: true)
      return Array(picture.pixel(214, 164)[0..<3]) == [0, 255, 0]
    }
    #expect(isShown)
    demo.interrupt()
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 0, "\(result.errors)")
    server.stop()
  }

  @Test func halvesOfAWindowLieSideBySideAtEveryScaleAndSize() {
    for scale in [1, 1.25, 1.5, 1.75, 2, 2.25] {
      for units in 96...400 {
        let width = Int(nearest: Double(units) * scale)
        let half = width / 2
        let left = WaylandTile.Place(pixels: PictureRect(x: 0, y: 0, width: half, height: 90), scale: scale)
        let right = WaylandTile.Place(
          pixels: PictureRect(x: half, y: 0, width: width - half, height: 90), scale: scale)
        #expect(left.units.x == 0 && left.units.width == right.units.x && right.units.x + right.units.width == units)
        #expect(left.pixels.width + right.pixels.width == width)
      }
    }
  }
}
