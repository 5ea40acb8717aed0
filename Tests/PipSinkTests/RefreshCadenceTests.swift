import Testing

@testable import PipSink
@testable import TestSupport

/// At which refreshes of a screen a stream's frames are shown.
struct RefreshCadenceTests {
  /// A screen whose server shows pictures at the first refresh that they reach, and threads that are sometimes faster
  /// and sometimes slower. Times are in nanoseconds.
  private struct Screen {
    var interval: Int64 = 16_666_667
    /// How long before a refresh the server has to have its picture.
    var lead: Int64 = 3_000_000
    /// When the first refresh is.
    var phase: Int64 = 0
    /// The longest time from a frame's own time to its arrival.
    var jitter: Int64 = 1_500_000
    /// The shortest and the longest time that drawing takes.
    var drawing: ClosedRange<Int64> = 2_000_000...5_000_000
    /// Whether frames may wait.
    var waits = true
    private(set) var longestWait: Int64 = 0

    /// How many frames pass until something is known of the screen in any case.
    static let begin = 1000

    /// Plays a stream.
    ///
    /// - Returns: the number of the refresh at which each frame was shown, without the first ones.
    mutating func play(_ count: Int, every duration: Int64, seed: UInt64) -> [Int64] {
      var cadence = RefreshCadence()
      var numbers = SeededGenerator(seed: seed)
      var (refreshes, unnoted): ([Int64], [ScreenTime]) = ([], [])
      var isReady: Int64 = 0
      for index in 0..<count {
        let own = 1_000_000_000 + Int64(index) * duration
        let arrival = max(isReady, own + Int64.random(in: 0...jitter, using: &numbers))
        while let first = unnoted.first, Int64(first.shownAt.nanoseconds) <= arrival {
          _ = cadence.note(unnoted.removeFirst())
        }
        let frame = ScreenTime.Frame(
          receivedAt: MonotonicTime(nanoseconds: UInt64(arrival)),
          presentationTimeStamp: MediaTime(value: Int64(index) * duration, timescale: MediaTime.nanosecondTimescale))
        let moment = waits ? cadence.moment(of: frame, at: frame.receivedAt) : nil
        let begin = moment.map { Int64($0.nanoseconds) } ?? arrival
        longestWait = max(longestWait, begin - arrival)
        isReady = begin + Int64.random(in: drawing, using: &numbers)
        let number = (isReady + lead - phase + interval - 1) / interval
        unnoted.append(
          ScreenTime(
            frame: frame, handedOverAt: MonotonicTime(nanoseconds: UInt64(isReady)),
            shownAt: MonotonicTime(nanoseconds: UInt64(phase + number * interval)), refreshInterval: UInt64(interval)))
        if index >= Self.begin { refreshes.append(number) }
      }
      return refreshes
    }

    /// How often no constant delay explains any more at which refreshes frames were shown: each time a picture has
    /// stayed too long or too short.
    func mistakes(_ refreshes: [Int64], every duration: Int64) -> Int {
      var (mistakes, delays) = (0, ClosedRange<Int64>?.none)
      for (index, refresh) in refreshes.enumerated() {
        let delay = phase + refresh * interval - 1_000_000_000 - Int64(index + Self.begin) * duration
        let all = delays.map { min($0.lowerBound, delay)...max($0.upperBound, delay) } ?? delay...delay
        // The first refresh after each time and a delay is less than a refresh later than these.
        let isPossible = all.upperBound - all.lowerBound <= interval
        if !isPossible { mistakes += 1 }
        delays = isPossible ? all : delay...delay
      }
      return mistakes
    }
  }

  private static let durations: [Int64] = [
    41_666_667, 41_708_333, 40_000_000, 33_333_333, 33_366_667, 16_666_667, 16_683_333,
  ]

  @Test(arguments: durations)
  func atMostOneFrameOfTenThousandStaysTooLongOrTooShort(duration: Int64) {
    for part: Int64 in 0..<8 {
      var screen = Screen()
      screen.phase = screen.interval * part / 8
      let refreshes = screen.play(11_000, every: duration, seed: UInt64(part))
      #expect(screen.mistakes(refreshes, every: duration) <= 1, "phase \(part)")
      #expect(screen.longestWait < screen.interval)
    }
  }

  @Test func framesThatDoNotWaitStayTooLongAndTooShort() {
    var screen = Screen()
    screen.waits = false
    // Frames of 23.976 a second pass all phases of the refreshes.
    let refreshes = screen.play(11_000, every: 41_708_333, seed: 1)
    #expect(screen.mistakes(refreshes, every: 41_708_333) > 100)
  }

  @Test func framesWithMoreJitterThanARefreshDoNotWait() {
    var screen = Screen()
    screen.jitter = 60_000_000
    _ = screen.play(2000, every: 66_666_667, seed: 2)
    #expect(screen.longestWait == 0)
  }

  private static func frame(_ arrival: UInt64, _ stamp: Int64?) -> ScreenTime.Frame {
    ScreenTime.Frame(
      receivedAt: MonotonicTime(nanoseconds: arrival),
      presentationTimeStamp: stamp.map { MediaTime(value: $0, timescale: 1_000_000_000) } ?? .invalid)
  }

  /// Notes frames that arrive every 37 ms, are handed over 4 ms later, and are shown at the first refresh, of one every
  /// 10 ms, that is at least 3 ms after that.
  private static func cadence(_ count: UInt64 = 40, interval: UInt64 = 10_000_000) -> RefreshCadence {
    var cadence = RefreshCadence()
    for index in 0..<count {
      let arrival = 1_000_000_000 + index * 37_000_000
      let shown = (arrival + 7_000_000 + 9_999_999) / 10_000_000 * 10_000_000
      _ = cadence.note(
        ScreenTime(
          frame: frame(arrival, Int64(index) * 37_000_000),
          handedOverAt: MonotonicTime(nanoseconds: arrival + 4_000_000), shownAt: MonotonicTime(nanoseconds: shown),
          refreshInterval: interval))
    }
    return cadence
  }

  /// A frame that arrives some time after one that was shown at a refresh of its own, 2 seconds after the first frame.
  private static func frame(after nanoseconds: UInt64) -> ScreenTime.Frame {
    frame(3_000_000_000 + nanoseconds, 2_000_000_000 + Int64(nanoseconds))
  }

  @Test func aFrameThatCouldReachTheRefreshBeforeItsOwnWaitsUntilItCannot() throws {
    var cadence = Self.cadence()
    // With 4 ms to the hand-over, 3 ms of the server and a sixteenth of a refresh, one that arrives at 3,002.3 ms is
    // for the refresh at 3,010 ms, and one that arrives 0.1 ms later for the next one. What is known is that the server
    // must have a picture 2 ms before a refresh, or up to 3 ms. So this one waits until 2 ms before that at 3,010 ms.
    let first = Self.frame(after: 2_300_000)
    #expect(cadence.moment(of: first, at: first.receivedAt) == nil)
    let second = Self.frame(after: 2_400_000)
    let wait = cadence.moment(of: second, at: second.receivedAt)
    let moment = try #require(wait)
    #expect(moment.nanoseconds >= 3_008_000_000 && moment.nanoseconds < 3_008_010_000)
    #expect(cadence.moment(of: second, at: moment) == nil)
    // The delay stays the same when frames are quicker for a while.
    for index in 0..<200 as Range<UInt64> {
      let frame = Self.frame(after: 3_000_000 + index * 40_000_000)
      _ = cadence.note(
        ScreenTime(
          frame: frame, handedOverAt: frame.receivedAt.advanced(by: .microseconds(3500)),
          shownAt: frame.receivedAt.advanced(by: .milliseconds(7)), refreshInterval: 10_000_000))
    }
    let third = Self.frame(after: 9_002_400_000)
    #expect(cadence.moment(of: third, at: third.receivedAt) != nil)
  }

  @Test func nothingWaitsThatIsNotKnownWellEnough() {
    let frame = Self.frame(after: 2_400_000)
    var few = Self.cadence(7)
    #expect(few.moment(of: frame, at: frame.receivedAt) == nil)
    // A screen whose refreshes come when there is something to show has no regular ones.
    var variable = Self.cadence(interval: 0)
    #expect(variable.moment(of: frame, at: frame.receivedAt) == nil)
    var cadence = Self.cadence()
    #expect(cadence.moment(of: frame, at: frame.receivedAt) != nil)
    let others = [
      // One without a time, one after a seek, and one that is late.
      Self.frame(3_002_400_000, nil), Self.frame(3_002_400_000, 60_000_000_000),
      Self.frame(3_032_400_000, 2_002_400_000),
    ]
    for frame in others { #expect(cadence.moment(of: frame, at: frame.receivedAt) == nil) }
  }

  @Test func nothingWaitsWhereFramesTakeLongerThanARefresh() {
    var cadence = RefreshCadence()
    for index in 0..<40 as Range<UInt64> {
      let arrival = 1_000_000_000 + index * 37_000_000
      let shown = (arrival + 12_000_000 + 9_999_999) / 10_000_000 * 10_000_000
      _ = cadence.note(
        ScreenTime(
          frame: Self.frame(arrival, Int64(index) * 37_000_000),
          handedOverAt: MonotonicTime(nanoseconds: arrival + 9_500_000), shownAt: MonotonicTime(nanoseconds: shown),
          refreshInterval: 10_000_000))
    }
    for part in 0..<10 as Range<UInt64> {
      let frame = Self.frame(after: part * 1_000_000)
      #expect(cadence.moment(of: frame, at: frame.receivedAt) == nil)
    }
  }

  @Test func aFrameThatIsLaterThanTheQuickestOnesMissesRefreshes() {
    var cadence = RefreshCadence()
    let usual = Self.frame(1_800_000_000, 800_000_000)
    _ = cadence.note(
      ScreenTime(
        frame: usual, handedOverAt: usual.receivedAt.advanced(by: .milliseconds(4)),
        shownAt: usual.receivedAt.advanced(by: .milliseconds(9)), refreshInterval: 10_000_000))
    for (later, missed) in [(UInt64(0), 0), (9_999_999, 0), (10_000_000, 1), (25_000_000, 2), (0, 0)] {
      let time = ScreenTime(
        frame: Self.frame(1_900_000_000, 900_000_000), handedOverAt: MonotonicTime(nanoseconds: 1_904_000_000),
        shownAt: MonotonicTime(nanoseconds: 1_909_000_000 + later), refreshInterval: 10_000_000)
      #expect(cadence.note(time) == missed, "\(later) ns")
    }
  }

  @Test func timesThatMakeNoSenseAreNoFault() {
    var cadence = RefreshCadence()
    for stamp in [0, 1 << 62 - 1, 1 << 62, .max] as [Int64] {
      for interval in [1, 999_999, 1_000_000, 16_666_667, 1_000_000_000, 1_000_000_001, .max] as [UInt64] {
        for _ in 0..<20 {
          let frame = Self.frame(1_900_000_000, stamp)
          let time = ScreenTime(
            frame: frame, handedOverAt: frame.receivedAt, shownAt: frame.receivedAt.advanced(by: .seconds(60)),
            refreshInterval: interval)
          #expect(cadence.note(time) == 0)
          #expect(cadence.moment(of: frame, at: frame.receivedAt) == nil)
        }
      }
    }
  }

  // MARK: - The layer

  /// A renderer whose screen shows a picture when the test says so.
  private final class Renderer: ScreenRenderer {
    let handler = ScreenTimeHandler()
    let frames = Locked<[ScreenTime.Frame]>([])
    /// Who makes the next pictures.
    let drawer = Locked<FrameDrawer?>(.processor)

    func present(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) -> FrameDrawer? {
      if let frame = ScreenTime.Frame(sampleBuffer) { frames.withLock { $0.append(frame) } }
      return drawer.withLock { $0 }
    }
    func removeImage() {}
    func setScreenTimeHandler(_ new: (@Sendable (ScreenTime) -> Void)?) { handler.set(new) }

    /// Says that a frame was on the screen so much later than it arrived.
    func show(_ frame: ScreenTime.Frame, after delay: Duration) {
      handler(
        ScreenTime(
          frame: frame, handedOverAt: .now, shownAt: frame.receivedAt.advanced(by: delay), refreshInterval: 16_666_667))
    }
  }

  @Test func framesAreCountedByWhoHasDrawnThem() async throws {
    let (first, second) = (Renderer(), Renderer())
    let layer = SampleBufferDisplayLayer(name: "screen", renderer: first)
    let router = FrameRouter()
    let consumer = router.addStream("a", inApp: layer)
    var shown: UInt64 = 0
    for (renderer, drawers) in [
      (first, [.openGL, .processor, .openGL, nil]), (second, [.displayServer, .openGL, .openGL]),
    ] as [(Renderer, [FrameDrawer?])] {
      layer.attach(to: renderer)
      for drawer in drawers {
        renderer.drawer.withLock { $0 = drawer }
        var frame = try PlainFrame.make([0, 0, 255])
        frame.receivedAt = .now
        consumer.consume(frame)
        shown += 1
        #expect(await eventually { router.renderStatistics(of: "a")?.shown == shown })
      }
    }
    let statistics = try #require(router.renderStatistics(of: "a"))
    #expect(statistics.drawnByOpenGL == 4 && statistics.drawnByDisplayServer == 1)
  }

  @Test func aFrameCountsOnceForItsOwnStream() async throws {
    let renderer = Renderer()
    let layer = SampleBufferDisplayLayer(name: "screen", renderer: renderer)
    let (router, start) = (FrameRouter(), MonotonicTime.now)
    let consumer = router.addStream("a", inApp: layer)
    func consume(after milliseconds: Int) throws {
      var frame = try PlainFrame.make([0, 0, 255])
      frame.receivedAt = start.advanced(by: .milliseconds(milliseconds))
      consumer.consume(frame)
    }
    #expect(await eventually { renderer.handler.isWanted })
    for index in 0..<3 {
      try consume(after: index)
      #expect(await eventually { renderer.frames.withLock { $0.count } == index + 1 })
    }
    let frames = renderer.frames.withLock { $0 }
    renderer.show(frames[0], after: .milliseconds(20))
    renderer.show(frames[1], after: .milliseconds(20))
    // Servers that are wrong are not believed.
    for delay in [Duration.seconds(-2), .seconds(600), .seconds(1 << 33)] { renderer.show(frames[2], after: delay) }
    renderer.show(frames[2], after: .milliseconds(60))
    // It is shown again, for instance with another decoration or in a window of another size.
    renderer.show(frames[2], after: .milliseconds(900))
    var statistics = try #require(router.renderStatistics(of: "a"))
    #expect(statistics.screenLatencies.count == 3 && statistics.screenLatencies.total == .milliseconds(100))
    #expect(statistics.missedRefreshes == 2)
    // What was on its way when the stream left is not counted.
    try consume(after: 3)
    #expect(await eventually { renderer.frames.withLock { $0.count } == 4 })
    let late = try #require(renderer.frames.withLock { $0.last })
    let early = ScreenTime(
      frame: late, handedOverAt: .now, shownAt: late.receivedAt.advanced(by: .milliseconds(20)), refreshInterval: 0)
    layer.begin(with: nil, isFresh: false, presented: nil)
    renderer.handler(early)
    statistics = try #require(router.renderStatistics(of: "a"))
    #expect(statistics.screenLatencies.count == 3)
    layer.detach()
    #expect(await eventually { !renderer.handler.isWanted })
  }
}
