import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests from outside of windows that are drawn on with OpenGL.
@Suite(.enabled(if: GLPicture.isInstalled), .timeLimit(.minutes(5)))
struct GLWindowTests {
  private static let size = PictureSize(width: 320, height: 180)
  private static let larger = PictureSize(width: 400, height: 300)

  private func frame(_ pattern: String) throws -> SampleBuffer {
    try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 320, 180, pattern: pattern))
  }

  /// Whether a part of the screen shows what the processor would have drawn there.
  private func shows(
    _ screen: BGRAImage, _ sampleBuffer: SampleBuffer, _ size: PictureSize, atX x: Int, y: Int
  ) throws -> Bool {
    let part = screen.cropped(x: x, y: y, width: size.width, height: size.height)
    return try part.psnr(to: rendered(sampleBuffer, size: size, gravity: .resizeAspect)) >= 45
  }

  /// An X11 window, and the connection on which it was created.
  private final class Window {
    let connection: X11Connection
    let id: UInt32
    let visual: UInt32
    var screen: Int32 { connection.screenNumber }

    init(_ server: XServer) throws {
      connection = try #require(X11Connection(server.display))
      let root = xcb_setup_roots_iterator(xcb_get_setup(connection.pointer)).data.pointee
      (id, visual) = (xcb_generate_id(connection.pointer), root.root_visual)
      xcb_create_window(
        connection.pointer, root.root_depth, id, root.root, 20, 10, 320, 180, 0,
        UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), visual, 0, nil)
      xcb_map_window(connection.pointer, id)
      try #require(connection.synchronize())
    }

    func resize(to size: PictureSize) {
      let mask = XCB_CONFIG_WINDOW_WIDTH.rawValue | XCB_CONFIG_WINDOW_HEIGHT.rawValue
      xcb_configure_window(connection.pointer, id, UInt16(mask), [UInt32(size.width), UInt32(size.height)])
      connection.synchronize()
    }

    func destroy() {
      xcb_destroy_window(connection.pointer, id)
      connection.synchronize()
    }
  }

  @Test(.enabled(if: XServer.isInstalled)) func anX11WindowShowsWhatTheProcessorWouldShowOnEveryThread() async throws {
    let server = try await XServer(managesWindows: false, size: "640x480")
    let window = try Window(server)
    do {
      let display = try GLDisplay(.x11(window.connection.pointer, screen: window.screen))
      let surface = Locked(try GLWindowSurface(display, .x11(window.id, visual: window.visual)))
      for (index, pattern) in ["smpte", "ball", "zone-plate kx2=20 ky2=20"].enumerated() {
        let (frame, size) = (try frame(pattern), index < 2 ? Self.size : Self.larger)
        window.resize(to: size)
        // Tasks run on several threads.
        try await Task.detached {
          try surface.withLock { surface in
            #expect(surface.canShow(frame))
            try surface.show(frame, gravity: .resizeAspect, size: size)
          }
        }.value
        #expect(
          try await eventually { try await shows(server.screenshot(), frame, size, atX: 20, y: 10) }, "\(pattern)")
      }
      surface.withLock { $0.destroy() }
      let late = try frame("red")
      #expect(throws: RenderingError.self) {
        try surface.withLock { try $0.show(late, gravity: .resize, size: Self.larger) }
      }
    }
    // The window is still there for the processor.
    #expect(try await server.tool("xwininfo", "-root", "-tree").contains("400x300+20+10"))
    window.destroy()
  }

  @Test(.enabled(if: XServer.isInstalled)) func aVisualThatTheServerHasNotIsRefusedWithAReason() async throws {
    let server = try await XServer(managesWindows: false, size: "640x480")
    let window = try Window(server)
    let display = try GLDisplay(.x11(window.connection.pointer, screen: window.screen))
    #expect(throws: GLLibrary.unavailable("EGL has no configuration for such a window")) {
      try GLWindowSurface(display, .x11(window.id, visual: 0xFFFF))
    }
  }

  @Test func theRendererIsKnownAndSoIsWhetherTheProcessorDraws() throws {
    let context = try GLPicture().context
    #expect(!context.rendererName.isEmpty && context.textureLimit >= 2048)
    #expect(context.isSoftware == ["llvmpipe", "softpipe"].contains { context.rendererName.hasPrefix($0) })
  }

  @Test func whatTheDriverRefusesIsARenderingErrorAfterWhichTheRendererIsRebuilt() throws {
    let context = try GLPicture().context
    let error = #expect(throws: RenderingError.self) {
      try context.withCurrent(nil) { () throws(RenderingError) in
        context.library.activeTexture(0)
      }
    }
    #expect(error?.code == .invalidPixelFormat && error?.reason == "OpenGL error 0x500")
  }

  @Test(.enabled(if: XServer.isInstalled)) func aWindowAndAServerThatHaveGoneDoNotEndTheProgram() async throws {
    let server = try await XServer(managesWindows: false, size: "640x480")
    let window = try Window(server)
    let display = try GLDisplay(.x11(window.connection.pointer, screen: window.screen))
    let surface = try GLWindowSurface(display, .x11(window.id, visual: window.visual))
    let frame = try frame("smpte")
    try surface.show(frame, gravity: .resize, size: Self.size)
    window.destroy()
    try? surface.show(frame, gravity: .resize, size: Self.larger)
    server.stop()
    window.connection.synchronize()
    #expect(window.connection.isBroken)
    try? surface.show(frame, gravity: .resize, size: Self.size)
    surface.destroy()
  }

  /// A user without a display can report on the graphics, too.
  @Test func theReportSaysWhatOpenGLDrawsAndHowLong() async throws {
    let name = try GLPicture().context.rendererName
    let doctor = try await Demo.start(["doctor", "--gpu-report"]).result(seconds: 120)
    #expect(doctor.output.contains(" renderer: \(name)"), "\(doctor.output)")
    let lines = doctor.output.split(separator: "\n").filter { $0.contains("1920x1080: ") }
    let times = "OpenGL ES \\d+\\.\\d{3} ms, the processor \\d+\\.\\d{3} ms"
    let pattern = try Regex(
      "ok +(\\w+) 1920x1080: \(times); the pictures are alike \\(\\d\\d dB\\)", as: (Substring, Substring).self)
    let formats = lines.compactMap { $0.wholeMatch(of: pattern)?.1 }
    #expect(formats == ["NV12", "I420", "P010_10LE", "BGRA"], "\(doctor.output)")
  }

  @Test func programsLoadNoOpenGLUntilTheyUseIt() async throws {
    let result = try await RunningProgram("/usr/bin/readelf", ["--dynamic", "--wide", Demo.path]).result(seconds: 30)
    #expect(result.output.contains("NEEDED"))
    for library in ["libEGL", "libGL", "libwayland-egl"] { #expect(!result.output.contains(library), "\(library)") }
  }
}
