import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests what a Wayland compositor shows of windows whose pictures are on surfaces of their own.
@Suite(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"))
struct WaylandPixelTests {
  private static let pipeline = [("a", "I420", 640, 360), ("b", "YUY2", 642, 481), ("c", "NV12", 360, 640)]
    .map { name, format, width, height in
      "videotestsrc pattern=smpte75 ! video/x-raw,format=\(format),width=\(width),height=\(height),framerate=15/1 "
        + "! appsink name=\(name)"
    }.joined(separator: " ")

  /// The size of a tile, a quarter of the screen.
  private static let tile = PictureSize(width: 512, height: 384)

  @Test(arguments: zip([VideoGravity.resizeAspect, .resizeAspectFill, .resize], [1, 2, 2]))
  func aWindowShowsWhatTheOffscreenPictureShows(gravity: VideoGravity, scale: Int) async throws {
    let expected = try await Demo.offscreenPictures(
      of: Self.pipeline, streams: ["a", "b", "c"], size: Self.tile, gravity: gravity)

    let server = try await WaylandServer(.sway)
    try await server.swaymsg("output", "*", "scale", "\(scale)")
    let demo = try Demo.start(
      ["play", Self.pipeline, "--surface", "window", "--gravity", gravity.rawValue], environment: server.environment)
    var measured: [Double] = []
    let isAlike = try await eventually {
      let screen = try await server.screenshot()
      guard screen.size == PictureSize(width: 1024, height: 768) else { return false }
      measured = zip(GridLayout.rectangles(count: 3, in: screen.size), expected).flatMap { rectangle, expected in
        // The stream's name covers the lower left corner. The parts around it are surfaces of their own.
        let parts = [
          PictureRect(x: 0, y: 0, width: rectangle.width, height: rectangle.height - 32 * scale),
          PictureRect(x: rectangle.width / 2, y: 0, width: rectangle.width / 2, height: rectangle.height),
        ]
        return parts.map { part in
          screen.cropped(x: rectangle.x + part.x, y: rectangle.y + part.y, width: part.width, height: part.height)
            .psnr(to: expected.cropped(x: part.x, y: part.y, width: part.width, height: part.height))
        }
      }
      let hasNames = GridLayout.rectangles(count: 3, in: screen.size).allSatisfy { rectangle in
        screen.pixel(rectangle.x + 3 * scale, rectangle.y + rectangle.height - 3 * scale)[0..<3].allSatisfy {
          $0 == 0x1C
        }
      }
      return hasNames && measured.allSatisfy { $0 >= 40 }
    }
    #expect(isAlike, "\(measured) dB \(demo.errors)")
    demo.stop()
  }

  /// Compositors enlarge with filters of their own, which are alike for pictures without edges.
  @Test func whatTheCompositorEnlargesLooksTheSame() async throws {
    let pipeline =
      "videotestsrc pattern=gradient ! video/x-raw,format=I420,width=160,height=120,framerate=15/1 ! appsink name=a"
    let server = try await WaylandServer(.sway)
    var pictures: [BGRAImage] = []
    for scaling in ["program", "compositor"] {
      let demo = try Demo.start(
        [
          "play", pipeline, "--surface", "window", "--mode", "pip", "--pip-corner", "top-left", "--pip-size", "480x360",
        ], environment: server.environment.merging(["PIPSINK_WAYLAND_SCALING": scaling, "WAYLAND_DEBUG": "1"]) { $1 })
      var (picture, newest): (BGRAImage?, BGRAImage?) = (nil, nil)
      let isStill = try await eventually {
        newest = try await server.screenshot().cropped(x: 16, y: 16, width: 480, height: 360)
        defer { picture = newest }
        guard let newest, picture?.bytes == newest.bytes else { return false }
        // One side is black, and the other one white.
        return abs(Int(newest.pixel(20, 20)[0]) - Int(newest.pixel(460, 340)[0])) > 150
      }
      #expect(isStill, "\(scaling)")
      pictures.append(try #require(picture))
      demo.interrupt()
      let result = try await demo.result(seconds: 60)
      let hasSmallPictures = result.errors.contains(/create_buffer\(new id wl_buffer.\d+, 0, 160, 120,/)
      #expect(hasSmallPictures == (scaling == "compositor"))
    }
    let psnr = pictures[1].psnr(to: pictures[0])
    #expect(psnr >= 38, "\(psnr) dB")
  }

  @Test func theControlsAreBlendedWithThePictureAndLeaveItWhole() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=white ! video/x-raw,width=640,height=360,framerate=30/1 ! appsink name=a",
        "--surface", "window", "--mode", "pip", "--pip-stream", "a", "--pip-corner", "top-left", "--pip-size",
        "320x180",
      ], environment: server.environment)
    // This pixel is in the box of the controls, beside the icons of the buttons.
    let corner = (x: 16 + 9, y: 16 + 9)
    let shows = { (range: ClosedRange<UInt8>) in
      try await eventually {
        let screen = try await server.screenshot()
        return screen.pixel(corner.x, corner.y)[0..<3].allSatisfy { range.contains($0) }
          && screen.pixel(16 + 160, 16 + 90)[0..<3].allSatisfy { $0 > 240 }
      }
    }
    #expect(try await shows(241...255))
    try await server.outer.tool("xdotool", "mousemove", "200", "100")
    try await server.outer.tool("xdotool", "mousemove", "202", "102")
    #expect(try await shows(80...120))
    try await server.outer.tool("xdotool", "mousemove", "700", "600")
    #expect(try await shows(241...255))
    demo.stop()
  }

  @Test func aWindowInWhichNothingMovesIsNotTakenForHidden() async throws {
    let server = try await WaylandServer(.sway)
    let demo = try Demo.start(
      [
        "play", "videotestsrc pattern=white ! video/x-raw,width=640,height=360,framerate=1/2 ! appsink name=a",
        "--surface", "window", "--auto-pip", "--report", "-",
      ], environment: server.environment)
    #expect(
      try await eventually { try await server.screenshot().pixel(512, 300)[0..<3].allSatisfy { $0 > 240 } })
    // On a busy machine the status line, which comes every second, is some tenths of a second late.
    let isFiveSecondsOn = await demo.wait { program in
      (program.errors + program.output).firstMatch(of: #/\n +([5-9]|\d\d)\.\d s /#) != nil
    }
    #expect(isFiveSecondsOn, "\(demo.errors)")
    try await server.swaymsg("workspace", "2")
    let (left, top) = (1024 - 16 - 320, 768 - 16 - 180)
    #expect(
      try await eventually {
        try await server.screenshot().pixel(left + 160, top + 90)[0..<3].allSatisfy { $0 > 240 }
      })
    demo.interrupt()
    let events = try await demo.result(seconds: 30).report().pictureInPictureEvents.map(\.event)
    #expect(events.filter { $0.hasPrefix("did") } == ["didStart"])
  }
}
