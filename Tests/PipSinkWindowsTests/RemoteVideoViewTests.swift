import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests from outside a view in an app's window. Each test runs in a process of its own, since the environment selects
/// the display.
@Suite(.enabled(if: XServer.isInstalled, "Xvfb, openbox or the X tools are not installed"))
struct RemoteVideoViewTests {
  @Test func anotherLayerHasTheViewsPlaceAtOnceAndNothingIsSeenOfTheOneBefore() async throws {
    let server = try await XServer(size: "480x320")
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      for (name, value) in environment { setenv(name, value, 1) }
      try await LayerExchange.run(environment)
    }
    server.stop()
  }

  @Test func anInvalidatedSessionHasNoWindowAndItsRunReturns() async throws {
    let server = try await XServer(size: "480x320")
    await #expect(processExitsWith: .success) { [environment = server.environment as [String: String]] in
      try await SessionEnd.run(environment)
    }
    server.stop()
  }
}

/// Ends a session while it runs.
private enum SessionEnd {
  @MainActor
  static func run(_ environment: [String: String]) async throws {
    for (name, value) in environment { setenv(name, value, 1) }
    let display = try WindowDisplay(title: "A call", size: PictureSize(width: 320, height: 180))
    let session = try PictureInPictureSession(
      "videotestsrc is-live=true ! video/x-raw,width=64,height=48 ! appsink name=a",
      display: display)
    let hasReturned = Locked(false)
    let running = Task {
      try await session.run()
      hasReturned.withLock { $0 = true }
    }
    func hasWindow(_ title: String) async throws -> Bool {
      let windows = try RunningProgram("/usr/bin/wmctrl", ["-l"], environment: environment)
      return try await windows.result(seconds: 30).output.contains(title)
    }
    #expect(try await eventually { try await hasWindow("A call") })
    display.title = "Another call"
    #expect(try await eventually { try await hasWindow("Another call") })
    #expect(!hasReturned.withLock { $0 })
    await session.invalidate()
    try await running.value
    #expect(try await eventually { try await !hasWindow("call") })
  }
}

/// Sends frames to two layers, of which the view has one. A failure in this process is a failure of the test.
private enum LayerExchange {
  @MainActor
  static func run(_ environment: [String: String]) async throws {
    let (old, new) = (makeLayer("old"), makeLayer("new"))
    let view = RemoteVideoView(streamID: "a", layer: old)
    let container = VideoContainer()
    try container.add(view)
    let window = try VideoWindow(content: container, size: PictureSize(width: 320, height: 180))
    view.placeholder = nil
    view.showsName = false
    try window.show()
    /// Sends a frame to each of the layers and returns a screenshot.
    func screen(_ layers: SampleBufferDisplayLayer...) async throws -> Screen {
      for layer in layers { layer.enqueue(try PlainFrame.make(layer === old ? Screen.red : Screen.green)) }
      return Screen(try await XServer.screenshot(environment: environment))
    }

    var place: [Int] = []
    let isShown = try await eventually {
      place = try await screen(old).red
      return place.count == 320 * 180
    }
    try #require(isShown, "\(place.count) pixels of the first layer's colour")

    // The new layer has no frame yet.
    view.layer = new
    #expect(try await eventually { try await screen(old).isBlack(place) })
    #expect(old.bounds == nil && new.bounds == view.renderSize)
    for _ in 0..<5 { #expect(try await screen(old).isBlack(place), "the view does not show its former layer's frames") }

    var reds = 0
    let isExchanged = try await eventually {
      let screen = try await screen(old, new)
      reds += screen.red.count
      return screen.green == place
    }
    #expect(isExchanged && reds == 0)
    for _ in 0..<5 {
      let screen = try await screen(old, new)
      #expect(screen.green == place && screen.red.isEmpty)
    }

    // The layer shows the newest frame that came in the meantime, and needs no further one.
    view.layer = old
    #expect(try await eventually { try await screen().red == place })
    #expect(new.bounds == nil && view.layer === old)
  }

  private static func makeLayer(_ name: String) -> SampleBufferDisplayLayer {
    SampleBufferDisplayLayer(name: name, videoGravity: .resize)
  }

  private struct Screen {
    /// The colours are blue, green and red values.
    static let (red, green) = ([0, 0, 255] as [UInt8], [0, 255, 0] as [UInt8])
    private let bytes: [UInt8]

    init(_ image: BGRAImage) { bytes = image.bytes }

    /// The indices of all pixels with the colour of the old layer's frames, from the upper left corner.
    var red: [Int] { pixels(Self.red) }
    var green: [Int] { pixels(Self.green) }

    func isBlack(_ place: [Int]) -> Bool { place.allSatisfy { has($0, [0, 0, 0]) } }

    private func pixels(_ color: [UInt8]) -> [Int] { (0..<bytes.count / 4).filter { has($0, color) } }

    /// Whether a pixel nearly has a colour. This test does not check the conversion of colours.
    @inline(__always)
    private func has(_ pixel: Int, _ color: [UInt8]) -> Bool {
      (0..<3).allSatisfy { abs(Int(bytes[4 * pixel + $0]) - Int(color[$0])) < 8 }
    }
  }
}
