import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of a tile whose compositor does what those that can be installed do not.
struct WaylandTileTests {
  /// A tile in a compositor that reads all its images until it may release them.
  @MainActor
  private struct Call {
    let tile: WaylandTile
    let compositor: RunningProgram
    private let connection: WaylandConnection
    private let parent: WaylandObject<WLSurface>
    private let folder: TemporaryFolder

    init(_ decoration: any PictureDecoration, _ compositor: RunningProgram, _ folder: TemporaryFolder) throws {
      (self.compositor, self.folder) = (compositor, folder)
      connection = try WaylandConnection.shared(folder.path("socket"))
      parent = try #require(connection.globals.compositor?.createSurface())
      let globals = try #require(WaylandTile.Globals(connection.globals))
      tile = WaylandTile(globals, connection.loop, decoration: decoration)
      tile.attach(to: parent.reference)
      tile.rectangle = PictureRect(x: 0, y: 0, width: 64, height: 36)
    }

    /// - Parameters:
    ///   - clock: the number of the clock by which the compositor tells times.
    ///   - globals: what the compositor has besides.
    static func start(
      _ decoration: any PictureDecoration = WindowOverlay(), clock: clockid_t = CLOCK_MONOTONIC,
      globals: [String] = []
    ) async throws -> Call {
      let folder = try TemporaryFolder()
      let script = Demo.root.appendingPathComponent("Tests/PipSinkWindowsTests/holding-compositor.py").path
      let compositor = try RunningProgram(
        "/usr/bin/python3", [script, folder.path("socket"), folder.path("released"), "\(clock)"] + globals)
      try #require(await compositor.wait(forText: "ready"), "\(compositor.errors)")
      return try Call(decoration, compositor, folder)
    }

    /// The sizes of the pictures that the compositor has got, and those at which it shows them.
    var shown: [String] { compositor.output.split(separator: "\n").map(String.init).filter { $0 != "ready" } }

    func release() throws { try Data().write(to: URL(fileURLWithPath: folder.path("released"))) }

    func end() {
      tile.detach()
      parent.destroy()
    }
  }

  @MainActor @Test func aTileWithoutAFreeImageAsksForItsPictureWhenTheCompositorReturnsOne() async throws {
    let call = try await Call.start()
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
    let call = try await Call.start(clock: clock)
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
    let square = Square()
    square.isThere.withLock { $0 = false }
    let call = try await Call.start(square, globals: ["wp_viewporter", "zwp_linux_dmabuf_v1"])
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
    let call = try await Call.start(globals: globals)
    try call.tile.render(PlainFrame.make([0, 0, 255]), gravity: .resize)
    #expect(await eventually { call.shown == ["64x36 at 64x36"] }, "\(call.shown)")
    call.end()
  }

  /// A white square in the corner of the picture, for as long as it is there.
  private final class Square: PictureDecoration {
    let isThere = Locked(true)

    func isShown(in area: PictureRect) -> Bool { isThere.withLock { $0 } }
    func hides(_ area: PictureRect) -> Bool { false }
    func draw(
      on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void
    ) {
      guard isShown(in: area) else { return }
      willDraw(PictureRect(x: 0, y: 0, width: 8, height: 8))
      for row in 0..<8 { (pixels + row * stride).update(repeating: 255, count: 8 * 4) }
    }
  }

  @MainActor @Test func aDecorationThatGoesLeavesThePictureAsItWas() async throws {
    let decoration = Square()
    let call = try await Call.start(decoration)
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
