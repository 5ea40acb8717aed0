import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// What a chain of processors keeps from frame to frame, and what it passes to the next consumer.
@Suite struct ProcessorChainTests {
  private let numbered: NumberedFrames

  init() throws {
    numbered = try NumberedFrames()
  }

  /// Records what it is given, and does what the test gives it to do.
  private final class TestProcessor: FrameProcessor {
    let formats = Locked(0)
    let frames = Locked<[UInt64]>([])
    let work: @Sendable (SampleBuffer) throws(PipSinkError) -> SampleBuffer?

    init(_ work: @escaping @Sendable (SampleBuffer) throws(PipSinkError) -> SampleBuffer? = { $0 }) {
      self.work = work
    }

    func formatDidChange(to format: VideoFormatDescription) {
      formats.withLock { $0 += 1 }
    }

    func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
      frames.withLock { $0.append(sampleBuffer.sequenceNumber) }
      return try work(sampleBuffer)
    }
  }

  @Test func framesKeepTheirNumbersUntilThereAreProcessorsAndAreCountedFromThereOn() {
    let next = CountingConsumer()
    let chain = ProcessorChain(next: next, isTransparent: true)
    for number: UInt64 in 1...3 { chain.consume(numbered(number)) }
    #expect(!chain.isInUse)
    chain.processors = [FrameDecimator(every: 2)]
    for number: UInt64 in 4...9 { chain.consume(numbered(number)) }
    #expect(chain.isInUse)
    chain.processors = []
    for number: UInt64 in 10...11 { chain.consume(numbered(number)) }
    #expect(next.sampleBuffers.map(\.sequenceNumber) == Array(1...8))
    #expect(chain.statistics == .init(passed: 8, dropped: 3, failed: 0))
  }

  @Test func aProcessorThatStaysInTheChainKeepsItsState() {
    let (staying, added) = (TestProcessor(), TestProcessor())
    let chain = ProcessorChain([staying], next: CountingConsumer())
    chain.consume(numbered(1))
    chain.processors = [added, staying]
    chain.consume(numbered(2))
    #expect(staying.formats.withLock { $0 } == 1, "the processor already knows the format")
    #expect(added.formats.withLock { $0 } == 1)
    chain.processors = []
    chain.consume(numbered(3))
    chain.processors = [staying]
    chain.consume(numbered(4))
    #expect(staying.formats.withLock { $0 } == 2, "the processor had been removed")
    #expect(staying.frames.withLock { $0 } == [1, 2, 4])
    #expect(chain.statistics == .init(passed: 4))
  }

  @Test func processorsGetWhatTheOneBeforeLeavesInTheirOrder() throws {
    let wide = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 32, 16))
    let first = TestProcessor { $0.sequenceNumber == 2 ? nil : SampleBuffer(pixelBuffer: wide, sequenceNumber: 7) }
    let sizes = Locked<[PictureSize]>([])
    let second = TestProcessor { sampleBuffer in
      sizes.withLock { $0.append(sampleBuffer.pixelBuffer.size) }
      return sampleBuffer
    }
    let consumer = CountingConsumer()
    let chain = ProcessorChain([first, second], next: consumer)
    for number in 1...3 as ClosedRange<UInt64> { chain.consume(numbered(number)) }
    #expect(first.frames.withLock { $0 } == [1, 2, 3])
    #expect(second.frames.withLock { $0 } == [7, 7], "a dropped frame does not reach the next processor")
    #expect(sizes.withLock { $0 } == [wide.size, wide.size])
    #expect(consumer.sampleBuffers.map(\.sequenceNumber) == [1, 2])
  }

  @Test func aFrameThatIsMadeAnewKeepsTheTimeOfItsArrival() {
    let pixelBuffer = numbered.pixelBuffer
    let consumer = CountingConsumer()
    let chain = ProcessorChain([TestProcessor { _ in SampleBuffer(pixelBuffer: pixelBuffer) }], next: consumer)
    let arrival = MonotonicTime(nanoseconds: 123)
    var sampleBuffer = numbered(1)
    sampleBuffer.receivedAt = arrival
    chain.consume(sampleBuffer)
    chain.processors = []
    chain.consume(sampleBuffer)
    #expect(consumer.sampleBuffers.map(\.receivedAt) == [arrival, arrival])
  }

  @Test func theNewestErrorIsKept() {
    let processor = TestProcessor { sampleBuffer throws(PipSinkError) in
      if sampleBuffer.sequenceNumber < 4 { throw .frame(.unreadable(reason: "\(sampleBuffer.sequenceNumber)")) }
      return sampleBuffer
    }
    let consumer = CountingConsumer()
    let chain = ProcessorChain([processor], next: consumer)
    #expect(chain.error == nil)
    for number in 1...3 as ClosedRange<UInt64> {
      chain.consume(numbered(number))
      #expect(chain.error == .frame(.unreadable(reason: "\(number)")))
    }
    chain.consume(numbered(4))
    #expect(
      chain.error == .frame(.unreadable(reason: "3")),
      "the error belongs to the newest frame at which a processor failed")
    #expect(chain.statistics == .init(passed: 1, failed: 3))
    #expect(consumer.sampleBuffers.count == 1)
  }

  @Test func aProcessorThatFailsEndsTheFramesWayThere() {
    let failing = TestProcessor { _ throws(PipSinkError) in throw .frame(.unreadable(reason: "told to")) }
    let after = TestProcessor()
    let chain = ProcessorChain([failing, after], next: CountingConsumer())
    chain.consume(numbered(1))
    #expect(after.frames.withLock { $0.isEmpty } && after.formats.withLock { $0 } == 0)
  }

  @Test func whatComesAfterTheChainChoosesTheSeries() {
    for series in [FrameFormatSeries.any, .rgb, .yuv] {
      let observation = VideoFrameObservation(
        of: "a", by: .pixelBuffers(SilentObserver()), formatSeries: series)
      #expect(ProcessorChain(next: observation).formatSeries == series)
    }
    #expect(ProcessorChain(next: CountingConsumer()).formatSeries == .any)
  }

  private final class SilentObserver: VideoFrameObserver {
    let strides = Locked<[[Int]]>([])

    func streamDidDeliver(_ pixelBuffer: PixelBuffer, parameters: VideoFrameParameters, streamID: StreamID) {
      strides.withLock { $0.append(parameters.strides) }
    }
  }

  // MARK: - Observers

  @Test func aFrameThatCannotBeReadIsSkippedForTheObserverAndGoesOn() throws {
    let caps = try #require(gst_caps_from_string("video/x-raw,format=I420,width=640,height=480"))
    let buffer = gst_buffer_new_allocate(nil, 1000, nil)
    let sample = try #require(gst_sample_new(buffer, caps, nil, nil))
    gst_buffer_unref(buffer)
    gst_caps_unref(caps)
    let unreadable = SampleBuffer(pixelBuffer: try TestFrame.pixelBuffer(owning: sample))
    let next = CountingConsumer()
    for series in [FrameFormatSeries.any, .rgb] {
      let observer = SilentObserver()
      let observation = VideoFrameObservation(
        of: "a", by: .pixelBuffers(observer), formatSeries: series, next: next)
      observation.consume(unreadable)
      observation.consume(numbered(1))
      #expect(observation.statistics == .init(delivered: 1, converted: series == .rgb ? 1 : 0, skipped: 1))
      #expect(observer.strides.withLock { $0.count } == 1)
    }
    #expect(next.sampleBuffers.count == 4)
  }

  @Test func theStridesAreEachFramesOwn() throws {
    let observer = SilentObserver()
    let observation = VideoFrameObservation(of: "a", by: .pixelBuffers(observer))
    let pictures = try [
      (PixelFormat.i420, 20), (.i420, 24), (.nv12, 24), (.bgra, 32), (.bgra, 16), (.i420, 16),
    ].map {
      try TestFrame.keptPixelBuffer(TestFrame.testSource($0.0, $0.1, 16))
    }
    for picture in pictures { observation.consume(SampleBuffer(pixelBuffer: picture)) }
    #expect(observer.strides.withLock { $0 } == [[20, 12, 12], [24, 12, 12], [24, 24], [128], [64], [16, 8, 8]])
  }
}
