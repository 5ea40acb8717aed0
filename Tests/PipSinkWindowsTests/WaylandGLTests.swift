import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of Wayland windows on which OpenGL ES draws.
@MainActor
@Suite(
  .enabled(if: GLPicture.isInstalled && WaylandServer.isInstalled(.sway), "OpenGL, sway, grim and root are needed"),
  .timeLimit(.minutes(5)))
struct WaylandGLTests {
  private static let (red, green, blue): ([UInt8], [UInt8], [UInt8]) = ([0, 0, 255], [0, 255, 0], [255, 0, 0])

  /// A tile in a window that fills the screen of sway.
  @MainActor
  private final class Place {
    let server: WaylandServer
    let environment: [String: String]
    let tile: WaylandTile
    let requests = Locked(0)
    private let window: WaylandAppWindow

    init(_ decoration: any PictureDecoration = WindowOverlay()) async throws {
      server = try await WaylandServer(.sway)
      environment = server.environment
      let window = try WaylandAppWindow(
        display: environment["WAYLAND_DISPLAY"], size: PictureSize(width: 640, height: 480),
        BackgroundOptions()
      ) { _ in }
      self.window = window
      window.show()
      try #require(await eventually { window.size == PictureSize(width: 1024, height: 768) })
      let globals = try #require(WaylandTile.Globals(window.globals, .openGL))
      tile = WaylandTile(globals, window.connection.loop, decoration: decoration)
      tile.setNeedsDisplayHandler { [requests] in requests.withLock { $0 += 1 } }
      try attach()
      tile.rectangle = PictureRect(x: 100, y: 50, width: 320, height: 180)
    }

    func attach() throws { tile.attach(to: try #require(window.surface).surface.reference) }

    /// Shows a frame, and waits until the compositor wants the next one.
    func show(_ frame: SampleBuffer) async throws {
      try tile.render(frame, gravity: .resizeAspect)
      try #require(await eventually { !self.tile.isWaiting })
    }

    /// Has sway 1.7 draw its screen again, which it does not do for a subsurface that has gone.
    func redraw() async throws { for name in ["2", "1"] { try await goToWorkspace(name) } }

    func goToWorkspace(_ name: String) async throws {
      _ = try await RunningProgram("/usr/bin/swaymsg", ["workspace", name], environment: environment)
        .result(seconds: 30)
    }

    /// Whether a part of the screen has one colour.
    func shows(_ color: [UInt8], in part: PictureRect) async throws -> Bool {
      try await eventually {
        try await WaylandServer.screenshot(environment: self.environment).cropped(
          x: part.x, y: part.y, width: part.width, height: part.height
        )
        .isPlain(color)
      }
    }
  }

  @Test func openGLDrawsFramesAndWhatIsOverThemOnWayland() async throws {
    let square = WhiteSquare(isThere: false)
    let place = try await Place(square)
    let tile = place.tile
    try await place.show(PlainFrame.make(Self.red, 64, 36))
    #expect(try await place.shows(Self.red, in: PictureRect(x: 100, y: 50, width: 320, height: 180)))
    #expect(try await place.shows([0, 0, 0], in: PictureRect(x: 100, y: 230, width: 320, height: 20)))
    #expect(try #require(tile.image()).size == PictureSize(width: 320, height: 180))
    // The layer is asked for the frame when something has to be drawn over it.
    let requests = place.requests.withLock { $0 }
    square.isThere.withLock { $0 = true }
    tile.redraw()
    #expect(place.requests.withLock { $0 } == requests + 1)
    try await place.show(PlainFrame.make(Self.blue, 320, 180))
    #expect(try await place.shows([255, 255, 255], in: PictureRect(x: 100, y: 50, width: 8, height: 8)))
    #expect(try await place.shows(Self.blue, in: PictureRect(x: 108, y: 50, width: 312, height: 180)))
    square.isThere.withLock { $0 = false }
    // A picture is stretched until there is one of the new size.
    tile.rectangle = PictureRect(x: 30, y: 40, width: 400, height: 225)
    #expect(try await place.shows(Self.blue, in: PictureRect(x: 60, y: 60, width: 360, height: 200)))
    let pattern = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 320, 180, pattern: "smpte"))
    try await place.show(pattern)
    let expected = try rendered(pattern, size: PictureSize(width: 400, height: 225), gravity: .resizeAspect)
    let isExact = try await eventually {
      let screen = try await WaylandServer.screenshot(environment: place.environment)
      return screen.cropped(x: 30, y: 40, width: 400, height: 225).psnr(to: expected) >= 45
    }
    #expect(isExact && tile.convertedFrameCount == 0)
    // A hidden tile is not seen, and comes back with its next frame.
    tile.rectangle = nil
    try await place.redraw()
    #expect(try await place.shows([0, 0, 0], in: PictureRect(x: 30, y: 40, width: 400, height: 225)))
    tile.rectangle = PictureRect(x: 100, y: 50, width: 320, height: 180)
    try await place.show(PlainFrame.make(Self.green, 64, 36))
    #expect(try await place.shows(Self.green, in: PictureRect(x: 100, y: 50, width: 320, height: 180)))
    #expect(tile.convertedFrameCount == 0)
    // Frames that OpenGL cannot draw, such as those with a high dynamic range, are the processor's.
    let format = try VideoFormatDescription.make(
      .p010, size: PictureSize(width: 320, height: 180), colorimetry: "bt2100-pq")
    try await place.show(SharedMemoryFrame(format, value: 0).frame())
    #expect(tile.convertedFrameCount == 1)
    try await place.show(PlainFrame.make(Self.red, 64, 36))
    #expect(try await place.shows(Self.red, in: PictureRect(x: 100, y: 50, width: 320, height: 180)))
    #expect(tile.convertedFrameCount == 1)
    tile.leaveWindow()
    try await place.redraw()
    #expect(try await place.shows([0, 0, 0], in: PictureRect(x: 30, y: 40, width: 400, height: 225)))
  }

  /// The compositor asks for no frames of what it does not show.
  @Test func aHiddenWindowIsNotDrawnOnAndItsNewestFrameIsAskedForLater() async throws {
    let place = try await Place()
    let tile = place.tile
    try await place.show(PlainFrame.make(Self.red))
    try await place.goToWorkspace("2")
    let frame = try PlainFrame.make(Self.green)
    let isHidden = try await eventually {
      try tile.render(frame, gravity: .resize)
      return !tile.isVisible
    }
    #expect(isHidden)
    let requests = place.requests.withLock { $0 }
    try await place.goToWorkspace("1")
    #expect(await eventually { tile.isVisible && place.requests.withLock { $0 } > requests })
    try tile.render(frame, gravity: .resize)
    #expect(try await place.shows(Self.green, in: PictureRect(x: 100, y: 50, width: 320, height: 180)))
    #expect(tile.convertedFrameCount == 0)
  }

  /// What is wanted of the surface in that moment has to wait until OpenGL has committed it.
  @Test func aTileIsMovedHiddenAndLeavesItsWindowWhileAFrameIsBeingDrawn() async throws {
    let square = WhiteSquare(isThere: true)
    let place = try await Place(square)
    let tile = place.tile
    var number = 0
    let show = { (frame: SampleBuffer, work: @escaping @Sendable () -> Void) in
      // The square is drawn again for each place of the tile.
      number += 1
      tile.rectangle = PictureRect(x: 100 + number, y: 50, width: 320, height: 180)
      _ = square.meanwhile.exchange(work)
      try await place.show(frame)
      #expect(square.meanwhile.withLock { $0 } == nil)
    }
    let (red, green, blue) = (
      try PlainFrame.make(Self.red, 64, 36), try PlainFrame.make(Self.green, 64, 36),
      try PlainFrame.make(Self.blue, 64, 36)
    )
    try await show(red) { tile.rectangle = PictureRect(x: 200, y: 300, width: 480, height: 270) }
    #expect(try await place.shows(Self.red, in: PictureRect(x: 220, y: 320, width: 460, height: 250)))
    #expect(try await place.shows([0, 0, 0], in: PictureRect(x: 100, y: 50, width: 400, height: 180)))
    try await show(green) { tile.rectangle = nil }
    try await place.redraw()
    #expect(try await place.shows([0, 0, 0], in: PictureRect(x: 100, y: 50, width: 580, height: 520)))
    // Nobody waits for OpenGL on the thread that draws.
    try await show(blue) { Task.detached { tile.detach() } }
    #expect(await eventually { tile.state.withLock { $0.surface == nil } })
    try await place.redraw()
    #expect(try await place.shows([0, 0, 0], in: PictureRect(x: 100, y: 50, width: 580, height: 520)))
    #expect(tile.convertedFrameCount == 0)
  }

  @Test func aTileMovesAndLeavesItsWindowWhileOpenGLDraws() async throws {
    let place = try await Place()
    let (tile, mustEnd, count) = (place.tile, Locked(false), Locked(0))
    let frames = try [Self.red, Self.green].map { try PlainFrame.make($0, 64, 36) }
    let presenting = Task.detached {
      while !mustEnd.withLock({ $0 }) {
        try tile.render(frames[count.withLock { $0 } % 2], gravity: .resize)
        count.withLock { $0 += 1 }
        await Task.yield()
      }
    }
    for number in 0..<50 {
      let seen = count.withLock { $0 }
      tile.rectangle = PictureRect(x: number, y: 2 * number, width: 200 + 4 * number, height: 120)
      tile.setOpacity(.max / 2)
      #expect(await eventually { count.withLock { $0 } > seen + 2 })
      tile.rectangle = nil
      tile.rectangle = PictureRect(x: 100, y: 50, width: 320, height: 180)
      tile.setOpacity(.max)
      tile.detach()
      try place.attach()
    }
    mustEnd.withLock { $0 = true }
    try await presenting.value
    #expect(await eventually { !tile.isWaiting })
    try await place.show(PlainFrame.make(Self.blue, 64, 36))
    #expect(try await place.shows(Self.blue, in: PictureRect(x: 100, y: 50, width: 320, height: 180)))
    #expect(tile.convertedFrameCount == 0)
  }

  /// OpenGL waits for the compositor when it is opened.
  @Test func aCompositorThatStopsHoldsNobodyButTheThreadThatDraws() async throws {
    let place = try await Place()
    let (tile, frame) = (place.tile, try PlainFrame.make(Self.red))
    kill(place.server.processIdentifier, SIGSTOP)
    let presenting = Task.detached { try tile.render(frame, gravity: .resize) }
    #expect(await eventually { tile.isWaiting })
    // None of these returns while the compositor stands still, if it waits for the thread that draws without a limit.
    tile.setOpacity(.max)
    tile.redraw()
    tile.rectangle = PictureRect(x: 10, y: 10, width: 64, height: 36)
    tile.detach()
    kill(place.server.processIdentifier, SIGCONT)
    try await presenting.value
    try place.attach()
    try await place.show(frame)
    #expect(try await place.shows(Self.red, in: PictureRect(x: 10, y: 10, width: 64, height: 36)))
  }

  /// A compositor that has gone is an error of the next frame, and nothing else.
  @Test func aCompositorThatDiesEndsTheTileAndNotTheProgram() async throws {
    let place = try await Place()
    let frame = try PlainFrame.make(Self.red)
    try await place.show(frame)
    place.server.stop()
    let isTold = await eventually {
      do throws(RenderingError) { try place.tile.render(frame, gravity: .resize) } catch {
        return error.code == .rendererLost
      }
      return false
    }
    #expect(isTold)
    place.tile.leaveWindow()
  }

  /// This compositor offers no format of pictures, without which no OpenGL can be had.
  @Test(arguments: [["wp_viewporter"], []])
  func theProcessorDrawsWhereOpenGLCannot(globals: [String]) async throws {
    let call = try await HoldingCompositor.start(renderer: .openGL, globals: globals)
    for number: UInt64 in 1...4 {
      try call.tile.render(PlainFrame.make(Self.red), gravity: .resize)
      #expect(
        await eventually { call.shown == .init(repeating: "64x36 at 64x36", count: Int(number)) }, "\(call.shown)")
      #expect(await eventually { !call.tile.isWaiting })
      #expect(call.tile.convertedFrameCount == number)
    }
    #expect(!call.tile.mayDraw)
    call.end()
  }
}
