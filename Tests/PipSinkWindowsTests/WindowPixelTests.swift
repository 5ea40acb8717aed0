import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Compares the pictures on the screen with the offscreen pictures of the same streams.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct WindowPixelTests {
  /// The streams are 16:9, 4:3 with an odd size, portrait, and one that has to be rotated.
  private static let pipeline = [
    ("a", "format=I420,width=640,height=360"), ("b", "format=YUY2,width=642,height=481"),
    ("c", "format=NV12,width=360,height=640"), ("d", "format=BGRA,width=640,height=360"),
  ].map { name, caps in
    let tag = name == "d" ? "! taginject tags=image-orientation=rotate-90 " : ""
    return "videotestsrc pattern=smpte75 ! video/x-raw,\(caps),framerate=15/1 \(tag)! appsink name=\(name)"
  }.joined(separator: " ")

  private static let tile = PictureSize(width: 480, height: 270)

  @Test(arguments: VideoGravity.allCases, [1, 2])
  func aWindowShowsWhatTheOffscreenPictureShows(gravity: VideoGravity, scale: Int) async throws {
    try await expectOffscreenPictures(on: XServer(), gravity, scale: scale)
  }

  /// Screens for photographers.
  @Test func aScreenWithTenBitsForEachColorShowsTheSamePictures() async throws {
    try await expectOffscreenPictures(on: XServer(depth: 30), .resizeAspect, scale: 1)
  }

  /// No library for OpenGL is opened where nobody has asked for it.
  @Test(arguments: [nil, "gl"])
  func theRendererThatTheDemoIsAskedForDraws(renderer: String?) async throws {
    try await expectOffscreenPictures(on: XServer(), .resizeAspect, scale: 1, renderer)
  }

  private func expectOffscreenPictures(
    on server: XServer, _ gravity: VideoGravity, scale: Int, _ renderer: String? = nil
  ) async throws {
    let expected = try await Demo.offscreenPictures(
      of: Self.pipeline, streams: ["a", "b", "c", "d"], size: Self.tile, gravity: gravity)
    let size = PictureSize(width: 2 * Self.tile.width / scale, height: 2 * Self.tile.height / scale)
    let demo = try Demo.start(
      ["play", Self.pipeline, "--surface", "window", "--window-size", "\(size)", "--gravity", gravity.rawValue]
        + (renderer.map { ["--renderer", $0] } ?? []),
      environment: server.environment.merging(["GDK_SCALE": "\(scale)"]) { $1 })
    let window = try await server.window("PipSink")
    var measured: [Double] = []
    let isAlike = try await eventually {
      let screen = try await server.screenshot(of: window.id)
      guard screen.size == PictureSize(width: 960, height: 540) else { return false }
      measured = GridLayout.rectangles(count: 4, in: screen.size).enumerated().map { index, rectangle in
        // The stream's name covers the lower end.
        let height = rectangle.height - 32 * scale
        return screen.cropped(x: rectangle.x, y: rectangle.y, width: rectangle.width, height: height)
          .psnr(to: expected[index].cropped(x: 0, y: 0, width: rectangle.width, height: height))
      }
      return measured.allSatisfy { $0 >= 40 }
    }
    #expect(isAlike, "\(measured) dB")
    demo.stop()
  }

  @Test func aMinimizedWindowCostsNoConversion() async throws {
    let server = try await XServer()
    let demo = try Demo.start(
      [
        "play", "videotestsrc ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a", "--surface",
        "window", "--report", "-",
      ], environment: server.environment)
    let window = try await server.window("PipSink")
    #expect(await eventually { (converted(by: demo).last ?? 0) > 5 })
    try await server.tool("xdotool", "windowminimize", window.id)
    #expect(try await eventually { try await server.properties(window, "WM_STATE").contains("Iconic") })
    // The demo prints a status line every second. While frames arrive, the count does not change.
    let lineCount = converted(by: demo).count
    #expect(
      await eventually {
        let counts = converted(by: demo)
        return counts.count >= lineCount + 3 && Set(counts.suffix(3)).count == 1
      })
    let before = try #require(converted(by: demo).last)
    try await server.tool("wmctrl", "-i", "-a", window.id)
    #expect(await eventually { (converted(by: demo).last ?? 0) > before })
    demo.stop()
  }

  /// The number of frames that had been converted for windows at each status line.
  private func converted(by demo: RunningProgram) -> [Int] {
    demo.errors.split(separator: "\n").compactMap { line in
      guard line.hasSuffix(" converted)"), let start = line.lastIndex(of: "(") else { return nil }
      return Int(line[line.index(after: start)...].prefix { $0.isNumber })
    }
  }
}
