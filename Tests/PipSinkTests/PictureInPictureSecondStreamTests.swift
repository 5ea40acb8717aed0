import Testing

@testable import PipSink
@testable import TestSupport

/// Two streams in one picture-in-picture window.
@MainActor @Suite struct PictureInPictureSecondStreamTests {
  private typealias Call = PictureInPictureControllerTests.Call

  private func started(_ call: Call) async throws -> PictureInPictureController {
    let controller = try #require(call.controller)
    for id: StreamID in ["a", "b"] { controller.streamSelector.set(id) }
    try controller.start()
    #expect(await eventually { controller.isActive })
    return controller
  }

  /// Returns the number of the frame that was shown last in the app.
  private func lastInApp(_ call: Call, _ id: StreamID) -> UInt64? {
    call.inApp[id]?.events.reversed().lazy.compactMap { event in
      if case .frame(_, let sequence) = event { sequence } else { nil }
    }.first
  }

  @Test func theSecondStreamHasTheRightHalfAndGoesBackToTheAppWithItsNextFrame() async throws {
    let call = try Call()
    let controller = try await started(call)
    #expect(controller.aspectRatio == 1)
    try controller.setSecondStream("b")
    #expect(controller.secondStreamID == "b")
    #expect(call.window.presentation?.secondStreamID == "b")
    #expect(controller.aspectRatio == 2, "the window holds two pictures that both have the shape of the first one")
    #expect(call.window.renderer.renderSize == PictureSize(width: 16, height: 18))
    let before = lastInApp(call, "b")
    call.send("b")
    #expect(lastInApp(call, "b") == before, "the stream is in the window")
    let left = try #require(call.window.renderer as? OffscreenRenderer)
    let right = try #require(call.window.otherRenderers[0] as? OffscreenRenderer)
    #expect(await eventually { left.image() != nil && right.image() != nil })
    #expect(right.size == PictureSize(width: 16, height: 18))
    #expect(call.window.image()?.size == PictureSize(width: 32, height: 18))

    try controller.setSecondStream(nil)
    #expect(controller.secondStreamID == nil)
    #expect(call.window.presentation?.secondStreamID == nil)
    #expect(controller.aspectRatio == 1)
    #expect(call.window.renderer.renderSize == PictureSize(width: 32, height: 18))
    call.send("b")
    #expect(lastInApp(call, "b") == 3)
    call.send("a")
    #expect(lastInApp(call, "a") == 1, "the first stream has not moved")
  }

  @Test func theHalvesOfTheWindowHaveTheStreamsPictures() async throws {
    let router = FrameRouter()
    let window = try OffscreenPictureInPictureWindow(size: PictureSize(width: 64, height: 32))
    // The order of the values is blue, green, red.
    let colors: [StreamID: [UInt8]] = ["red": [0, 0, 255], "blue": [255, 0, 0]]
    for (id, color) in colors {
      let picture = try PlainFrame.make(color).pixelBuffer
      router.addStream(id, inApp: nil).consume(SampleBuffer(pixelBuffer: picture, sequenceNumber: 1))
    }
    let controller = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: "red"), window: window)
    try controller.setSecondStream("blue")
    try controller.start()
    #expect(await eventually { controller.isActive })
    /// Whether each half has its expected colour up to the edge between them.
    func isShown(_ left: StreamID, _ right: StreamID) -> Bool {
      guard let image = window.image(), image.size.width == 64 else { return false }
      for (x, id) in [(16, left), (30, left), (33, right), (48, right)] {
        guard let color = colors[id] else { return false }
        if zip(image.pixel(x, 16), color).contains(where: { abs(Int($0) - Int($1)) > 8 }) { return false }
      }
      return true
    }
    #expect(await eventually { isShown("red", "blue") })
    try controller.setSource(streamID: "blue")
    #expect(controller.secondStreamID == "red", "the streams have changed places")
    #expect(await eventually { isShown("blue", "red") })
  }

  @Test func aSecondStreamWaitsForTheWindowAndForItsPicture() async throws {
    let call = try Call(ready: ["a"])
    let controller = try #require(call.controller)
    try controller.setSecondStream("b")
    try controller.start()
    #expect(await eventually { controller.isActive })
    #expect(controller.secondStreamID == "b")
    #expect(call.window.presentation?.secondStreamID == nil, "the second stream has no picture yet")
    call.send("b")
    #expect(await eventually { call.window.presentation?.secondStreamID == "b" })
    controller.stop()
    call.send("b")
    #expect(lastInApp(call, "b") == 2)
    #expect(controller.secondStreamID == "b", "the second stream is kept for the next window")
    try controller.start()
    #expect(call.window.presentation?.secondStreamID == "b")
  }

  @Test func aSecondStreamWhoseCameraIsOffHasNoHalfUntilItIsOnAgain() async throws {
    let call = try Call()
    let controller = try await started(call)
    try controller.setSecondStream("b")
    controller.streamSelector.set("b", placeholder: .cameraOff)
    #expect(call.window.presentation?.secondStreamID == nil)
    controller.streamSelector.set("b")
    #expect(call.window.presentation?.secondStreamID == "b")
    controller.streamSelector.set("a", placeholder: .cameraOff)
    #expect(controller.currentStreamID == "b", "the remaining picture has the whole window")
    #expect(controller.secondStreamID == nil)
    #expect(call.window.presentation?.places.map(\.streamID) == ["b"])
    controller.streamSelector.set("a")
    #expect(call.window.presentation?.places.map(\.streamID) == ["a", "b"])
  }

  @Test func theStreamThatIsLeftHasTheWholeWindow() async throws {
    for gone: StreamID in ["a", "b"] {
      let call = try Call()
      let controller = try await started(call)
      try controller.setSecondStream("b")
      controller.streamSelector.remove(gone)
      #expect(controller.isActive)
      #expect(call.window.presentation?.places.map(\.streamID) == [gone == "a" ? "b" : "a"])
      // The requests remain until they are withdrawn.
      controller.streamSelector.set(gone)
      #expect(call.window.presentation?.places.map(\.streamID) == ["a", "b"])
      try controller.setSecondStream(nil)
      controller.streamSelector.remove("b")
      controller.streamSelector.set("b")
      #expect(call.window.presentation?.places.map(\.streamID) == ["a"])
    }
  }

  @Test func whatCannotBeTheSecondStreamIsRefusedAndChangesNothing() async throws {
    let call = try Call()
    let controller = try await started(call)
    try controller.setSecondStream("b")
    #expect(throws: PipSinkError.stream(.unknown("nobody", known: ["a", "b"]))) {
      try controller.setSecondStream("nobody")
    }
    #expect(throws: PipSinkError.self) { try controller.setSecondStream("a") }
    #expect(controller.secondStreamID == "b")
    #expect(call.window.presentation?.secondStreamID == "b")
  }

  @Test func bothStreamsOfTheWindowAreDecodedInTheBackgroundUntilNobodySeesIt() async throws {
    let call = try Call()
    let controller = try await started(call)
    let engine = try VideoEngine()
    controller.engine = engine
    try controller.setSecondStream("b")
    controller.applicationDidEnterBackground()
    #expect(await eventually { engine.visibleStreamIDs == ["a", "b"] })
    call.window.eventHandler?(.visibilityChanged(false))
    #expect(engine.visibleStreamIDs == [])
  }

  @Test func aSessionsSecondStreamMayBeStillToCome() async throws {
    let display = try OffscreenDisplay()
    var configuration = PictureInPictureSession.Configuration()
    configuration.secondPictureInPictureStreamID = "b"
    let session = try PictureInPictureSession(display: display, configuration: configuration)
    let inputs = [try session.addInput("a", stallTimeout: nil), try session.addInput("b", stallTimeout: nil)]
    let picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
    for input in inputs { input.push(picture) }
    try session.startPictureInPicture("a")
    #expect(
      await eventually {
        session.secondPictureInPictureStreamID == "b" && session.controller.presentation.secondStreamID == "b"
      })
    #expect(await eventually { session.placeholder(of: "b") == .inPictureInPicture })
    try session.setSecondPictureInPictureStream(nil)
    #expect(await eventually { session.placeholder(of: "b") == nil })
    #expect(session.placeholder(of: "a") == .inPictureInPicture)
    await session.invalidate()
  }

  @Test func aStreamThatTheRouterHasBeforeItsSessionIsRefusedUntilThat() async throws {
    let session = try PictureInPictureSession(display: try OffscreenDisplay())
    _ = try session.addInput("a", stallTimeout: nil)
    session.router.addStream("b", inApp: nil)
    #expect(throws: PipSinkError.stream(.unknown("b", known: ["a"]))) {
      try session.setSecondPictureInPictureStream("b")
    }
    #expect(session.secondPictureInPictureStreamID == nil)
    _ = try session.addInput("b", stallTimeout: nil)
    try session.setSecondPictureInPictureStream("b")
    #expect(session.secondPictureInPictureStreamID == "b")
    await session.invalidate()
  }
}
