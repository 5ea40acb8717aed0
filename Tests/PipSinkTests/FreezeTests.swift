import Testing

@testable import PipSink
@testable import TestSupport

/// Which gaps in the flow of a stream's frames are freezes.
@MainActor @Suite(.timeLimit(.minutes(5))) struct FreezeTests {
  /// Frames of one stream, at times that the test chooses.
  private struct Arrivals {
    var statistics = StreamStatistics()
    private(set) var now = MonotonicTime(nanoseconds: 1_000_000_000)

    init() { statistics.countFrame(to: .inApp, at: now) }

    mutating func add(_ count: Int = 1, after milliseconds: Int) {
      for _ in 0..<count {
        now = now.advanced(by: .milliseconds(milliseconds))
        statistics.countFrame(to: .inApp, at: now)
      }
    }

    /// The freezes that there would be if no frame came for so long.
    func freezes(after milliseconds: Int = 0) -> (count: UInt64, time: Duration) {
      statistics.freezes(at: now.advanced(by: .milliseconds(milliseconds)))
    }
  }

  @Test func aFreezeIsThreeTimesTheAverageAnd150MillisecondsMore() {
    for (interval, limit) in [(10, 160), (33, 183), (75, 225), (100, 300), (500, 1500)] {
      var arrivals = Arrivals()
      arrivals.add(40, after: interval)
      arrivals.add(after: limit - 1)
      #expect(arrivals.freezes() == (0, .zero), "\(interval) ms")
      arrivals = Arrivals()
      arrivals.add(40, after: interval)
      #expect(arrivals.freezes(after: limit - 1) == (0, .zero), "\(interval) ms")
      #expect(arrivals.freezes(after: limit) == (1, .milliseconds(limit)), "\(interval) ms")
      arrivals.add(after: limit)
      #expect(arrivals.freezes() == (1, .milliseconds(limit)), "\(interval) ms")
    }
  }

  @Test func theAverageIsThatOfTheLast30IntervalsAndThereIsNoneBeforeFive() {
    var arrivals = Arrivals()
    arrivals.add(4, after: 20)
    arrivals.add(after: 5000)
    #expect(arrivals.freezes() == (0, .zero), "four intervals make no average")
    // 29 intervals of 20 ms and one of 5 s are 186 ms on average.
    arrivals.add(29, after: 20)
    #expect(arrivals.freezes(after: 556) == (0, .zero))
    #expect(arrivals.freezes(after: 558) == (1, .milliseconds(558)))
    arrivals.add(after: 20)
    #expect(arrivals.freezes(after: 169) == (0, .zero))
    #expect(arrivals.freezes(after: 170) == (1, .milliseconds(170)))
  }

  @Test func freezesAddUpAndTheOneThatGoesOnCountsToo() {
    var arrivals = Arrivals()
    arrivals.add(60, after: 20)
    arrivals.add(after: 400)
    arrivals.add(60, after: 20)
    arrivals.add(after: 600)
    #expect(arrivals.freezes() == (2, .seconds(1)))
    arrivals.add(60, after: 20)
    #expect(arrivals.freezes(after: 3000) == (3, .seconds(4)))
    #expect(arrivals.statistics.freezes(at: arrivals.now.advanced(by: .seconds(3)), mayBeFrozen: false).count == 2)
  }

  @Test func aFreezeBeforeAnExpectedGapStaysCountedAndTheGapIsNone() {
    var arrivals = Arrivals()
    arrivals.add(30, after: 20)
    arrivals.statistics.setGapExpected(true, at: arrivals.now.advanced(by: .milliseconds(700)))
    #expect(arrivals.freezes(after: 9000) == (1, .milliseconds(700)))
    arrivals.add(after: 10_000)
    #expect(arrivals.freezes() == (1, .milliseconds(700)))
    arrivals.statistics.setGapExpected(false, at: arrivals.now)
    arrivals.add(after: 10_000)
    #expect(arrivals.freezes() == (1, .milliseconds(700)))
    #expect(arrivals.statistics.intervals.count == 30, "the gaps are no frame intervals")
    arrivals.add(after: 500)
    #expect(arrivals.freezes() == (2, .milliseconds(1200)))
  }

  // MARK: - In a session

  /// Why the frames of a stream stay away.
  enum Reason: CaseIterable {
    case none, pause, pauseOfTheStream, pauseByItsOwner, cameraOff, screenShare, hidden, end, seek
  }

  @Test(arguments: Reason.allCases)
  func gapsForAReasonThatIsKnownAreNoFreezes(reason: Reason) async throws {
    let clock = ManualClock()
    let session = try PictureInPictureSession(try VideoEngine(clock: clock.clock), NoDisplay(), .init())
    let consumer = try session.addStream("a", stallTimeout: .seconds(3600))
    let frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16))
    // The frames come later than the session does anything.
    var now = MonotonicTime.now.advanced(by: .seconds(3600))
    func push(_ count: Int, after interval: Duration, _ change: (inout SampleBuffer) -> Void = { _ in }) {
      for _ in 0..<count {
        now = now.advanced(by: interval)
        var next = frame
        next.receivedAt = now
        change(&next)
        consumer.consume(next)
      }
    }
    push(1, after: .zero)
    #expect(await eventually { session.playStates["a"] == .playing })
    func isGapExpected() -> Bool? { session.router.statistics(of: "a")?.isGapExpected }
    #expect(await eventually { isGapExpected() == false })
    push(30, after: .milliseconds(20))
    switch reason {
    case .none, .seek: break
    case .pause: session.notePaused(true)
    case .pauseOfTheStream: session.setPaused(true, of: "a")
    case .pauseByItsOwner: session.pauseInput("a")
    case .cameraOff: try session.setCameraState(.off, of: "a")
    case .screenShare: try session.setScreenShare(true, of: "a")
    case .hidden: session.engine.status.setDecodingSuspended(true, of: "a")
    case .end: session.endInput("a")
    }
    if reason != .none, reason != .seek { #expect(await eventually { isGapExpected() == true }) }
    switch reason {
    case .none, .screenShare, .pauseByItsOwner, .end, .seek: break
    case .pause: session.notePaused(false)
    case .pauseOfTheStream: session.setPaused(false, of: "a")
    case .cameraOff: try session.setCameraState(.on, of: "a")
    case .hidden: session.engine.status.setDecodingSuspended(false, of: "a")
    }
    if [.pause, .pauseOfTheStream, .cameraOff, .hidden].contains(reason) {
      #expect(await eventually { isGapExpected() == false })
    }
    push(1, after: .seconds(5)) { $0.attachments.mustNotBeDropped = reason == .seek }
    if reason == .pauseByItsOwner || reason == .end { #expect(await eventually { isGapExpected() == false }) }
    let freezes = try #require(session.router.statistics(of: "a")).freezes(at: now)
    #expect(freezes == (reason == .none ? (1, .seconds(5)) : (0, .zero)))
    guard reason != .screenShare else { return }
    // Whatever happened before, the next gap counts.
    push(2, after: .milliseconds(20))
    push(1, after: .seconds(2))
    let later = try #require(session.router.statistics(of: "a")).freezes(at: now)
    #expect(later == (freezes.count + 1, freezes.time + .seconds(2)))
    await session.stop()
  }

  @Test func aStreamThatSendsOnlyWhatChangesDoesNotFreeze() async throws {
    let session = try PictureInPictureSession(display: NoDisplay())
    let consumer = try session.addStream("a", stallTimeout: nil)
    let frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16))
    var now = MonotonicTime.now.advanced(by: .seconds(3600))
    for interval in Array(repeating: 20, count: 30) + [9000] {
      now = now.advanced(by: .milliseconds(interval))
      var next = frame
      next.receivedAt = now
      consumer.consume(next)
    }
    let statistics = try #require(session.router.statistics(of: "a"))
    #expect(statistics.received == 31)
    #expect(statistics.freezes(at: now) == (0, .zero))
    await session.stop()
  }
}
