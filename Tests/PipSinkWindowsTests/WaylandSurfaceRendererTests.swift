import Foundation
import Glibc
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of pictures in Wayland surfaces in a real compositor, on connections of PipSink and of other owners.
@Suite(.enabled(if: WaylandServer.isInstalled(.sway), "sway, grim and root are needed"), .timeLimit(.minutes(5)))
struct WaylandSurfaceRendererTests {
  private static let red: [UInt8] = [0, 0, 255]
  private static let blue: [UInt8] = [255, 0, 0]

  private func socket(_ server: WaylandServer) throws -> String { try #require(server.environment["WAYLAND_DISPLAY"]) }

  /// A window that fills the screen. The renderer under test uses its connection and surface as if they belonged to
  /// another owner.
  @MainActor
  private final class Owner {
    let window: WaylandAppWindow

    init(_ socket: String) throws {
      window = try WaylandAppWindow(
        display: socket, size: PictureSize(width: 640, height: 480), BackgroundOptions()
      ) { _ in }
      window.show()
    }

    var hasSize: Bool { window.size == PictureSize(width: 1024, height: 768) }

    func makeRenderer() throws -> WaylandSurfaceRenderer {
      let surface = try #require(window.surface)
      return try WaylandSurfaceRenderer(
        display: window.connection.loop.display, surface: surface.surface.pointer)
    }

    /// Commits the surface, as a toolkit does when it draws.
    func draw() {
      window.surface?.commit()
      window.flush()
    }
  }

  /// A picture-in-picture window with a tile that fills it.
  @MainActor
  private final class Floating {
    private var window: WaylandFloatingWindow?
    private(set) var tile: WaylandTile?

    init(_ socket: String) throws {
      let window = try WaylandFloatingWindow(
        .layer, display: socket, size: PictureSize(width: 320, height: 180)
      ) { [weak self] event in
        if case .resized(let size) = event {
          self?.tile?.rectangle = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
        }
      }
      self.window = window
      tile = try window.makeTile(decoration: WindowOverlay(), renderer: .automatic) as? WaylandTile
      window.snap(to: WindowPlace(.topLeft, stackOffset: 0), size: PictureSize(width: 320, height: 180))
      window.show()
    }

    func hide() { window?.hide() }
  }

  private func shows(_ server: WaylandServer, _ colour: [UInt8], _ x: Int, _ y: Int) async throws -> Bool {
    try await eventually { isAlike(try await server.screenshot().pixel(x, y), colour) }
  }

  /// Whether two colours are equal except for errors of scaling.
  private func isAlike(_ pixel: [UInt8], _ colour: [UInt8]) -> Bool {
    zip(pixel, colour).allSatisfy { abs(Int($0) - Int($1)) <= 3 }
  }

  @Test func itShowsFramesInAPartOfASurfaceOfAnotherConnectionAndLeavesIt() async throws {
    let server = try await WaylandServer(.sway)
    let owner = try await Owner(socket(server))
    #expect(await eventually { await owner.hasSize })
    let renderer = try await owner.makeRenderer()
    #expect(!renderer.isVisible && renderer.renderSize == nil)
    renderer.renderRectangle = PictureRect(x: 100, y: 50, width: 320, height: 180)
    // The new place takes effect when the owner draws.
    await owner.draw()
    #expect(renderer.renderSize == PictureSize(width: 320, height: 180))
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer)
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(try await shows(server, Self.red, 104, 54))
    let screen = try await server.screenshot()
    for (x, y, colour) in [
      (100, 50, Self.red), (419, 229, Self.red), (260, 229, Self.red), (99, 60, [0, 0, 0]), (420, 60, [0, 0, 0]),
      (200, 49, [0, 0, 0]), (200, 230, [0, 0, 0]),
    ] { #expect(isAlike(screen.pixel(x, y), colour), "\(x), \(y)") }
    // The renderer now shows another picture in another place.
    renderer.renderRectangle = PictureRect(x: 600, y: 400, width: 200, height: 100)
    await owner.draw()
    layer.enqueue(try PlainFrame.make(Self.blue))
    #expect(try await shows(server, Self.blue, 620, 445))
    #expect(try await shows(server, [0, 0, 0], 104, 54))
    renderer.leaveWindow()
    #expect(!renderer.isVisible)
    #expect(try await shows(server, [0, 0, 0], 620, 445))
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(await !owner.window.isBroken)
    await owner.window.hide()
  }

  @Test func aTextReplacesThePictureAndFollowsTheSize() async throws {
    let server = try await WaylandServer(.sway)
    let owner = try await Owner(socket(server))
    #expect(await eventually { await owner.hasSize })
    let renderer = try await owner.makeRenderer()
    let layer = SampleBufferDisplayLayer(name: "foreign", renderer: renderer, videoGravity: .resize)
    let cover: [UInt8] = [28, 28, 28]
    renderer.renderRectangle = PictureRect(x: 100, y: 50, width: 320, height: 180)
    // The text is shown without a frame.
    renderer.text = "In picture-in-picture"
    await owner.draw()
    for (x, y) in [(100, 50), (419, 50), (100, 229), (419, 229)] { #expect(try await shows(server, cover, x, y)) }
    let screen = try await server.screenshot()
    #expect(
      screen.cropped(x: 180, y: 120, width: 160, height: 40).bytes.enumerated().contains { $0 % 4 < 3 && $1 > 200 })
    renderer.renderRectangle = PictureRect(x: 200, y: 100, width: 500, height: 400)
    await owner.draw()
    for (x, y) in [(200, 100), (699, 100), (200, 499), (699, 499)] { #expect(try await shows(server, cover, x, y)) }
    // Frames that arrive meanwhile do not change it.
    layer.enqueue(try PlainFrame.make(Self.red))
    #expect(await eventually { layer.statistics.hidden == 1 })
    #expect(try await shows(server, cover, 210, 110))
    renderer.text = nil
    #expect(try await shows(server, Self.red, 210, 110))
    renderer.text = "Camera is off"
    #expect(try await shows(server, cover, 210, 110))
    layer.flushAndRemoveImage()
    renderer.text = nil
    #expect(try await shows(server, [0, 0, 0], 210, 110))
    renderer.leaveWindow()
    await owner.window.hide()
  }

  @Test func aSurfaceWhoseCompositorDiesIsLost() async throws {
    let server = try await WaylandServer(.sway)
    let owner = try await Owner(socket(server))
    #expect(await eventually { await owner.hasSize })
    let renderer = try await owner.makeRenderer()
    renderer.renderRectangle = PictureRect(x: 0, y: 0, width: 320, height: 180)
    server.stop()
    #expect(await eventually { await owner.window.isBroken })
    var code: RenderingError.Code?
    let frame = try PlainFrame.make(Self.red)
    #expect(
      await eventually {
        do throws(RenderingError) {
          try renderer.render(frame, gravity: .resizeAspect)
        } catch {
          code = error.code
        }
        return code == .rendererLost
      })
    renderer.leaveWindow()
  }

  @Test func aLayersPicturesGoOnWithoutAnythingElseThatChanges() async throws {
    let server = try await WaylandServer(.sway)
    let window = try await Floating(socket(server))
    let tile = try #require(await window.tile)
    #expect(await eventually { tile.isVisible })
    for (index, colour) in [Self.red, Self.blue, [0, 255, 0], Self.red].enumerated() {
      try tile.render(try PlainFrame.make(colour), gravity: .resize)
      // The compositor requests the next picture although no screenshot has been taken.
      #expect(await eventually { !tile.isWaiting }, "\(index)")
    }
    #expect(try await shows(server, Self.red, 20, 20))
    #expect(tile.convertedFrameCount == 4)
    await window.hide()
    #expect(!tile.isVisible)
  }

  @MainActor @Test func aCompositorThatIsNotThereOrDoesNotAnswerIsAnError() async throws {
    #expect(throws: PipSinkError.self) { try WaylandConnection.shared("/nowhere/wayland-9") }
    // A process listens on this socket but never answers.
    let folder = try TemporaryFolder()
    let path = folder.path("wayland-mute")
    let descriptor = Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8).prefix($0.count - 1)) }
    let isListening = withUnsafePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0 && listen(descriptor, 1) == 0
      }
    }
    try #require(isListening)
    do {
      _ = try WaylandConnection.shared(path)
      Issue.record("a socket that does not answer was accepted as a compositor")
    } catch {
      #expect("\(error)".contains("does not answer"))
    }
  }
}
