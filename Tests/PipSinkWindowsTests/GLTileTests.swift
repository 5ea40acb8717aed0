import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests from outside of tiles whose frames OpenGL ES draws.
@MainActor
@Suite(.enabled(if: GLPicture.isInstalled && XServer.isInstalled), .timeLimit(.minutes(5)))
struct GLTileTests {
  private static let size = PictureSize(width: 320, height: 180)
  private static let (red, green, blue): ([UInt8], [UInt8], [UInt8]) = ([0, 0, 255], [0, 255, 0], [255, 0, 0])

  /// A tile on the root window of a server.
  @MainActor
  private final class Place {
    let server: XServer
    let tile: X11Tile
    private let environment: [String: String]
    private let owner: X11Connection

    init(_ decoration: any PictureDecoration) async throws {
      server = try await XServer(managesWindows: false, size: "640x480")
      environment = server.environment
      owner = try #require(X11Connection(server.display))
      let root = try #require(xcb_setup_roots_iterator(xcb_get_setup(owner.pointer)).data).pointee.root
      tile = try X11Tile(owner, parent: root, display: server.display, decoration: decoration, renderer: .openGL)
      tile.rectangle = PictureRect(x: 10, y: 20, width: GLTileTests.size.width, height: GLTileTests.size.height)
      try #require(owner.synchronize())
    }

    func part(_ part: PictureRect) async throws -> BGRAImage {
      try await XServer.screenshot(environment: environment)
        .cropped(x: part.x, y: part.y, width: part.width, height: part.height)
    }

    /// Whether a part of the screen has one colour.
    func shows(_ color: [UInt8], in part: PictureRect) async throws -> Bool {
      try await eventually { try await self.part(part).isPlain(color) }
    }
  }

  @Test func openGLDrawsFramesAndWhatIsOverThem() async throws {
    let square = WhiteSquare(isThere: false)
    let place = try await Place(square)
    let (tile, requests) = (place.tile, Locked(0))
    tile.setNeedsDisplayHandler { requests.withLock { $0 += 1 } }
    let all = PictureRect(x: 10, y: 20, width: 320, height: 180)
    try tile.render(PlainFrame.make(Self.red, 64, 36), gravity: .resizeAspect)
    #expect(try await place.shows(Self.red, in: all))
    #expect(tile.convertedFrameCount == 0)
    #expect(try #require(tile.image()).size == Self.size)
    // The layer is asked for the frame when something has to be drawn over it.
    square.isThere.withLock { $0 = true }
    tile.redraw()
    #expect(requests.withLock { $0 } == 1)
    try tile.render(PlainFrame.make(Self.blue, 320, 180), gravity: .resizeAspect)
    #expect(try await place.shows([255, 255, 255], in: PictureRect(x: 10, y: 20, width: 8, height: 8)))
    #expect(try await place.shows(Self.blue, in: PictureRect(x: 18, y: 20, width: 312, height: 180)))
    #expect(tile.convertedFrameCount == 0)
    square.isThere.withLock { $0 = false }
    tile.rectangle = PictureRect(x: 30, y: 40, width: 400, height: 225)
    try tile.render(PlainFrame.make(Self.green, 64, 36), gravity: .resizeAspect)
    try tile.render(PlainFrame.make(Self.green, 64, 36), gravity: .resizeAspect)
    #expect(try await place.shows(Self.green, in: PictureRect(x: 30, y: 40, width: 400, height: 225)))
    #expect(tile.convertedFrameCount == 0)
    // Frames that OpenGL cannot draw, such as those with a high dynamic range, are the processor's.
    let format = try VideoFormatDescription.make(.p010, size: Self.size, colorimetry: "bt2100-pq")
    let bright = try SharedMemoryFrame(format, value: 0)
    try tile.render(bright.frame(), gravity: .resize)
    #expect(tile.convertedFrameCount == 1)
    tile.destroy()
    #expect(try await place.shows([0, 0, 0], in: PictureRect(x: 0, y: 0, width: 640, height: 480)))
  }

  @Test func itIsKnownWhenWhatOpenGLDrewWasOnTheScreen() async throws {
    let place = try await Place(WhiteSquare(isThere: false))
    let times = Locked<[ScreenTime]>([])
    place.tile.setScreenTimeHandler { time in times.withLock { $0.append(time) } }
    var frame = try PlainFrame.make(Self.red)
    let begin = MonotonicTime.now
    let isTold = try await eventually {
      frame.receivedAt = .now
      try place.tile.render(frame, gravity: .resize)
      return times.withLock { !$0.isEmpty }
    }
    #expect(isTold && place.tile.convertedFrameCount == 0)
    #expect(times.withLock { $0.allSatisfy { $0.shownAt >= begin && $0.shownAt >= $0.frame.receivedAt } })
  }

  /// Graphics processors are reset, and graphics cards are unplugged.
  @Test func theProcessorDrawsWhereOpenGLFailsAndForGoodAfterThreeFailures() async throws {
    let server = try await XServer(managesWindows: false, size: "640x480")
    let connection = try #require(X11Connection(server.display))
    let screen = try #require(xcb_setup_roots_iterator(xcb_get_setup(connection.pointer)).data).pointee
    let made = Locked(0)
    let (native, root, visual) = (Address(connection.pointer), screen.root, screen.root_visual)
    /// The first surface is lost before it draws, the second one works, and no further ones can be made.
    let surface = GLTileSurface { _ throws(PipSinkError) in
      let number = made.withLock { made in
        made += 1
        return made
      }
      guard number < 3 else { throw GLLibrary.unavailable("the test has no more") }
      let display = try GLDisplay(.x11(native.value, screen: 0))
      let new = try GLWindowSurface(display, .x11(root, visual: visual))
      if number == 1 { new.destroy() }
      return new
    }
    let frame = try PlainFrame.make(Self.red)
    let all = PictureRect(x: 0, y: 0, width: 640, height: 480)
    let overlay = WindowOverlay()
    let show = { (surface: GLTileSurface) in surface.show(frame, gravity: .resize, in: all, under: overlay) }
    #expect(show(surface) == .needsImage)
    for _ in 0..<2 { #expect(show(surface) == .shown(by: .openGL)) }
    #expect(made.withLock { $0 } == 2)
    let environment = server.environment
    #expect(try await eventually { try await XServer.screenshot(environment: environment).isPlain(Self.red) })
    // Nobody sees what is drawn on a window that has been left.
    surface.end()
    #expect(show(surface) == .leftOut)
    #expect(made.withLock { $0 } == 2)

    let failing = GLTileSurface { _ throws(PipSinkError) in
      made.withLock { $0 += 1 }
      throw GLLibrary.unavailable("the test has none")
    }
    for _ in 0..<5 { #expect(show(failing) == .needsImage) }
    #expect(made.withLock { $0 } == 5)
    // Another window does not help.
    let following = GLTileSurface(following: failing) { _ throws(PipSinkError) in
      throw GLLibrary.unavailable("nobody asks for it")
    }
    #expect(following.hasFailed && show(following) == .needsImage && !surface.hasFailed)
    withExtendedLifetime(connection) {}
  }

  /// Names, marks and controls are half transparent, and have round corners.
  @Test func aDecorationOfItsOwnLooksAsOneThatIsDrawnOnThePicture() throws {
    let controls = WindowOverlay()
    let image = OverlayImage(PictureSize(width: 60, height: 30), scale: 1) { context in
      cairo_set_source_rgba(context, 0.9, 0.5, 0.1, 0.6)
      cairo_arc(context, 30, 15, 14, 0, 6.3)
      cairo_fill(context)
    }
    controls.set([
      .init(color: (0.2, 0.4, 0.6), in: PictureRect(x: 5, y: 6, width: 20, height: 10), opacity: 0.5),
      .init(image: image, origin: (40, 30), opacity: 0.7),
    ])
    let area = PictureRect(x: 2, y: 3, width: 160, height: 90)
    let layer = DecorationLayer(controls, in: area)
    let picture = try rendered(
      TestFrame.sampleBuffer(TestFrame.testSource(.i420, 160, 90, pattern: "smpte")), size: area.size, gravity: .resize)
    var expected = picture.bytes
    expected.withUnsafeMutableBufferPointer { controls.draw(on: $0.baseAddress!, stride: 160 * 4, in: area) { _ in } }
    var worst = 0
    for index in expected.indices where index % 4 < 3 {
      let (x, y) = (index / 4 % 160 - layer.rectangle.x, index / 640 - layer.rectangle.y)
      var value = Int(picture.bytes[index])
      if (0..<layer.rectangle.width).contains(x), (0..<layer.rectangle.height).contains(y) {
        let pixel = (y * layer.rectangle.width + x) * 4
        value = Int(layer.pixels[pixel + index % 4]) + value * (255 - Int(layer.pixels[pixel + 3])) / 255
      }
      worst = max(worst, abs(value - Int(expected[index])))
    }
    #expect(worst <= 3)
    #expect(layer.revision == controls.revision)
    controls.set([])
    #expect(layer.revision != controls.revision)
  }
}
