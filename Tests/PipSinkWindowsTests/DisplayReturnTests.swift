import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of a program that continues while its display server dies and comes back.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox or the X tools are not installed"))
struct DisplayReturnTests {
  @MainActor @Test func aDisplayThatIsLostAndComesBackHasTheWindowAgain() async throws {
    let server = try await XServer(named: XServer.ownName)
    let environment = server.environment
    let router = FrameRouter()
    let input = router.input(for: "a")
    let window = try PictureInPictureWindow(display: server.display, placementPath: nil)
    var configuration = PictureInPictureController.Configuration()
    configuration.retryPolicy = nil
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: "a"), window: window, configuration: configuration)
    let states = Locked<[PictureInPictureState]>([])
    let stops = Locked<[String]>([])
    let watching = Task {
      for await event in controller.events() {
        if case .stateChanged(let state) = event { states.withLock { $0.append(state) } }
        if case .didStop(let reason) = event { stops.withLock { $0.append("\(reason)") } }
      }
    }
    defer { watching.cancel() }
    var number: UInt64 = 0
    func send() throws {
      number += 1
      input.consume(SampleBuffer(pixelBuffer: try PlainFrame.make([0, 0, 255]).pixelBuffer, sequenceNumber: number))
    }
    /// Sends a frame and returns whether the window's picture is on the server's screen.
    func isShown(on environment: [String: String]) async throws -> Bool {
      try send()
      let pixel = try await XServer.screenshot(environment: environment).pixel(1280 - 16 - 160, 800 - 16 - 90)
      return pixel[2] > 200 && pixel[0] < 40
    }
    try send()
    try controller.start()
    #expect(try await eventually { try await isShown(on: environment) })
    #expect(controller.state == .active)

    server.stop()
    #expect(await eventually { !controller.isActive })
    #expect(await eventually { stops.withLock { $0.count } == 1 })
    #expect(stops.withLock { $0.first ?? "" }.contains("the display server has gone"))
    controller.uninitialize()
    #expect(throws: PipSinkError.self) { try controller.initialize() }
    #expect(controller.state == .error)
    // Frames continue to arrive in the meantime, and are shown nowhere.
    try send()

    server.forgetName()
    let second = try await XServer(named: server.display)
    try controller.initialize()
    #expect(controller.state == .initialized)
    try controller.start()
    #expect(try await eventually { try await isShown(on: environment) })
    #expect(controller.isActive)
    controller.stop()
    #expect(states.withLock { $0.contains(.error) })
    second.stop()
  }
}
