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
    let consumer = FirstFrame()
    let engine = try VideoEngine(
      "videotestsrc num-buffers=1 pattern=smpte75 ! video/x-raw,format=I420,width=640,height=360 ! appsink name=a")
    let events = engine.events()
    try await engine.start { _ in consumer }
    for await event in events { if case .finished = event { break } }
    await engine.stop()
    return try #require(consumer.frame)
  }

  private final class FirstFrame: SampleBufferConsumer, @unchecked Sendable {
    // One streaming thread writes the frame. It is read after the engine has stopped.
    private(set) var frame: SampleBuffer?

    func consume(_ sampleBuffer: SampleBuffer) { frame = frame ?? sampleBuffer }
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
