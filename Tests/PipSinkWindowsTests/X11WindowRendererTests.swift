import CGTK
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of a display layer in another program's window.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"), .timeLimit(.minutes(5)))
struct X11WindowRendererTests {
  private func frame() async throws -> SampleBuffer {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      "videotestsrc num-buffers=1 pattern=smpte75 ! video/x-raw,format=I420,width=640,height=360 ! appsink name=a")
    let events = engine.events()
    try await engine.start { _ in consumer }
    for await event in events { if case .finished = event { break } }
    await engine.stop()
    return try #require(consumer.sampleBuffers.first)
  }

  /// Starts another program that has a window, and finds the window's XID.
  private func otherWindow(_ server: XServer) async throws -> (program: RunningProgram, id: UInt) {
    let program = try server.start("xclock", "-update", "3600", "-geometry", "320x180+0+0")
    var id: UInt?
    _ = try await eventually {
      let lines = try await server.tool("xwininfo", "-root", "-tree").split(separator: "\n")
      // The clock's face is a child of its window.
      let words = lines.last { $0.contains("320x180") }?.split(separator: " ")
      id = words?.first.flatMap { UInt($0.dropFirst(2), radix: 16) }
      return id != nil
    }
    return (program, try #require(id))
  }

  private func shows(_ frame: SampleBuffer, _ server: XServer, _ id: UInt, size: PictureSize) async throws -> Bool {
    let offscreen = try OffscreenRenderer(size: size)
    try offscreen.render(frame, gravity: .resizeAspect)
    let expected = try #require(offscreen.image())
    return try await eventually { try await server.screenshot(of: "\(id)").psnr(to: expected) >= 40 }
  }

  @Test func itShowsFramesInAWindowThatItWasGivenAndFollowsItsSize() async throws {
    let server = try await XServer(managesWindows: false)
    // This window belongs to another connection, and nothing else draws in it.
    let owner = try #require(XOpenDisplay(server.display))
    defer { XCloseDisplay(owner) }
    let id = XCreateSimpleWindow(owner, XDefaultRootWindow(owner), 0, 0, 320, 180, 0, 0, 0)
    XMapWindow(owner, id)
    XSync(owner, 0)
    let renderer = try X11WindowRenderer(windowID: id, display: server.display)
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer)
    let frame = try await frame()
    layer.enqueue(frame)
    #expect(try await shows(frame, server, id, size: .init(width: 320, height: 180)))
    #expect(layer.bounds == PictureSize(width: 320, height: 180))
    try await server.tool("xdotool", "windowsize", "\(id)", "500", "400")
    // The renderer follows the size by itself, without another frame.
    #expect(try await shows(frame, server, id, size: .init(width: 500, height: 400)))
    #expect(layer.bounds == PictureSize(width: 500, height: 400))
    // The renderer draws in a part of the window and clears the rest.
    renderer.renderRectangle = PictureRect(x: 40, y: 30, width: 160, height: 90)
    let offscreen = try OffscreenRenderer(size: .init(width: 160, height: 90))
    try offscreen.render(frame, gravity: .resizeAspect)
    let expected = try #require(offscreen.image())
    #expect(
      try await eventually {
        try await server.screenshot(of: "\(id)").cropped(x: 40, y: 30, width: 160, height: 90).psnr(to: expected) >= 40
      })
    #expect(try await server.screenshot(of: "\(id)").pixel(30, 200)[0..<3].allSatisfy { $0 == 0 })
    #expect(layer.bounds == PictureSize(width: 160, height: 90))
  }

  /// A gray window of another connection that takes clicks.
  private final class HostWindow {
    let server: XServer
    private let owner: OpaquePointer
    let id: UInt

    /// - Parameters:
    ///   - redirects: whether the window decides about its children, as a container of other programs' windows does.
    ///   - isShown: whether it is shown at once.
    init(redirects: Bool = false, isShown: Bool = true) async throws {
      server = try await XServer(managesWindows: false, size: "640x480")
      owner = try #require(XOpenDisplay(server.display))
      id = XCreateSimpleWindow(owner, XDefaultRootWindow(owner), 0, 0, 400, 300, 0, 0, 0x808080)
      XSelectInput(owner, id, ButtonPressMask | (redirects ? SubstructureRedirectMask : 0))
      if isShown { show() }
      XSync(owner, 0)
    }

    deinit { XCloseDisplay(owner) }

    func show() {
      XMapWindow(owner, id)
      XSync(owner, 0)
    }

    func hide() {
      XUnmapWindow(owner, id)
      XSync(owner, 0)
    }

    /// Whether the server knows no window in this one.
    var hasNoChildren: Bool {
      var (root, parent, count) = (Window(), Window(), UInt32(0))
      var children: UnsafeMutablePointer<Window>?
      XQueryTree(owner, id, &root, &parent, &children, &count)
      if let children { XFree(children) }
      return count == 0
    }

    /// The position of the next click that the window gets.
    func click() async throws -> PictureSize? {
      var event = XEvent()
      var position: PictureSize?
      _ = await eventually {
        guard XCheckTypedWindowEvent(owner, id, ButtonPress, &event) != 0 else { return false }
        position = PictureSize(width: Int(event.xbutton.x), height: Int(event.xbutton.y))
        return true
      }
      return position
    }

    /// Whether the window has one colour, given as blue, green and red, at each of these positions.
    func shows(_ color: [UInt8], at positions: [(x: Int, y: Int)]) async throws -> Bool {
      try await eventually {
        let screen = try await server.screenshot(of: "\(id)")
        return positions.allSatisfy { x, y in
          zip(screen.pixel(x, y), color).allSatisfy { abs(Int($0) - Int($1)) <= 4 }
        }
      }
    }
  }

  private static let (red, gray, cover): ([UInt8], [UInt8], [UInt8]) = ([0, 0, 255], [128, 128, 128], [28, 28, 28])
  private static let corners = [(x: 0, y: 0), (x: 399, y: 0), (x: 0, y: 299), (x: 399, y: 299)]

  @Test(arguments: [false, true])
  func itCoversNothingBeforeItsFirstPictureAndAfterItHasLeft(redirects: Bool) async throws {
    let host = try await HostWindow(redirects: redirects)
    let renderer = try X11WindowRenderer(windowID: host.id, display: host.server.display)
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer, videoGravity: .resize)
    #expect(renderer.isVisible && renderer.renderSize == PictureSize(width: 400, height: 300))
    #expect(try await host.shows(Self.gray, at: Self.corners))
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(try await host.shows(Self.red, at: Self.corners))
    layer.flushAndRemoveImage()
    #expect(try await host.shows([0, 0, 0], at: Self.corners))
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(try await host.shows(Self.red, at: Self.corners))
    #expect(renderer.leaveWindow())
    #expect(host.hasNoChildren && !renderer.isVisible)
    #expect(try await host.shows(Self.gray, at: Self.corners))
    layer.enqueue(try PlainFrame.make(Self.red))
    renderer.renderRectangle = PictureRect(x: 10, y: 10, width: 100, height: 100)
    renderer.text = "Camera is off"
    #expect(renderer.leaveWindow())
    #expect(host.hasNoChildren && layer.error == nil)
    #expect(try await host.shows(Self.gray, at: Self.corners))
  }

  @Test func noFrameIsConvertedForAWindowThatIsNotShownAndTheNewestOneIsThereWhenItIs() async throws {
    let host = try await HostWindow(isShown: false)
    let renderer = try X11WindowRenderer(windowID: host.id, display: host.server.display)
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer, videoGravity: .resize)
    for _ in 0..<3 {
      #expect(await eventually { !renderer.isVisible })
      let (count, converted) = (layer.statistics.hidden, renderer.convertedFrameCount)
      layer.enqueue(try PlainFrame.make(Self.red))
      #expect(await eventually { layer.statistics.hidden > count })
      #expect(renderer.convertedFrameCount == converted)
      host.show()
      #expect(try await host.shows(Self.red, at: Self.corners))
      host.hide()
      layer.flushAndRemoveImage()
    }
  }

  @Test func itIsKnownWhenAFrameWasOnTheScreen() async throws {
    let host = try await HostWindow()
    let renderer = try X11WindowRenderer(windowID: host.id, display: host.server.display)
    let router = FrameRouter()
    let consumer = router.addStream("a", inApp: SampleBufferDisplayLayer(name: "foreign", renderer: renderer))
    let isKnown = try await eventually {
      var frame = try PlainFrame.make(Self.red)
      frame.receivedAt = .now
      consumer.consume(frame)
      return router.renderStatistics(of: "a").map { $0.screenLatencies.count > 0 } ?? false
    }
    #expect(isKnown)
  }

  @Test func clicksOnAPictureGoToTheWindow() async throws {
    let host = try await HostWindow()
    let renderer = try X11WindowRenderer(windowID: host.id, display: host.server.display)
    renderer.renderRectangle = PictureRect(x: 100, y: 50, width: 200, height: 100)
    try renderer.render(PlainFrame.make(Self.red), gravity: .resize)
    #expect(try await host.shows(Self.red, at: [(100, 50), (299, 149)]))
    #expect(try await host.shows(Self.gray, at: [(99, 50), (100, 49), (300, 149), (299, 150)]))
    try await host.server.tool("xdotool", "mousemove", "150", "80", "click", "1")
    #expect(try await host.click() == PictureSize(width: 150, height: 80))
  }

  @Test func aTextReplacesThePictureAndFollowsTheWindowsSize() async throws {
    let host = try await HostWindow()
    let renderer = try X11WindowRenderer(windowID: host.id, display: host.server.display)
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer, videoGravity: .resize)
    // The text is shown without a frame.
    renderer.text = "In picture-in-picture"
    #expect(try await host.shows(Self.cover, at: Self.corners))
    let text = try await host.server.screenshot(of: "\(host.id)")
    #expect(text.bytes.contains { $0 > 200 }, "the text has a light colour")
    for (width, height) in [(200, 150), (500, 350)] {
      try await host.server.tool("xdotool", "windowsize", "\(host.id)", "\(width)", "\(height)")
      #expect(try await host.shows(Self.cover, at: [(0, 0), (width - 1, 0), (0, height - 1), (width - 1, height - 1)]))
      // The text is in the middle.
      let screen = try await host.server.screenshot(of: "\(host.id)")
      let middle = screen.cropped(x: width / 2 - 80, y: height / 2 - 20, width: 160, height: 40)
      #expect(middle.bytes.contains { $0 > 200 })
    }
    // Frames that arrive meanwhile do not change it.
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(await eventually { layer.statistics.hidden == 1 })
    #expect(try await host.shows(Self.cover, at: [(0, 0), (499, 349)]))
    #expect(renderer.convertedFrameCount == 0)
    renderer.text = nil
    #expect(try await host.shows(Self.red, at: [(0, 0), (499, 349)]))
    renderer.text = "Camera is off"
    #expect(try await host.shows(Self.cover, at: [(0, 0), (499, 349)]))
    layer.flushAndRemoveImage()
    #expect(try await host.shows(Self.cover, at: [(0, 0), (499, 349)]))
    renderer.text = nil
    #expect(try await host.shows([0, 0, 0], at: [(0, 0), (499, 349)]))
  }

  @Test func theEndOfTheWindowIsATypedErrorAndTheLayerGoesOnElsewhere() async throws {
    let server = try await XServer(managesWindows: false)
    let (program, id) = try await otherWindow(server)
    let renderer = try X11WindowRenderer(windowID: id, display: server.display)
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer)
    let frame = try await frame()
    layer.enqueue(frame)
    #expect(await eventually { layer.statistics.presented == 1 })
    try renderer.updateSize()
    #expect(renderer.renderSize == PictureSize(width: 320, height: 180))
    program.stop()
    #expect(
      await eventually {
        layer.enqueue(frame)
        return layer.error?.code == .rendererLost
      })
    #expect(throws: RenderingError.self) { try renderer.updateSize() }
    // The layer has the error before it has failed, because it tries the frame once more.
    #expect(await eventually { layer.status == .failed })
    #expect(await eventually { layer.bounds == nil })
    let offscreen = try OffscreenRenderer(size: .init(width: 64, height: 36))
    layer.attach(to: offscreen)
    #expect(await eventually { offscreen.hasImage })
  }

  @Test func theEndOfTheServerIsATypedErrorToo() async throws {
    let server = try await XServer(managesWindows: false)
    let (program, id) = try await otherWindow(server)
    let renderer = try X11WindowRenderer(windowID: id, display: server.display)
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer)
    let frame = try await frame()
    layer.enqueue(frame)
    #expect(await eventually { layer.statistics.presented == 1 })
    server.stop()
    #expect(
      await eventually {
        layer.enqueue(frame)
        return layer.error?.code == .rendererLost
      })
    program.stop()
  }

  @Test func aWindowOrServerThatDoesNotExistIsATypedError() async throws {
    let server = try await XServer(managesWindows: false)
    #expect(throws: PipSinkError.system(.displayUnavailable(reason: "there is no window 0x123456"))) {
      try X11WindowRenderer(windowID: 0x123456, display: server.display)
    }
    #expect(throws: PipSinkError.system(.displayUnavailable(reason: "the X server :9999 cannot be reached"))) {
      try X11WindowRenderer(windowID: 1, display: ":9999")
    }
  }
}
