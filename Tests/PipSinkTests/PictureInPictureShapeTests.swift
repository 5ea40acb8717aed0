import Testing

@testable import PipSink
@testable import TestSupport

/// The window takes the shape of what its stream shows, even if the caps of the stream do not change.
@MainActor @Suite struct PictureInPictureShapeTests {
  private typealias Call = PictureInPictureControllerTests.Call

  private static let (quarter, half) = (
    VideoOrientation(rotation: .quarter, isMirrored: false), VideoOrientation(rotation: .half, isMirrored: false)
  )

  /// Sends a frame of 32x16 pixels, whose caps are always the same, to a stream.
  private func send(_ orientation: VideoOrientation, _ call: Call, as id: StreamID = "b") throws {
    var frame = SampleBuffer(pixelBuffer: try #require(call.frames["b"]), sequenceNumber: 1)
    frame.orientation = orientation
    call.consumers[id]?.consume(frame)
  }

  private func started(_ call: Call, _ id: StreamID) async throws -> PictureInPictureController {
    let controller = try #require(call.controller)
    try controller.setSource(streamID: id)
    try controller.start()
    #expect(await eventually { controller.isActive })
    return controller
  }

  @Test func aStreamThatIsTurnedChangesTheWindowsShapeWithTheSameCaps() async throws {
    let call = try Call()
    _ = try await started(call, "b")
    #expect(call.window.presentation?.aspectRatio == 2)
    for _ in 0..<2 {
      try send(Self.quarter, call)
      #expect(await eventually { call.window.presentation?.aspectRatio == 0.5 })
      try send(.upright, call)
      #expect(await eventually { call.window.presentation?.aspectRatio == 2 })
    }
    try send(Self.quarter, call)
    #expect(await eventually { call.window.presentation?.aspectRatio == 0.5 })
    // A picture that is upside down has the same width as an upright one.
    try send(Self.half, call)
    #expect(await eventually { call.window.presentation?.aspectRatio == 2 })
  }

  @Test func aWindowThatIsOpenedHasTheShapeOfTheStreamAsItIsTurnedThen() async throws {
    let call = try Call()
    let controller = try await started(call, "b")
    controller.stop()
    try send(Self.quarter, call)
    try controller.start()
    #expect(call.window.presentation?.aspectRatio == 0.5)
    #expect(await eventually { controller.isActive })
    #expect(call.window.presentation?.aspectRatio == 0.5)
    controller.stop()
    try send(.upright, call)
    try controller.start()
    #expect(call.window.presentation?.aspectRatio == 2)
  }

  @Test func anotherStreamOfTheSameCapsBringsItsOwnShape() async throws {
    let call = try Call(ready: ["b"])
    try send(Self.quarter, call, as: "a")
    let controller = try await started(call, "b")
    #expect(call.window.presentation?.aspectRatio == 2)
    try controller.setSource(streamID: "a")
    #expect(call.window.presentation?.aspectRatio == 0.5)
    try send(Self.quarter, call, as: "a")
    try controller.setSource(streamID: "b")
    #expect(call.window.presentation?.aspectRatio == 2)
    // A rotation that the stream had before is noticed again.
    try send(.upright, call)
    try send(Self.quarter, call)
    #expect(await eventually { call.window.presentation?.aspectRatio == 0.5 })
  }
}
