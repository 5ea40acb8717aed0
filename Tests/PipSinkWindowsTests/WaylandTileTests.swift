import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of a tile whose compositor does what those that can be installed do not.
struct WaylandTileTests {
  @MainActor @Test func aTileWithoutAFreeImageAsksForItsPictureWhenTheCompositorReturnsOne() async throws {
    let call = try await HoldingCompositor.start()
    let tile = call.tile
    let requests = Locked(0)
    tile.setNeedsDisplayHandler { requests.withLock { $0 += 1 } }
    let frame = try PlainFrame.make([0, 0, 255])
    // The compositor reads four images, which are as many as there may be.
    for number: UInt64 in 1...6 {
      try tile.render(frame, gravity: .resize)
      #expect(tile.convertedFrameCount == min(number, 4))
      #expect(await eventually { !tile.isWaiting })
    }
    #expect(requests.withLock { $0 } == 0)
    try call.release()
    #expect(await eventually { requests.withLock { $0 } > 0 }, "\(call.compositor.errors)")
    try tile.render(frame, gravity: .resize)
    #expect(tile.convertedFrameCount == 5)
    call.end()
  }

  /// The clocks of compositors differ: weston's may be CLOCK_MONOTONIC_RAW.
  @MainActor @Test(arguments: [CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME])
  func theTileTellsWhenEachPictureWasOnTheScreen(clock: clockid_t) async throws {
    let call = try await HoldingCompositor.start(clock: clock)
    let (tile, times) = (call.tile, Locked<[ScreenTime]>([]))
    var frame = try PlainFrame.make([0, 0, 255])
    // Nobody wants to know yet, and no stream has delivered the second frame.
    try tile.render(frame, gravity: .resize)
    #expect(await eventually { !tile.isWaiting })
    tile.setScreenTimeHandler { time in times.withLock { $0.append(time) } }
    try tile.render(frame, gravity: .resize)
    #expect(await eventually { !tile.isWaiting })
    try call.release()
    var begins: [MonotonicTime] = []
    for _ in 0..<4 {
      #expect(await eventually { tile.pictures.withLock { $0.images.allSatisfy { !$0.isBusy } } })
      begins.append(.now)
      frame.receivedAt = begins.last
      try tile.render(frame, gravity: .resize)
      #expect(await eventually { !tile.isWaiting })
    }
    #expect(await eventually { times.withLock { $0.count } == 3 })
    let seen = times.withLock { $0 }
    // The compositor says of the third one that it was never on the screen.
    #expect(seen.map(\.frame.receivedAt) == [begins[0], begins[1], begins[3]])
    for time in seen {
      #expect(time.handedOverAt >= time.frame.receivedAt && time.shownAt <= .now)
      // The clocks are read one after the other, so that the relation between them is not exact.
      #expect(time.shownAt.advanced(by: .milliseconds(1)) >= time.handedOverAt)
      #expect(time.refreshInterval == 16_666_667)
    }
    call.end()
  }

  @MainActor @Test func aCompositorWithAGPUEnlargesThePicture() async throws {
    let square = WhiteSquare(isThere: false)
    let call = try await HoldingCompositor.start(square, globals: ["wp_viewporter", "zwp_linux_dmabuf_v1"])
    let (tile, requests) = (call.tile, Locked(0))
    tile.setNeedsDisplayHandler { requests.withLock { $0 += 1 } }
    try call.release()
    let frame = try PlainFrame.make([0, 0, 255])
    /// Waits until the compositor has got as many pictures.
    func expect(_ sizes: [String]) async {
      #expect(await eventually { call.shown == sizes }, "\(call.shown)")
      #expect(await eventually { !tile.isWaiting && tile.pictures.withLock { $0.images.allSatisfy { !$0.isBusy } } })
    }
    try tile.render(frame, gravity: .resize)
    await expect(["32x18 at 64x36"])
    let image = try #require(tile.image())
    #expect(image.size == PictureSize(width: 64, height: 36))
    // libyuv loses a little when it enlarges.
    func expect(_ color: [UInt8], at x: Int, _ y: Int, of image: BGRAImage) {
      let pixel = image.pixel(x, y)
      #expect(pixel.elementsEqual(color) { abs(Int($0) - Int($1)) <= 3 }, "\(pixel) at (\(x), \(y))")
    }
    for (x, y) in [(0, 0), (63, 35)] { expect([0, 0, 255, 255], at: x, y, of: image) }
    // A frame of more pixels is made smaller here, and a square with bars beside it keeps its shape.
    try tile.render(PlainFrame.make([0, 0, 255], 128, 72), gravity: .resize)
    await expect(["32x18 at 64x36", "64x36 at 64x36"])
    try tile.render(PlainFrame.make([0, 0, 255], 18, 18), gravity: .resizeAspect)
    await expect(["32x18 at 64x36", "64x36 at 64x36", "32x18 at 64x36"])
    let bars = try #require(tile.image())
    expect([0, 0, 0, 255], at: 4, 18, of: bars)
    expect([0, 0, 255, 255], at: 32, 18, of: bars)
    // What is drawn over the picture has the window's resolution. The layer is asked for the frame.
    square.isThere.withLock { $0 = true }
    #expect(requests.withLock { $0 } == 0)
    tile.redraw()
    #expect(requests.withLock { $0 } == 1)
    try tile.render(frame, gravity: .resize)
    await expect(["32x18 at 64x36", "64x36 at 64x36", "32x18 at 64x36", "64x36 at 64x36"])
    call.end()
  }

  @MainActor @Test(arguments: [[], ["wp_viewporter"], ["zwp_linux_dmabuf_v1"]])
  func otherCompositorsGetPicturesOfTheirSize(globals: [String]) async throws {
    let call = try await HoldingCompositor.start(globals: globals)
    try call.tile.render(PlainFrame.make([0, 0, 255]), gravity: .resize)
    #expect(await eventually { call.shown == ["64x36 at 64x36"] }, "\(call.shown)")
    call.end()
  }

  @MainActor @Test func aDecorationThatGoesLeavesThePictureAsItWas() async throws {
    let decoration = WhiteSquare(isThere: true)
    let call = try await HoldingCompositor.start(decoration)
    let tile = call.tile
    try tile.render(try PlainFrame.make([0, 0, 255]), gravity: .resize)
    let plain = try #require(tile.image())
    decoration.isThere.withLock { $0 = false }
    // What covers the picture is drawn from its own image onto another one.
    for _ in 0..<3 {
      tile.redraw()
      #expect(tile.image()?.bytes == plain.bytes)
      #expect(tile.image()?.pixel(2, 2) == [0, 0, 253, 255])
    }
    #expect(tile.convertedFrameCount == 1)
    call.end()
  }
}
