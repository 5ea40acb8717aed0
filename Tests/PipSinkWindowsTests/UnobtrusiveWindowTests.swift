import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// How a picture-in-picture window keeps out of the user's way, and fills the screen when the user wants that.
@MainActor @Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
struct UnobtrusiveWindowTests {
  private func isAt(_ window: PictureInPictureWindow, _ x: Int, _ y: Int, _ width: Int, _ height: Int) async -> Bool {
    await eventually { window.native?.rectangle == PictureRect(x: x, y: y, width: width, height: height) }
  }

  private func areControlsShown(_ window: PictureInPictureWindow) async -> Bool {
    await eventually { window.controls.action(x: 20, y: 20) == .close }
  }

  @Test func itGoesOutOfThePointersWayUnlessThePointerFollows() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    var presentation = PictureInPicturePresentation.plain(aspectRatio: 16 / 9)
    presentation.stepsAside = true
    presentation.controls = [.init(.close)]
    window.pointer.followingTime = .seconds(3600)
    try window.open(presentation)
    #expect(await isAt(window, 944, 604, 320, 180))
    try await server.tool("xdotool", "mousemove", "1000", "700")
    #expect(await isAt(window, 16, 604, 320, 180))
    // The pointer is meant for the window. Its controls appear, and it stays.
    try await server.tool("xdotool", "mousemove", "100", "650", "mousemove", "102", "650")
    #expect(await areControlsShown(window))
    #expect(await isAt(window, 16, 604, 320, 180))
    // Later the pointer comes for something else.
    window.pointer.followingTime = .zero
    try await server.tool("xdotool", "mousemove", "600", "300", "mousemove", "100", "650")
    #expect(await isAt(window, 944, 604, 320, 180))
    // Without the setting it stays.
    presentation.stepsAside = false
    window.update(presentation)
    window.controls.hideAtOnce()
    try await server.tool("xdotool", "mousemove", "600", "300", "mousemove", "1000", "650", "mousemove", "1002", "650")
    #expect(await areControlsShown(window))
    #expect(await isAt(window, 944, 604, 320, 180))
    window.close()
    server.stop()
  }

  @Test func itHasThreeSizesInTurn() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    try window.open(.plain(aspectRatio: 16 / 9))
    #expect(await isAt(window, 944, 604, 320, 180))
    for size in [PictureSize(width: 512, height: 288), .init(width: 213, height: 120), .init(width: 320, height: 180)] {
      window.changeSize()
      #expect(window.placement.size == size)
      #expect(
        await isAt(window, 1264 - size.width, 784 - size.height, size.width, size.height),
        "\(size): \(String(describing: window.native?.rectangle))")
    }
    window.close()
    server.stop()
  }

  @Test(arguments: [true, false])
  func itFillsTheScreenAndReturnsToItsPlace(hasWindowManager: Bool) async throws {
    let server = try await XServer(managesWindows: hasWindowManager)
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    var sizes: [PictureSize] = []
    window.eventHandler = { if case .renderSizeChanged(let size) = $0 { sizes.append(size) } }
    let (normal, full) = (PictureSize(width: 320, height: 180), PictureSize(width: 1280, height: 800))
    try window.open(.plain(aspectRatio: 16 / 9))
    #expect(await eventually { sizes.last == normal })
    window.toggleFullscreen()
    #expect(window.isFullscreen && window.abilities.contains(.fullscreen))
    #expect(await eventually { sizes.last == full })
    // Nothing that would give it another place or size counts.
    window.scroll(-3)
    window.changeSize()
    window.update(.plain(aspectRatio: 4 / 3))
    window.update(.plain(aspectRatio: 16 / 9))
    window.snap(to: .topLeft)
    #expect(window.placement.size == normal)
    window.snap(to: .bottomRight)
    window.toggleFullscreen()
    #expect(!window.isFullscreen)
    #expect(await eventually { sizes.last == normal })
    #expect(!sizes.contains { $0 != normal && $0 != full }, "\(sizes)")
    #expect(await isAt(window, 944, 604, 320, 180))
    // A window that was closed meanwhile opens in its own size.
    window.toggleFullscreen()
    #expect(await eventually { sizes.last == full })
    window.close()
    #expect(!window.isFullscreen)
    try window.open(.plain(aspectRatio: 16 / 9))
    #expect(await eventually { sizes.last == normal })
    #expect(await isAt(window, 944, 604, 320, 180))
    window.close()
    server.stop()
  }

  @Test func escapeEndsFullscreenAndThenClosesTheWindow() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    var actions: [PictureInPictureAction] = []
    window.eventHandler = { if case .action(let action) = $0 { actions.append(action) } }
    var presentation = PictureInPicturePresentation.plain(aspectRatio: 16 / 9)
    presentation.controls = [.init(.close), .init(.fullscreen)]
    try window.open(presentation)
    #expect(await isAt(window, 944, 604, 320, 180))
    // A press gives the window the keyboard.
    try await server.tool(
      "xdotool", "mousemove", "1100", "700", "sleep", "0.1", "click", "1", "sleep", "0.1", "key", "f")
    #expect(await eventually { actions == [.fullscreen] })
    window.toggleFullscreen()
    #expect(await isAt(window, 0, 0, 1280, 800))
    try await server.key("Escape")
    #expect(await eventually { actions == [.fullscreen, .fullscreen] })
    window.toggleFullscreen()
    #expect(await isAt(window, 944, 604, 320, 180))
    try await server.key("Escape")
    #expect(await eventually { actions == [.fullscreen, .fullscreen, .close] })
    window.close()
    server.stop()
  }

  @Test(.enabled(if: WindowManager.xfwm4.isInstalled, "xfwm4 is not installed"))
  func theUserEndsFullscreenThroughTheWindowManager() async throws {
    // Openbox shows no window in fullscreen that is not a normal one.
    let server = try await XServer(by: .xfwm4)
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    try window.open(.plain(aspectRatio: 16 / 9))
    #expect(await isAt(window, 944, 604, 320, 180))
    window.toggleFullscreen()
    #expect(await isAt(window, 0, 0, 1280, 800))
    let id = try #require(window.native as? X11FloatingWindow).id
    try await server.tool("wmctrl", "-i", "-r", "\(id)", "-b", "remove,fullscreen")
    #expect(await eventually { !window.isFullscreen })
    #expect(await isAt(window, 944, 604, 320, 180))
    window.close()
    server.stop()
  }

  @Test func itIsAsOpaqueAsTheAppSays() async throws {
    let server = try await XServer()
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    let compositor = try server.start("xcompmgr")
    let layer = SampleBufferDisplayLayer(name: "a", videoGravity: .resize)
    layer.attach(to: window.renderer)
    var presentation = PictureInPicturePresentation.plain(aspectRatio: 16 / 9)
    presentation.opacity = 0.25
    // The picture is white, and the screen behind it is as elsewhere.
    let environment = server.environment
    func expectOpacity(_ opacity: Double) async throws {
      var (found, wanted) = (-1.0, -1.0)
      let isRight = try await eventually {
        layer.enqueue(try PlainFrame.make([255, 255, 255]))
        let screen = try await XServer.screenshot(environment: environment)
        found = Double(screen.pixel(1000, 640)[2])
        wanted = 255 * opacity + Double(screen.pixel(100, 100)[2]) * (1 - opacity)
        return abs(found - wanted) <= 2
      }
      #expect(isRight, "\(found) is not \(wanted)")
    }
    #expect(window.unsupportedReason == nil)
    #expect(await eventually { window.native?.isComposited == true })
    try window.open(presentation)
    try await expectOpacity(0.25)
    presentation.opacity = 1
    window.update(presentation)
    try await expectOpacity(1)
    presentation.opacity = 0.5
    window.update(presentation)
    try await expectOpacity(0.5)
    compositor.stop()
    window.close()
    server.stop()
  }
}
