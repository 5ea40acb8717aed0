import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of frames that a Wayland compositor reads where the stream's elements have put them.
@MainActor
struct WaylandFrameTests {
  private nonisolated static let globals = [
    "wp_viewporter", "zwp_linux_dmabuf_v1", "wp_color_representation_manager_v1",
  ]
  private nonisolated static let small = PictureSize(width: 32, height: 18)

  /// Waits until the compositor has got these pictures and no others.
  private func expect(
    _ call: HoldingCompositor, _ shown: [String], location: SourceLocation = #_sourceLocation
  ) async {
    #expect(
      await eventually { call.shown == shown }, "\(call.shown) \(call.compositor.errors)", sourceLocation: location)
    #expect(await eventually { !call.tile.isWaiting }, sourceLocation: location)
  }

  /// libyuv loses a little when it enlarges.
  private func isGray(_ pixel: [UInt8]) -> Bool {
    pixel.elementsEqual([90, 90, 90, 255]) { abs(Int($0) - Int($1)) <= 3 }
  }

  @Test(
    arguments: [
      (.nv12, "bt709", "NV12 32x18 0+32 576+32 part 0,0,32,18 at 64x36 as 2,2: 90"),
      (.nv12, "bt601", "NV12 32x18 0+32 576+32 part 0,0,32,18 at 64x36 as 4,2: 90"),
      (.i420, "bt709", "YU12 32x18 0+32 576+16 720+16 part 0,0,32,18 at 64x36 as 2,2: 90"),
      (.bgrx, nil, "XR24 32x18 0+128 part 0,0,32,18 at 64x36 as RGB: 90"),
      (.bgra, nil, "XR24 32x18 0+128 part 0,0,32,18 at 64x36 as RGB: 90"),
    ] as [(PixelFormat, String?, String)])
  func aFrameInSharedMemoryIsShownWithoutBeingDrawn(
    format: PixelFormat, colorimetry: String?, picture: String
  ) async throws {
    let call = try await HoldingCompositor.start(globals: Self.globals, formats: "NV12:0 YU12:0 XR24:0")
    let description = try VideoFormatDescription.make(format, size: Self.small, colorimetry: colorimetry)
    try call.tile.render(SharedMemoryFrame(description, value: 90).frame(), gravity: .resizeAspect)
    await expect(call, [picture])
    #expect(call.tile.convertedFrameCount == 0)
    // Others still get the picture's pixels.
    let image = try #require(call.tile.image())
    #expect(image.size == PictureSize(width: 64, height: 36))
    if format.isRGB { #expect(isGray(image.pixel(63, 35))) }
    call.end()
  }

  @Test func theVisiblePartOfAPaddedFrameIsShown() async throws {
    let call = try await HoldingCompositor.start(globals: Self.globals, formats: "NV12:0")
    let description = try VideoFormatDescription.make(
      .nv12, size: PictureSize(width: 48, height: 32), colorimetry: "bt709")
    let memory = try SharedMemoryFrame(description, value: 7, start: 4096)
    let frame = try memory.frame(crop: PictureRect(x: 8, y: 4, width: 32, height: 18))
    try call.tile.render(frame, gravity: .resizeAspect)
    await expect(call, ["NV12 48x32 4096+48 5632+48 part 8,4,32,18 at 64x36 as 2,2: 7"])
    // A frame of another shape is cropped, too, where it is to fill the tile.
    try call.release()
    try call.tile.render(memory.frame(), gravity: .resizeAspectFill)
    #expect(await eventually { call.shown.last == "NV12 48x32 4096+48 5632+48 part 0,2,48,27 at 64x36 as 2,2: 7" })
    call.end()
  }

  /// What only the program can do, it does: the compositor gets a picture in memory, at the size of the tile.
  @Test func otherFramesAreDrawn() async throws {
    let call = try await HoldingCompositor.start(globals: Self.globals, formats: "NV12:0 XR24:0")
    try call.release()
    let rgb = try SharedMemoryFrame(VideoFormatDescription.make(.bgrx, size: Self.small), value: 90)
    let direct = "XR24 32x18 0+128 part 0,0,32,18 at 64x36 as RGB: 90"
    var shown: [String] = []
    /// Renders a frame that has to be drawn, between two that have not.
    func draw(_ frame: SampleBuffer, _ gravity: VideoGravity = .resizeAspect, at size: String = "32x18") async throws {
      try call.tile.render(rgb.frame(), gravity: .resizeAspect)
      shown.append(direct)
      await expect(call, shown)
      try call.tile.render(frame, gravity: gravity)
      shown.append("\(size) at 64x36")
      await expect(call, shown)
    }
    var turned = try rgb.frame()
    turned.orientation = VideoOrientation(rotation: .half)
    try await draw(turned)
    var brighter = try rgb.frame()
    brighter.colorBalance.brightness = 500
    try await draw(brighter)
    // There are bars beside a square, and the compositor has no such format or does not know how it becomes RGB.
    let square16 = try VideoFormatDescription.make(.bgrx, size: PictureSize(width: 16, height: 16))
    try await draw(SharedMemoryFrame(square16, value: 90).frame(), at: "28x16")
    try await draw(SharedMemoryFrame(VideoFormatDescription.make(.rgbx, size: Self.small), value: 9).frame())
    let wide = try VideoFormatDescription.make(.nv12, size: Self.small, colorimetry: "bt2020")
    try await draw(SharedMemoryFrame(wide, value: 9).frame())
    try await draw(PlainFrame.make([0, 0, 255]))
    call.end()
  }

  /// Names and controls are a surface of their own over the frame.
  @Test func whatIsOverAFrameIsDrawnWithoutIt() async throws {
    let square = WhiteSquare(isThere: true)
    let call = try await HoldingCompositor.start(square, globals: Self.globals, formats: "XR24:0")
    try call.release()
    let requests = Locked(0)
    call.tile.setNeedsDisplayHandler { requests.withLock { $0 += 1 } }
    let memory = try SharedMemoryFrame(VideoFormatDescription.make(.bgrx, size: Self.small), value: 90)
    let (frame, over) = ("XR24 32x18 0+128 part 0,0,32,18 at 64x36 as RGB: 90", "8x8 at 8x8 over 0,0: ffffffff")
    try call.tile.render(memory.frame(), gravity: .resizeAspect)
    await expect(call, [over, frame])
    // It is drawn when it changes, and not for each frame.
    try call.tile.render(memory.frame(), gravity: .resizeAspect)
    await expect(call, [over, frame, frame])
    square.isThere.withLock { $0 = false }
    call.tile.redraw()
    #expect(requests.withLock { $0 } == 1, "the layer is asked for the frame")
    try call.tile.render(memory.frame(), gravity: .resizeAspect)
    await expect(call, [over, frame, frame, frame])
    square.isThere.withLock { $0 = true }
    try call.tile.render(memory.frame(), gravity: .resizeAspect)
    await expect(call, [over, frame, frame, frame, over, frame])
    #expect(call.tile.convertedFrameCount == 0)
    // The program draws both where it draws the frame, and a window that is half transparent is one picture.
    try call.tile.render(PlainFrame.make([0, 0, 255]), gravity: .resize)
    await expect(call, [over, frame, frame, frame, over, frame, "64x36 at 64x36"])
    call.tile.setOpacity(.max / 2)
    try call.tile.render(memory.frame(), gravity: .resizeAspect)
    await expect(call, [over, frame, frame, frame, over, frame, "64x36 at 64x36", "64x36 at 64x36"])
    call.end()
  }

  /// A surface begins and ends at whole units.
  @Test func aPartOfATileHasAPlaceInUnitsThatContainsIt() throws {
    for scale in [1, 1.25, 1.5, 1.75, 2] {
      for x in 0..<40 {
        let tile = WaylandTile.Place(pixels: PictureRect(x: 33, y: 7, width: 200, height: 120), scale: scale)
        let part = PictureRect(x: x, y: 2 * x, width: 17 + x, height: 9)
        let found = try #require(WaylandDecoration.place(part, in: tile, scale: scale))
        let (place, offset) = (found.place, found.offset)
        let left = { (unit: Int) in Int((Double(unit) * scale).rounded()) }
        #expect(left(place.units.x) + offset.x == left(tile.units.x) + part.x)
        #expect(left(place.units.y) + offset.y == left(tile.units.y) + part.y)
        #expect(left(place.units.x + place.units.width) - left(place.units.x) == place.pixels.width)
        #expect(offset.x >= 0 && offset.x + part.width <= place.pixels.width && Double(offset.x) <= 2 * scale)
        #expect(offset.y >= 0 && offset.y + part.height <= place.pixels.height && Double(offset.y) <= 2 * scale)
      }
    }
    let tile = WaylandTile.Place(pixels: PictureRect(x: 0, y: 0, width: 2, height: 2), scale: 1)
    #expect(WaylandDecoration.place(PictureRect(x: 0, y: 0, width: 1, height: 1), in: tile, scale: 0) == nil)
  }

  @Test func whatTheCompositorRefusesIsDrawnAtOnce() async throws {
    let call = try await HoldingCompositor.start(globals: Self.globals, formats: "XR24:0", refuses: true)
    let memory = try SharedMemoryFrame(VideoFormatDescription.make(.bgrx, size: Self.small), value: 90)
    let requests = Locked(0)
    call.tile.setNeedsDisplayHandler { requests.withLock { $0 += 1 } }
    try call.tile.render(memory.frame(), gravity: .resizeAspect)
    #expect(await eventually { requests.withLock { $0 } == 1 })
    // The layer renders its newest frame again, and the compositor is not asked once more for the next ones.
    try call.tile.render(memory.frame(), gravity: .resizeAspect)
    await expect(call, ["32x18 at 64x36"])
    let other = try SharedMemoryFrame(memory.format, value: 91)
    try call.tile.render(other.frame(), gravity: .resizeAspect)
    await expect(call, ["32x18 at 64x36", "32x18 at 64x36"])
    #expect(call.tile.convertedFrameCount == 2)
    call.end()
  }

  @Test(
    arguments: [
      (["zwp_linux_dmabuf_v1"], "XR24:0"), (["wp_viewporter"], "XR24:0"), (globals, ""),
      (globals, "XR24:72057594037927937"),
    ] as [([String], String)])
  func compositorsThatCannotReadTheMemoryGetPictures(globals: [String], formats: String) async throws {
    let call = try await HoldingCompositor.start(globals: globals, formats: formats)
    let description = try VideoFormatDescription.make(.bgrx, size: PictureSize(width: 64, height: 36))
    try call.tile.render(SharedMemoryFrame(description, value: 90).frame(), gravity: .resizeAspect)
    await expect(call, ["64x36 at 64x36"])
    call.end()
  }

  /// A compositor that does not say how it computes colours from YUV reads YUV only where that was asked for.
  @Test(
    arguments: [
      (.automatic, "32x18 at 64x36"), (.direct, "NV12 32x18 0+32 576+32 part 0,0,32,18 at 64x36 as RGB: 90"),
      (.processor, "32x18 at 64x36"),
    ] as [(WindowRenderer, String)])
  func theRendererThatWasChosenDraws(renderer: WindowRenderer, picture: String) async throws {
    let call = try await HoldingCompositor.start(
      renderer: renderer, globals: ["wp_viewporter", "zwp_linux_dmabuf_v1"], formats: "NV12:0 XR24:0")
    let description = try VideoFormatDescription.make(.nv12, size: Self.small, colorimetry: "bt709")
    try call.tile.render(SharedMemoryFrame(description, value: 90).frame(), gravity: .resizeAspect)
    await expect(call, [picture])
    let rgb = try SharedMemoryFrame(VideoFormatDescription.make(.bgrx, size: Self.small), value: 90)
    try call.tile.render(rgb.frame(), gravity: .resizeAspect)
    let direct = "XR24 32x18 0+128 part 0,0,32,18 at 64x36 as RGB: 90"
    await expect(call, [picture, renderer == .processor ? picture : direct])
    call.end()
  }

  /// The compositor keeps what it shows, and releases the others in any order. A stream's elements get their memory back
  /// then, and not before.
  @Test func memoryGoesBackToTheStreamWhenTheCompositorReleasesIt() async throws {
    let call = try await HoldingCompositor.start(globals: Self.globals, formats: "XR24:0")
    let description = try VideoFormatDescription.make(.bgrx, size: Self.small)
    let memories = try (0..<4).map { try SharedMemoryFrame(description, value: UInt8($0)) }
    var frames: [WeakFrame] = []
    for (number, memory) in memories.enumerated() {
      let frame = try memory.frame()
      frames.append(WeakFrame(pixels: frame.pixelBuffer))
      try call.tile.render(frame, gravity: .resizeAspect)
      #expect(await eventually { call.shown.count == number + 1 && !call.tile.isWaiting })
    }
    func freed() -> [Int] { frames.indices.filter { frames[$0].pixels == nil } }
    #expect(freed() == [])
    try call.release()
    #expect(await eventually { freed() == [0, 1, 2] })
    // A window that is gone shows nothing.
    call.end()
    #expect(await eventually { freed() == [0, 1, 2, 3] })
    #expect(call.shown.allSatisfy { !$0.hasPrefix("error") })
  }

  private struct WeakFrame {
    weak let pixels: PixelBuffer?
  }

  @Test func neitherDescriptorsNorMemoryAreKept() async throws {
    let call = try await HoldingCompositor.start(globals: Self.globals, formats: "XR24:0")
    try call.release()
    let description = try VideoFormatDescription.make(.bgrx, size: Self.small)
    func render(_ count: Int) async throws {
      for number in 0..<count {
        let count = call.shown.count
        try call.tile.render(SharedMemoryFrame(description, value: UInt8(number % 256)).frame(), gravity: .resizeAspect)
        #expect(await eventually { call.shown.count == count + 1 && !call.tile.isWaiting })
        // Another memory may have the address and the descriptor of one that is gone.
        #expect(call.shown.last == "XR24 32x18 0+128 part 0,0,32,18 at 64x36 as RGB: \(number % 256)")
      }
    }
    let open = { try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").count }
    let inCompositor = { () throws -> Int in
      try FileManager.default.contentsOfDirectory(atPath: "/proc/\(call.compositor.processIdentifier)/fd").count
    }
    try await render(20)
    let before = try (open(), inCompositor())
    try await render(200)
    #expect(try open() <= before.0 + 8)
    #expect(await eventually { (try? inCompositor()).map { $0 <= before.1 + 8 } == true })
    call.end()
  }
}
