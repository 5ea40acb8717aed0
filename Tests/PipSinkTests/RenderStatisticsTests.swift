import Glibc
import Histogram
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct RenderStatisticsTests {
  private let frame: SampleBuffer

  init() throws {
    frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16))
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  @Test func everyFrameIsShownReplacedHiddenOrFailedOnce() async throws {
    let (renderer, pipRenderer) = (TestRenderer(), TestRenderer())
    let inApp = SampleBufferDisplayLayer(name: "in-app", renderer: renderer)
    let pip = SampleBufferDisplayLayer(name: "pip", renderer: pipRenderer)
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    renderer.hold()
    consumer.consume(frame.numbered(1))
    #expect(renderer.waitUntilRendering())
    for number in 2...4 as ClosedRange<UInt64> { consumer.consume(frame.numbered(number)) }
    renderer.release()
    #expect(inApp.waitUntilPresented(by: soon))

    renderer.state.withLock { $0.isVisible = false }
    consumer.consume(frame.numbered(5))
    #expect(inApp.waitUntilPresented(by: soon))
    // A hidden frame still counts as hidden when it is shown later.
    renderer.state.withLock { $0.isVisible = true }
    renderer.askForDisplay()
    #expect(await eventually { renderer.shown == [1, 4, 5] })

    // Each frame is tried twice.
    renderer.state.withLock { $0.failsNext = 2 }
    consumer.consume(frame.numbered(6))
    #expect(await eventually { inApp.statistics.failed == 1 })
    consumer.consume(frame.numbered(7))
    #expect(await eventually { renderer.shown.last == 7 })
    #expect(inApp.waitUntilPresented(by: soon))

    // The latest frame is shown on the new surface as well, and it does not count as a new frame.
    try router.enterPictureInPicture("a")
    #expect(await eventually { pipRenderer.shown == [7] })
    consumer.consume(frame.numbered(8))
    #expect(pip.waitUntilPresented(by: soon))

    let statistics = try #require(router.renderStatistics(of: "a"))
    #expect(statistics.received == 8 && statistics.inApp == 7 && statistics.pictureInPicture == 1)
    #expect(statistics.shown == 4 && statistics.replaced == 2 && statistics.dropped.overdue == 0)
    #expect(statistics.dropped == .init(hidden: 1, failed: 1))
    #expect(statistics.lastHandover?.to == .pictureInPicture && statistics.lastHandover?.framesLost == 0)
    #expect(statistics.lastHandover?.firstFrameLatency != nil)
  }

  @Test func streamsThatTakeTurnsOnASurfaceAreCountedApart() async throws {
    let pip = SampleBufferDisplayLayer(name: "pip", renderer: TestRenderer())
    let router = FrameRouter(
      table: .init(mode: .pictureInPicture, pictureInPictureStreamID: "a"), pictureInPicture: pip)
    for (id, count) in [("a", 3), ("b", 2)] as [(StreamID, UInt64)] {
      let consumer = router.input(for: id)
      try router.enterPictureInPicture(id)
      for number in 1...count {
        consumer.consume(frame.numbered(number))
        #expect(pip.waitUntilPresented(by: soon))
      }
    }
    #expect(router.renderStatistics(of: "a")?.shown == 3)
    #expect(router.renderStatistics(of: "b")?.shown == 2)
    #expect(router.renderStatistics(of: "c") == nil)
  }

  @Test func latencyGoesFromTheArrivalToThePicture() throws {
    let layer = SampleBufferDisplayLayer(name: "test", renderer: TestRenderer())
    let router = FrameRouter()
    let consumer = router.addStream("a", inApp: layer)
    for (number, age) in [3, 7].enumerated() {
      var late = frame.numbered(UInt64(number) + 1)
      late.receivedAt = MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds - UInt64(age) * 1_000_000_000)
      consumer.consume(late)
      #expect(layer.waitUntilPresented(by: soon))
    }
    let latencies = try #require(router.renderStatistics(of: "a")).latencies
    #expect(latencies.count == 2)
    #expect(latencies.count(upTo: .milliseconds(2900)) == 0)
    #expect(try #require(latencies.value(atPercentile: 100)) >= .milliseconds(6900))
    #expect(latencies.totalNanoseconds >= 10_000_000_000)
  }

  /// Compares with HdrHistogram's own recording, from less than a microsecond to more than a minute.
  @Test func intervalsAreCountedAsHdrHistogramDoes() {
    var random = SeededGenerator(seed: 7)
    var intervals = IntervalHistogram()
    var expected = Histogram<UInt64>(
      lowestDiscernibleValue: 1, highestTrackableValue: 60_000_000, numberOfSignificantValueDigits: .two)
    let lengths = (0..<20_000).map { _ in UInt64.random(in: 0...(1 << UInt64.random(in: 1...37)), using: &random) }
    // The longest interval is not the last one.
    for length in lengths + [.max, 60_000_000_000, 512_000, 511_000, 256_000, 255_999, 1000, 999, 0] {
      intervals.record(nanoseconds: length)
      expected.record(min(length / 1000, 60_000_000))
    }
    #expect(intervals.count == expected.totalCount)
    for percentile in stride(from: 0.0, through: 100, by: 0.5) {
      #expect(intervals.value(atPercentile: percentile) == .microseconds(expected.valueAtPercentile(percentile)))
    }
    for length in lengths.prefix(500) {
      #expect(
        intervals.count(upTo: .nanoseconds(length)) == expected.count(within: 0...min(length / 1000, 60_000_000)))
    }
  }

  @Test func whatNeverReachedTheRouterIsCounted() async throws {
    let router = FrameRouter()
    let layer = SampleBufferDisplayLayer(name: "test", renderer: TestRenderer())
    let chain = ProcessorChain(
      [FrameDecimator(every: 3)], next: router.addStream("a", inApp: layer))
    let engine = try VideoEngine(
      "videotestsrc num-buffers=30 ! video/x-raw,format=I420,width=16,height=16,framerate=30/1 ! appsink name=a sync=false"
    )
    _ = try await engine.runToEnd { _ in chain }
    #expect(layer.waitUntilPresented(by: soon))
    var info = try #require(engine.info(of: "a"))
    info.skippedFrameCount = 4
    info.lateFrameCount = 5
    let statistics = try #require(router.renderStatistics(of: "a", info: info, processing: chain.statistics))
    #expect(statistics.received == 10 && statistics.shown + statistics.replaced == 10)
    #expect(statistics.dropped == .init(processor: 20, unreadable: 4) && statistics.late == 5)
    #expect(statistics.latencies.count == statistics.shown)
    #expect(statistics.intervals.count == 9)
    let average = try #require(statistics.averageFrameRate)
    #expect(abs(average * Double(statistics.intervals.totalNanoseconds) / 1e9 - 9) < 1e-6)
  }

  @Test func framesThatAreLateForTheirTimebaseAreCounted() async throws {
    let layer = SampleBufferDisplayLayer(name: "test", renderer: TestRenderer())
    let timebase = Timebase(time: .zero, rate: 0)
    layer.controlTimebase = timebase
    let router = FrameRouter()
    let consumer = router.addStream("a", inApp: layer)
    for number in 1...3 as ClosedRange<UInt64> {
      var timed = frame.numbered(number)
      timed.timing.presentationTimeStamp = MediaTime(seconds: Double(number))
      timed.attachments.displayImmediately = false
      consumer.consume(timed)
    }
    timebase.time = MediaTime(seconds: 10)
    #expect(layer.waitUntilPresented(by: soon))
    let statistics = try #require(router.renderStatistics(of: "a"))
    #expect(statistics.shown == 1 && statistics.dropped.overdue == 2)
  }

  @Test func theTimesOfAStreamAreThoseWhileItRan() {
    var statistics = StreamStatistics()
    func at(_ seconds: Double) -> MonotonicTime { MonotonicTime(nanoseconds: UInt64(seconds * 1e9)) }
    for index in 0...4 { statistics.countFrame(to: .inApp, at: at(100 + 0.5 * Double(index))) }
    #expect(statistics.averageFrameRate == 2)
    #expect(statistics.frameRate(at: at(102)) == 2)
    statistics.forgetLastArrival()
    // The next run starts much later and is faster.
    for index in 0...10 {
      statistics.countFrame(to: .pictureInPicture, at: at(1000 + 0.25 * Double(index)))
      if index == 2 { #expect(statistics.frameRate(at: at(1000.5)) == statistics.averageFrameRate) }
    }
    #expect(statistics.firstArrival == at(100) && statistics.lastArrival == at(1002.5))
    #expect(statistics.intervals.count == 14 && statistics.intervals.totalNanoseconds == 4_500_000_000)
    #expect(abs(statistics.averageFrameRate! - 14 / 4.5) < 1e-9)
    #expect(statistics.frameRate(at: at(1002.5)) == 4)
    // The first frame of a run is counted, and the pause before it is no interval.
    statistics.forgetLastArrival()
    statistics.countFrame(to: .inApp, at: at(2000))
    #expect((statistics.received, statistics.inApp, statistics.pictureInPicture) == (17, 6, 11))
    #expect(statistics.intervals.count == 14)
    #expect(StreamStatistics().averageFrameRate == nil && StreamStatistics().frameRate(at: at(1)) == nil)
  }

  @Test func theRateBeforeTheFirstSecondIsOverIsTheAverage() {
    var statistics = StreamStatistics()
    func at(_ milliseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }
    statistics.countFrame(to: .inApp, at: at(1000))
    #expect(statistics.frameRate(at: at(1001)) == nil)
    statistics.countFrame(to: .inApp, at: at(1100))
    #expect(statistics.frameRate(at: at(1100)) == 10)
  }

  @Test func aFrameWithoutAnArrivalIsShownWithoutALatency() {
    let tally = PresentationTally()
    tally.countShown(frame)
    var timed = frame
    timed.receivedAt = MonotonicTime.now
    tally.countShown(timed)
    #expect((tally.counts.shown, tally.counts.latencies.count) == (2, 1))
  }

  @Test func theFrameRateIsThatOfTheLastSecond() throws {
    var meter = FrameRateMeter()
    func at(_ milliseconds: UInt64) -> MonotonicTime { MonotonicTime(nanoseconds: milliseconds * 1_000_000) }
    for frame in 0...100 as ClosedRange<UInt64> { meter.countFrame(at: at(10 * frame)) }
    #expect(meter.rate(at: at(1000)) == 100)
    for frame in 1...40 as ClosedRange<UInt64> { meter.countFrame(at: at(1000 + 25 * frame)) }
    #expect(meter.rate(at: at(2000)) == 40)
    #expect(meter.rate(at: at(2999)) == 40)
    // No frame arrives any more. If one arrived now, two seconds would have passed since the last one.
    #expect(meter.rate(at: at(4000)) == 0.5)
    #expect(FrameRateMeter().rate(at: at(0)) == nil)
    // One frame in two seconds is half a frame per second, whatever the moment of the question.
    var slow = FrameRateMeter()
    for frame in 0...5 as ClosedRange<UInt64> { slow.countFrame(at: at(2000 * frame)) }
    #expect(slow.rate(at: at(10_000)) == 0.5 && slow.rate(at: at(11_900)) == 0.5)
  }

  @Test func resourceUsageSeesThreadsFilesAndMemory() async {
    // This needs a separate process, in which only the tests' own runtime starts and ends threads and opens files. It
    // does so now and then, so that a second look at the numbers may be needed.
    await #expect(processExitsWith: .success) {
      var looks: [String] = []
      for _ in 0..<20 {
        let before = ResourceUsage.current
        let files = (0..<20).map { _ in open("/dev/null", O_RDONLY) }
        let isDone = Locked(false)
        let thread = WorkerThread(name: "test") { _ = isDone.wait { $0 ? true : nil } }
        let memory = [UInt8](repeating: 1, count: 64 * 1024 * 1024)
        let during = ResourceUsage.current
        isDone.withLock { $0 = true }
        isDone.wakeAll()
        thread?.join()
        for file in files { close(file) }
        let isSeen =
          before.openFileCount > 0 && during.openFileCount == before.openFileCount + 20
          && before.threadCount > 0 && during.threadCount == before.threadCount + 1
          && during.residentBytes >= before.residentBytes + memory.count / 2
          && during.peakResidentBytes >= memory.count && during.cpuTime > .zero
        if isSeen { return }
        looks.append("\(before), then \(during)")
      }
      Issue.record("\(looks.joined(separator: "; "))")
    }
  }
}

extension SampleBuffer {
  /// The same picture as another frame of its stream.
  fileprivate func numbered(_ number: UInt64) -> SampleBuffer {
    SampleBuffer(pixelBuffer: pixelBuffer, sequenceNumber: number)
  }
}
