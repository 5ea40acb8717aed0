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
