import Testing

@testable import PipSink
@testable import TestSupport

/// Streams whose frames an app pushes are supervised as the engine's own are.
@MainActor @Suite(.timeLimit(.minutes(5))) struct PushedStreamTests {
  @MainActor
  private final class Call {
    let clock = ManualClock()
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    private(set) var inputs: [StreamID: StreamInput] = [:]
    private let picture: PixelBuffer

    init(_ timeouts: [StreamID: Duration?]) throws {
      display = try OffscreenDisplay()
      session = try PictureInPictureSession(try VideoEngine(clock: clock.clock), display, .init())
      picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
      for (id, timeout) in timeouts { inputs[id] = try session.addInput(id, stallTimeout: timeout) }
    }

    /// Pushes a frame of each stream, which all are to play then.
    func push(_ ids: StreamID...) async -> Bool {
      for id in ids { inputs[id]?.push(picture) }
      return await eventually { ids.allSatisfy { self.session.playStates[$0] == .playing } }
    }

    /// Whether the session has looked: it sets an alarm for the next look, unless no stream can stall. Another alarm is
    /// for a demand that is about to fall.
    private var hasLooked: Bool {
      clock.alarmCount == (session.flowWatch == nil ? 0 : 1) + (session.demandWatch == nil ? 0 : 1)
    }

    /// Advances the clock in steps in which the session looks at its streams once.
    func pass(_ seconds: Double, frames ids: StreamID...) async {
      let step = 0.25
      for _ in 0..<Int(seconds / step) {
        for id in ids { inputs[id]?.push(picture) }
        #expect(await eventually { self.hasLooked })
        clock.advance(by: step)
        #expect(await eventually { self.hasLooked })
      }
    }
  }

  @Test func aStreamWithoutAFrameForThreeSecondsIsStalledUntilTheNextOne() async throws {
    let call = try Call(["a": .seconds(3), "b": .seconds(3)])
    #expect(await call.push("a", "b"))
    await call.pass(2.75, frames: "b")
    #expect(call.session.playStates == ["a": .playing, "b": .playing])
    await call.pass(0.5, frames: "b")
    #expect(call.session.playStates == ["a": .stalled, "b": .playing])
    #expect(call.display.placeholders == ["a": .reconnecting])
    for _ in 0..<2 {
      #expect(await call.push("a"))
      #expect(call.display.placeholders.isEmpty)
      await call.pass(3.25, frames: "b")
      #expect(call.session.playStates == ["a": .stalled, "b": .playing])
    }
  }

  @Test func eachFormatIsKnownBeforeItsFirstFrameIsShown() async throws {
    let session = try PictureInPictureSession(display: NoDisplay())
    let events = session.engine.events()
    let input = try session.addInput("a")
    #expect(session.info(of: "a")?.format == nil)
    for (width, format) in [(64, PixelFormat.bgra), (64, .bgra), (32, .bgra), (32, .i420), (64, .bgra)] {
      let picture = try TestFrame.pixelBuffer(TestFrame.testSource(format, width, 16))
      input.push(picture)
      #expect(session.info(of: "a")?.format === picture.formatDescription)
    }
    await session.stop()
    try session.removeStream("a")
    var formats: [String] = []
    for await event in events {
      if case .formatChanged("a", let format) = event { formats.append("\(format.pixelFormat) \(format.size.width)") }
      if formats.count == 4 { break }
    }
    #expect(formats == ["bgra 64", "bgra 32", "i420 32", "bgra 64"])
  }

  /// Who switches the camera off sends no frames. The time counts anew when it is on again.
  @Test func aStreamWhoseCameraIsOffDoesNotStall() async throws {
    let call = try Call(["a": .seconds(3), "b": .seconds(3)])
    #expect(await call.push("a", "b"))
    await call.pass(1, frames: "b")
    try call.session.setCameraState(.off, of: "a")
    #expect(await eventually { call.display.placeholders == ["a": .cameraOff] })
    await call.pass(10, frames: "b")
    #expect(call.session.playStates == ["a": .playing, "b": .playing])
    #expect(call.display.placeholders == ["a": .cameraOff])
    try call.session.setCameraState(.on, of: "a")
    #expect(await eventually { call.display.placeholders.isEmpty })
    await call.pass(2.75, frames: "b")
    #expect(call.session.playStates == ["a": .playing, "b": .playing])
    await call.pass(0.5, frames: "b")
    #expect(call.session.playStates == ["a": .stalled, "b": .playing])
  }

  /// Somebody joins with the camera off, and has never sent a frame.
  @Test func aStreamThatPictureInPictureWaitsForSaysThatItsCameraIsOffAndNotThatItIsThere() async throws {
    let call = try Call(["a": .seconds(3)])
    var latencies: [Duration?] = []
    call.session.observeEvents { event in
      if case .pictureInPicture(.didStart(let latency), _) = event { latencies.append(latency) }
    }
    for _ in 0..<2 {
      try call.session.setCameraState(.off, of: "a")
      #expect(await eventually { call.display.placeholders == ["a": .cameraOff] })
      try call.session.startPictureInPicture("a")
      #expect(call.session.controller.isWaitingForPicture)
      #expect(call.display.placeholders == ["a": .cameraOff])
      call.session.stopPictureInPicture()
    }
    try call.session.startPictureInPicture("a")
    // The camera goes on while the first frame is on its way: its picture tells that picture-in-picture has started.
    try call.session.setCameraState(.on, of: "a")
    call.inputs["a"]?.push(try PlainFrame.make([255, 255, 255]).pixelBuffer)
    #expect(await eventually { call.session.pictureInPictureStreamID == "a" })
    #expect(
      try await eventually {
        call.inputs["a"]?.push(try PlainFrame.make([255, 255, 255]).pixelBuffer)
        return latencies.count == 1
      })
    #expect(latencies.allSatisfy { $0 != nil })
    #expect(call.display.placeholders == ["a": .inPictureInPicture])
  }

  @Test func anAppChoosesHowLongAStreamMayBeSilent() async throws {
    let call = try Call(["a": .seconds(1), "slides": nil, "b": .seconds(30)])
    #expect(await call.push("a", "slides", "b"))
    await call.pass(1.25)
    #expect(call.session.playStates == ["a": .stalled, "slides": .playing, "b": .playing])
    await call.pass(27)
    #expect(call.session.playStates["b"] == .playing)
    await call.pass(3)
    #expect(call.session.playStates == ["a": .stalled, "slides": .playing, "b": .stalled])
    #expect(call.session.flowWatch == nil, "nothing looks at streams that cannot stall")
  }

  @Test func whatIsPausedDoesNotStallAndWhatIsAScreenDoesNot() async throws {
    let call = try Call(["a": .seconds(3), "screen": .seconds(3), "b": .seconds(3)])
    try call.session.setScreenShare(true, of: "screen")
    #expect(await call.push("a", "b", "screen"))
    call.session.pauseInput("a")
    await call.pass(5, frames: "b")
    #expect(call.session.playStates == ["a": .playing, "screen": .playing, "b": .playing])
    #expect(call.display.placeholders.isEmpty, "the last picture stays")
    call.session.isPaused = true
    await call.pass(5)
    #expect(call.session.playStates == ["a": .playing, "screen": .playing, "b": .playing])
    call.session.isPaused = false
    // After a frame it is supervised again.
    #expect(await call.push("a", "b"))
    #expect(await eventually { call.session.router.awaitsFrame(of: "a") == false })
    await call.pass(3.5, frames: "b")
    #expect(call.session.playStates == ["a": .stalled, "screen": .playing, "b": .playing])
  }

  @Test func aStreamThatIsPausedAtItsFirstFramePlays() async throws {
    let call = try Call(["a": .seconds(3)])
    call.session.pauseInput("a")
    #expect(call.session.playStates == ["a": .requesting])
    #expect(await call.push("a"))
    let other = try Call(["a": .seconds(3)])
    other.inputs["a"]?.push(try PlainFrame.make([255, 255, 255]).pixelBuffer)
    other.session.pauseInput("a")
    #expect(other.session.playStates == ["a": .playing])
  }

  @Test(arguments: [false, true])
  func theNextFrameResumesWhatHasEndedOrReconnects(reconnects: Bool) async throws {
    let call = try Call(["a": .seconds(3)])
    #expect(await call.push("a"))
    for round in 1...3 {
      reconnects ? call.session.reconnectInput("a") : call.session.endInput("a")
      let failure = PipSinkError.stream(.endedUnexpectedly("a"))
      #expect(
        call.session.playStates["a"]
          == (reconnects ? .reconnecting(attempt: 1, pause: .zero, after: failure) : .ended), "round \(round)")
      #expect(call.display.placeholders == ["a": reconnects ? .reconnecting : .ended])
      #expect(call.session.known["a"]?.flow == nil, "nothing looks at it")
      #expect(await call.push("a"))
      #expect(call.display.placeholders.isEmpty)
    }
    for _ in 1...2 {
      call.session.noteInputHasNoVideo("a")
      #expect(call.session.playStates["a"] == .playing && call.session.known["a"]?.flow == nil)
      #expect(call.display.placeholders == ["a": .audioOnly])
      #expect(await call.push("a"))
      #expect(await eventually { call.session.info(of: "a")?.hasNoVideo == false })
      #expect(call.display.placeholders.isEmpty)
    }
    // A frame that comes after the session has ended what pushes the stream does not resume it.
    call.session.setEndHandler(of: "a") { [] }
    await call.session.stop()
    call.inputs["a"]?.push(try PlainFrame.make([0, 0, 0]).pixelBuffer)
    #expect(await eventually { !call.session.router.awaitsFrame(of: "a") })
    call.session.noteAwaitedFrame(of: "a")
    #expect(call.session.playStates["a"] == .stopped)
    for attempt in 1...3 {
      call.session.reconnectInput("a")
      guard case .reconnecting(attempt, _, _) = call.session.playStates["a"] else {
        Issue.record("attempt \(attempt): \(String(describing: call.session.playStates["a"]))")
        return
      }
    }
  }
}
