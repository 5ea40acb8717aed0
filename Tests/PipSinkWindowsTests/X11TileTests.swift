import CGTK
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import PipSinkWindows
@testable import TestSupport
@testable import pipsink_demo

/// Tests from outside of a place for pictures in an X11 window.
@MainActor
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"), .timeLimit(.minutes(5)))
struct X11TileTests {
  private static let (red, green, blue): ([UInt8], [UInt8], [UInt8]) = ([0, 0, 255], [0, 255, 0], [255, 0, 0])
  private static let size = PictureSize(width: 320, height: 180)

  /// A window that the test owns, with one tile that fills a part of it.
  @MainActor
  private final class Place {
    private let server: XServer
    private let environment: [String: String]
    let serverProcess: Int32
    let overlay = WindowOverlay()
    let tile: X11Tile
    private let owner: OpaquePointer
    let window: UInt
    private let foreign: X11ForeignWindow

    /// - Parameter options: those of the server.
    init(_ options: [String] = []) async throws {
      server = try await XServer(managesWindows: false, size: "640x480", options: options)
      (environment, serverProcess) = (server.environment, server.processIdentifier)
      owner = try #require(XOpenDisplay(server.display))
      window = XCreateSimpleWindow(owner, XDefaultRootWindow(owner), 0, 0, 600, 400, 0, 0, 0x808080)
      XMapWindow(owner, window)
      XSync(owner, 0)
      foreign = try X11ForeignWindow(windowID: window, display: server.display)
      tile = try #require(try foreign.makeTile(decoration: overlay, renderer: .automatic) as? X11Tile)
      tile.rectangle = PictureRect(x: 0, y: 0, width: X11TileTests.size.width, height: X11TileTests.size.height)
      // Pictures are sent on another connection. A picture that the server reads before it shows the tile is lost, and
      // without a layer nobody sends it again.
      try #require(await eventually { isShown }, "the server shows the tile")
    }

    private var isShown: Bool {
      var attributes = XWindowAttributes()
      return XGetWindowAttributes(owner, UInt(tile.window), &attributes) != 0 && attributes.map_state == IsViewable
    }

    isolated deinit {
      foreign.remove(tile)
      XCloseDisplay(owner)
    }

    /// Covers the tile with another window until the returned function is called.
    func cover() -> () -> Void {
      let cover = XCreateSimpleWindow(owner, XDefaultRootWindow(owner), 0, 0, 400, 300, 0, 0, 0x404040)
      XMapRaised(owner, cover)
      XSync(owner, 0)
      return { [owner] in
        XDestroyWindow(owner, cover)
        XSync(owner, 0)
      }
    }

    /// Whether a part of the tile has one colour on the screen.
    func shows(_ color: [UInt8], in part: PictureRect) async throws -> Bool {
      let screen = try await XServer.screenshot(environment: environment)
      let picture = screen.cropped(x: part.x, y: part.y, width: part.width, height: part.height)
      return picture.isPlain(color)
    }

    func shows(_ color: [UInt8]) async throws -> Bool {
      let rectangle = tile.rectangle ?? PictureRect(x: 0, y: 0, width: 0, height: 0)
      return try await eventually { try await self.shows(color, in: rectangle) }
    }
  }

  /// The identifiers of the memory segments that this process shares with servers.
  private func sharedMemory() throws -> Set<Substring> {
    // The kernel hands out a long table in parts. Foundation takes the first one for the whole.
    let table = try InputFile.text(of: "/proc/sysvipc/shm")
    var numbers: Set<Substring> = []
    for line in table.split(separator: "\n") {
      // The second column is the identifier and the fifth one is the process that made the segment.
      let columns = line.split(separator: " ")
      if columns.count > 4, Int32(columns[4]) == getpid() { numbers.insert(columns[1]) }
    }
    return numbers
  }

  /// Shows a colour so often in a row that the server has not read one image when the next picture comes.
  private func useBothImages(of place: Place, _ color: [UInt8], _ gravity: VideoGravity) throws {
    let (others, frame) = (try sharedMemory(), try PlainFrame.make(color))
    for _ in 0..<100 where try sharedMemory().subtracting(others).count < 2 {
      for _ in 0..<50 { try place.tile.render(frame, gravity: gravity) }
    }
    try #require(try sharedMemory().subtracting(others).count == 2)
  }

  @Test func rebuildingMakesTheServersMemoryAnewAndTheSameFrameIsShown() async throws {
    let place = try await Place()
    let others = try sharedMemory()
    let frame = try PlainFrame.make(Self.red)
    try place.tile.render(frame, gravity: .resize)
    #expect(try await place.shows(Self.red))
    let before = try sharedMemory().subtracting(others)
    #expect(!before.isEmpty)
    place.tile.rebuild()
    #expect(place.tile.image() == nil)
    #expect(try await eventually { try sharedMemory().isDisjoint(with: before) }, "the old memory has been freed")
    try place.tile.render(frame, gravity: .resize)
    let after = try sharedMemory().subtracting(others)
    #expect(!after.isEmpty && after.isDisjoint(with: before))
    #expect(place.tile.image()?.isPlain(Self.red) == true)
    #expect(try await place.shows(Self.red))
  }

  @Test func aServerWithoutSharedMemoryShowsEachPixelToo() async throws {
    let place = try await Place(["-extension", "MIT-SHM"])
    let others = try sharedMemory()
    for color in [Self.red, Self.green, Self.blue] {
      try place.tile.render(PlainFrame.make(color), gravity: .resize)
      #expect(try await place.shows(color))
    }
    #expect(try sharedMemory().subtracting(others).isEmpty)
  }

  @Test func aPictureThatTheServerStillReadsIsNotDrawnOn() async throws {
    let place = try await Place()
    try place.tile.render(PlainFrame.make(Self.red), gravity: .resize)
    #expect(try await place.shows(Self.red))
    let frames = try (0..<10).map { try PlainFrame.make($0 < 9 ? Self.blue : Self.green) }
    // The stopped server reads nothing until it continues.
    let process = place.serverProcess
    kill(process, SIGSTOP)
    let drawn = Locked(0)
    let tile = place.tile
    let work: @Sendable () -> Void = {
      for frame in frames where (try? tile.render(frame, gravity: .resize)) != nil { drawn.withLock { $0 += 1 } }
    }
    let thread = WorkerThread(name: "presenter", body: work)
    #expect(thread != nil)
    let wentOn = await eventually(within: 1) { drawn.withLock { $0 } > 2 }
    #expect(!wentOn, "\(drawn.withLock { $0 }) pictures were drawn in memory for two")
    kill(process, SIGCONT)
    #expect(await eventually { drawn.withLock { $0 } == frames.count })
    thread?.join()
    #expect(try await place.shows(Self.green))
  }

  @Test func theNewestFrameIsShownWhenTheTileIsSeenAgain() async throws {
    let place = try await Place()
    let layer = SampleBufferDisplayLayer(name: "tile", renderer: place.tile, videoGravity: .resize)
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(try await place.shows(Self.red))
    let uncover = place.cover()
    #expect(await eventually { !place.tile.isVisible })
    let count = place.tile.convertedFrameCount
    for color in [Self.blue, Self.green] { layer.enqueue(try PlainFrame.make(color)) }
    #expect(await eventually { layer.statistics.hidden + layer.statistics.replaced == 2 })
    #expect(place.tile.convertedFrameCount == count, "no frame is converted while the tile is hidden")
    uncover()
    #expect(try await place.shows(Self.green))
    layer.detach()
  }

  @Test func theNewestFrameIsShownInTheTilesNewSize() async throws {
    let place = try await Place()
    let layer = SampleBufferDisplayLayer(name: "tile", renderer: place.tile, videoGravity: .resize)
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(try await place.shows(Self.red))
    place.tile.rectangle = PictureRect(x: 20, y: 30, width: 500, height: 300)
    #expect(try await place.shows(Self.red))
    #expect(await eventually { place.tile.image()?.size == PictureSize(width: 500, height: 300) })
    // The part of the window beside the tile keeps the window's colour.
    #expect(try await place.shows([0x80, 0x80, 0x80], in: PictureRect(x: 0, y: 0, width: 20, height: 300)))
    layer.detach()
  }

  @Test func anImageThatIsRemovedIsGone() async throws {
    let place = try await Place()
    try place.tile.render(PlainFrame.make(Self.red), gravity: .resize)
    #expect(try await place.shows(Self.red))
    place.tile.removeImage()
    #expect(place.tile.image() == nil)
    #expect(try await place.shows([0, 0, 0]))
    place.tile.redraw()
    #expect(place.tile.image() == nil)
    #expect(try await place.shows([0, 0, 0]))
  }

  @Test func whatLiesOverAPictureLeavesItsOwnPixelsAsTheyWere() async throws {
    let place = try await Place()
    try place.tile.render(PlainFrame.make(Self.red), gravity: .resize)
    let name = PictureRect(x: 8, y: 8, width: 60, height: 20)
    place.overlay.set([
      .init(gray: 1, in: name, opacity: 1),
      // This layer crosses the edge of the other one.
      .init(gray: 0.5, in: PictureRect(x: 40, y: 16, width: 60, height: 20), opacity: 0.5),
    ])
    place.tile.redraw()
    #expect(
      try await eventually {
        try await place.shows([255, 255, 255], in: PictureRect(x: 8, y: 8, width: 30, height: 8))
      })
    #expect(place.tile.image()?.isPlain(Self.red) == true)
    #expect(place.tile.convertedFrameCount == 1)
  }

  @Test func aDecorationThatIsGoneIsLeftOnNoImage() async throws {
    let place = try await Place()
    // The picture has bars of 71 pixels on both sides.
    place.tile.rectangle = PictureRect(x: 0, y: 0, width: 320, height: 100)
    let bar = PictureRect(x: 0, y: 0, width: 60, height: 100)
    let picture = PictureRect(x: 100, y: 10, width: 100, height: 80)
    let render = { (color: [UInt8]) in try place.tile.render(PlainFrame.make(color), gravity: .resizeAspect) }
    try useBothImages(of: place, Self.red, .resizeAspect)
    #expect(try await eventually { try await place.shows(Self.red, in: picture) })
    // While the server stands still, it reads the first image, so that the next picture is drawn on the other one.
    kill(place.serverProcess, SIGSTOP)
    place.overlay.set([.init(gray: 1, in: bar)])
    place.tile.redraw()
    try render(Self.green)
    kill(place.serverProcess, SIGCONT)
    #expect(try await eventually { try await place.shows(Self.green, in: picture) })
    #expect(try await place.shows([255, 255, 255], in: bar))
    // Both images have the decoration. It is gone from the one that is drawn on next, and then from the other.
    for color in [Self.blue, Self.red] {
      kill(place.serverProcess, SIGSTOP)
      place.overlay.set([])
      place.tile.redraw()
      try render(color)
      kill(place.serverProcess, SIGCONT)
      #expect(try await eventually { try await place.shows(color, in: picture) })
      #expect(try await place.shows([0, 0, 0], in: bar))
    }
  }

  @Test func aTextInPlaceOfAPictureIsDrawnWhenAServerAnswersAgain() async throws {
    let place = try await Place()
    let render = { (color: [UInt8]) in try place.tile.render(PlainFrame.make(color), gravity: .resize) }
    try useBothImages(of: place, Self.red, .resize)
    #expect(try await place.shows(Self.red))
    // The server has to read both images, so that there is none for the text.
    kill(place.serverProcess, SIGSTOP)
    try render(Self.blue)
    try render(Self.green)
    place.overlay.set([
      .init(gray: 1, in: PictureRect(x: 0, y: 0, width: Self.size.width, height: Self.size.height))
    ])
    place.tile.redraw()
    kill(place.serverProcess, SIGCONT)
    #expect(try await place.shows([255, 255, 255]))
  }

  @Test func aTextInPlaceOfAPictureIsDrawnAgainAfterAnExposure() async throws {
    let place = try await Place()
    try place.tile.render(PlainFrame.make(Self.red), gravity: .resize)
    #expect(try await place.shows(Self.red))
    place.overlay.set([
      .init(gray: 1, in: PictureRect(x: 0, y: 0, width: Self.size.width, height: Self.size.height))
    ])
    place.tile.redraw()
    #expect(try await place.shows([255, 255, 255]))
    // No frame comes. The server does not keep what other windows cover.
    let uncover = place.cover()
    #expect(try await place.shows([0x40, 0x40, 0x40]))
    uncover()
    #expect(try await place.shows([255, 255, 255]))
  }

  @Test func aTextInPlaceOfThePictureNeedsNoMemoryAndStaysUntilThePictureComesAgain() async throws {
    let place = try await Place()
    let others = try sharedMemory()
    try place.tile.render(PlainFrame.make(Self.red), gravity: .resize)
    #expect(try !sharedMemory().subtracting(others).isEmpty)
    place.overlay.set([
      .init(gray: 1, in: PictureRect(x: 0, y: 0, width: Self.size.width, height: Self.size.height))
    ])
    place.tile.redraw()
    #expect(try await place.shows([255, 255, 255]))
    #expect(place.tile.image() == nil && !place.tile.isVisible)
    #expect(try await eventually { try sharedMemory().isSubset(of: others) }, "the memory has been freed")
    // The picture is not black in between.
    place.overlay.set([])
    place.tile.redraw()
    #expect(place.tile.isVisible)
    #expect(try await place.shows([255, 255, 255]))
    try place.tile.render(PlainFrame.make(Self.red), gravity: .resize)
    #expect(try await place.shows(Self.red))
    #expect(place.tile.image()?.isPlain(Self.red) == true)
  }
}

/// Tests, without a display, that what a decoration covers of a picture is restored.
@Suite struct PictureUnderlayTests {
  @Test func whatWasDrawnOnIsPutBackByteByByteWhereverTheDecorationLies() throws {
    let size = PictureSize(width: 37, height: 23)
    let stride = 40 * 4
    var generator = SystemRandomNumberGenerator()
    let pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * size.height)
    defer { pixels.deallocate() }
    for index in 0..<stride * size.height { pixels[index] = .random(in: 0...255, using: &generator) }
    let original = (0..<stride * size.height).map { pixels[$0] }
    let area = PictureRect(x: 100, y: 50, width: size.width, height: size.height)
    let overlay = WindowOverlay()
    var underlay = PictureUnderlay()
    for _ in 0..<100 {
      overlay.set(
        (0..<3).map { _ in
          // The parts may also reach beyond the picture's edges, and cover one another.
          WindowOverlay.Part(
            gray: .random(in: 0...1),
            in: PictureRect(
              x: .random(in: 80...140), y: .random(in: 30...75), width: .random(in: 1...40), height: .random(in: 1...30)
            ),
            opacity: .random(in: 0.1...1))
        })
      underlay.draw(overlay, on: pixels, stride: stride, in: area)
      var copy = rows(pixels, stride, size)
      underlay.restore(inCopy: &copy, width: size.width)
      try #require(copy == original.withUnsafeBufferPointer { rows($0.baseAddress!, stride, size) })
      underlay.restore(on: pixels, stride: stride)
      try #require(original == (0..<stride * size.height).map { pixels[$0] })
    }
  }

  private func rows(_ pixels: UnsafePointer<UInt8>, _ stride: Int, _ size: PictureSize) -> [UInt8] {
    (0..<size.height).flatMap { row in (0..<size.width * 4).map { pixels[row * stride + $0] } }
  }
}

extension BGRAImage {
  /// Whether all pixels nearly have one colour.
  ///
  /// - Parameter color: the values of blue, green and red. A conversion may change them a little.
  func isPlain(_ color: [UInt8]) -> Bool {
    bytes.indices.allSatisfy { $0 % 4 == 3 || abs(Int(bytes[$0]) - Int(color[$0 % 4])) <= 4 }
  }
}
