import Testing

@testable import PipSink
@testable import TestSupport

/// The stream that the user names is the one in picture-in-picture, in whichever way and order streams come. The
/// sources are real and live.
@MainActor @Suite(.timeLimit(.minutes(2))) struct NamedStreamTests {
  /// How streams come to a session.
  enum Way: CaseIterable {
    case startStream, addInput, addStream
  }

  /// What begins picture-in-picture.
  enum Start: CaseIterable {
    case configuration, call, background
  }

  /// Pushes the frames of an engine of the app's into a session.
  private final class Pusher: SampleBufferConsumer {
    private let input: StreamInput

    init(_ input: StreamInput) { self.input = input }

    func consume(_ sampleBuffer: SampleBuffer) { input.push(sampleBuffer.pixelBuffer) }
  }

  /// A session whose user names a stream before there are any.
  @MainActor
  private final class Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    private let way: Way
    /// The engine of an app that plays its streams itself.
    private let app: VideoEngine

    init(_ way: Way, named: StreamID, startsInPictureInPicture: Bool) throws {
      var configuration = PictureInPictureSession.Configuration()
      configuration.pictureInPictureStreamID = named
      configuration.startsInPictureInPicture = startsInPictureInPicture
      display = try OffscreenDisplay()
      session = try PictureInPictureSession(display: display, configuration: configuration)
      self.way = way
      app = try VideoEngine()
      // Its streams begin, as the session's do, when the test has added all that it adds at once.
      app.status.state.withLock { $0.startGate = { await MainActor.run {} } }
    }

    func add(_ id: StreamID) throws {
      let source: PipelineDescription =
        "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=120/1 ! appsink"
      let consumer: any SampleBufferConsumer
      switch way {
      case .startStream: return try session.startStream(id, from: source)
      case .addInput: consumer = Pusher(try session.addInput(id, stallTimeout: nil))
      case .addStream: consumer = try session.addStream(id, stallTimeout: nil)
      }
      try app.startPlayingStream(id, from: source) { _ in consumer }
    }

    func remove(_ id: StreamID) async throws {
      try session.removeStream(id)
      if way != .startStream { _ = try await app.stopPlayingStream(id, within: nil) }
    }

    func statistics(_ id: StreamID) -> RenderStatistics? { session.summary(of: id)?.statistics }

    /// Waits until all streams have delivered some more frames.
    func deliver() async -> Bool {
      let before = session.summaries.map(\.statistics)
      return await eventually {
        before.allSatisfy { (self.statistics($0.streamID)?.received ?? 0) >= $0.received + 5 }
      }
    }

    /// Where the streams went that are there now, in the order in which they moved.
    var moves: [String] { session.router.changes.map { "\($0.streamID) \($0.to.rawValue)" } }

    /// Waits until a stream is in picture-in-picture, with a picture.
    func shows(_ id: StreamID) async -> Bool {
      await eventually { self.session.controller.isActive && self.session.pictureInPictureStreamID == id }
    }

    func stop() async {
      await session.invalidate()
      await app.stop(within: .seconds(5))
    }
  }

  private static let ids: [StreamID] = ["a", "b", "c"]

  @Test(arguments: Way.allCases, Start.allCases)
  func theNamedStreamIsInPictureInPictureAndNoOtherEverIs(way: Way, start: Start) async throws {
    // The named stream is the first one, the one in the middle, and the last one.
    var calls: [(named: StreamID, call: Call)] = []
    for named in Self.ids {
      let call = try Call(way, named: named, startsInPictureInPicture: start == .configuration)
      calls.append((named, call))
      call.session.startsAutomatically = start == .background
      try await call.session.start()
      for id in Self.ids { try call.add(id) }
      if start == .call { try call.session.startPictureInPicture() }
    }
    for (_, call) in calls {
      #expect(await call.deliver())
      if start == .background { call.session.setBackground(true) }
    }
    for (named, call) in calls {
      #expect(await call.shows(named))
      #expect(await call.deliver())
      for id in Self.ids {
        let statistics = try #require(call.statistics(id))
        switch start {
        case _ where id != named: #expect(statistics.pictureInPicture == 0, "\(id), not \(named)")
        // It is there from its first frame on.
        case .configuration: #expect(statistics.pictureInPicture == statistics.received, "\(named)")
        case .call, .background: #expect(statistics.pictureInPicture > 0, "\(named)")
        }
      }
      // A stream whose frames go to the window from the first one on has not moved.
      #expect(call.moves == (start == .configuration ? [] : ["\(named) pictureInPicture"]))
    }
    await withTaskGroup { group in
      for (_, call) in calls { group.addTask { await call.stop() } }
    }
  }

  @Test(arguments: Way.allCases, [Start.configuration, .background])
  func aNamedStreamTakesTheWindowWheneverItHasAPicture(way: Way, start: Start) async throws {
    let call = try Call(way, named: "named", startsInPictureInPicture: start == .configuration)
    let session = call.session
    session.startsAutomatically = start == .background
    session.setBackground(start == .background)
    try await session.start()
    try call.add("a")
    #expect(await call.shows("a"))
    try call.add("b")
    #expect(await call.deliver())

    /// Waits until the named stream is in picture-in-picture, and checks that no frame of the others is any more.
    func expectNamed(_ line: Int = #line) async throws {
      #expect(await call.shows("named"), "line \(line)")
      let (a, named) = (call.statistics("a")?.pictureInPicture, call.statistics("named")?.inApp)
      #expect(await call.deliver())
      #expect(call.statistics("a")?.pictureInPicture == a && call.statistics("named")?.inApp == named, "line \(line)")
      #expect(call.statistics("b")?.pictureInPicture == 0, "line \(line)")
      let changes = session.router.changes
      #expect(changes.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 }, "line \(line)")
    }

    // It comes late.
    try call.add("named")
    try await expectNamed()
    // It ends and comes back.
    try await call.remove("named")
    #expect(await call.shows("a") && call.moves == ["a pictureInPicture", "a inApp", "a pictureInPicture"])
    try call.add("named")
    try await expectNamed()
    // Its camera goes off and on.
    try session.setCameraState(.off, of: "named")
    #expect(await call.shows("a"))
    try session.setCameraState(.on, of: "named")
    try await expectNamed()
    #expect(call.moves.filter { $0.hasPrefix("b") } == [])
    await call.stop()
  }

  @Test func anotherStreamIsShownUntilTheFirstFrameOfTheNamedOneAndNotLonger() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.pictureInPictureStreamID = "named"
    configuration.startsInPictureInPicture = true
    let window = try OffscreenPictureInPictureWindow()
    let session = try PictureInPictureSession(
      display: LayerDisplay(pictureInPictureHost: window), configuration: configuration)
    try await session.start()
    let picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
    let other = try session.addInput("a", stallTimeout: nil)
    for _ in 0..<5 { other.push(picture) }
    #expect(await eventually { session.controller.isActive })
    let named = try session.addInput("named", stallTimeout: nil)
    for _ in 0..<5 { other.push(picture) }
    // Nothing moves before the first frame.
    #expect(session.pictureInPictureStreamID == "a")
    let before = try #require(session.summary(of: "a")?.statistics)
    #expect(before.pictureInPicture >= 5)
    named.push(picture)
    #expect(await eventually { session.pictureInPictureStreamID == "named" })
    for _ in 0..<5 {
      other.push(picture)
      named.push(picture)
    }
    #expect(session.summary(of: "a")?.statistics.pictureInPicture == before.pictureInPicture)
    #expect(session.summary(of: "named")?.statistics.pictureInPicture == 5)
    await session.invalidate()
  }

  @Test func aWishThatIsWithdrawnWhileItsStreamIsWaitedForLetsAnotherOneBegin() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.pictureInPicture.firstPictureTimeout = .milliseconds(1)
    let session = try PictureInPictureSession(display: try OffscreenDisplay(), configuration: configuration)
    _ = try session.addInput("slow", stallTimeout: nil)
    try session.addInput("a", stallTimeout: nil).push(try PlainFrame.make([255, 255, 255]).pixelBuffer)
    #expect(await eventually { session.playStates["a"] == .playing })
    try session.startPictureInPicture("slow")
    #expect(await eventually { session.controller.isPatienceOver })
    #expect(session.controller.isWaitingForPicture)
    try session.setPictureInPictureSource(nil)
    #expect(await eventually(within: 10) { session.controller.isActive && session.pictureInPictureStreamID == "a" })
    await session.invalidate()
  }

  @Test func aWithdrawnWishLeavesTheWindowToThePolicy() async throws {
    let call = try Call(.addInput, named: "b", startsInPictureInPicture: true)
    try await call.session.start()
    for id in Self.ids { try call.add(id) }
    #expect(await call.shows("b"))
    #expect(await call.deliver())
    try call.session.setPictureInPictureSource(nil)
    // The stream that is there stays, until its camera goes off. It does not come back then.
    #expect(call.session.pictureInPictureStreamID == "b")
    try call.session.setCameraState(.off, of: "b")
    #expect(await call.shows("c"))
    try call.session.setCameraState(.on, of: "b")
    #expect(await call.deliver())
    #expect(call.session.pictureInPictureStreamID == "c")
    await call.stop()
  }
}
