import CGStreamer
import CLibYUV
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct ProcessorTests {
  private let frame: SampleBuffer

  init() throws {
    frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16))
  }

  private func timed(_ seconds: Double) -> SampleBuffer {
    SampleBuffer(
      pixelBuffer: frame.pixelBuffer, timing: SampleTiming(presentationTimeStamp: MediaTime(seconds: seconds)))
  }

  // MARK: Dropping frames

  @Test(arguments: [1, 2, 3, 7])
  func theDecimatorLetsEveryNthFrameThrough(interval: Int) {
    let decimator = FrameDecimator(every: interval)
    let passed = (0..<100).filter { _ in decimator.process(frame) != nil }
    #expect(passed == Array(stride(from: 0, to: 100, by: interval)))
  }

  @Test func aFrameThatMustNotBeDroppedPassesAndIsTheFirstOfTheNextOnes() throws {
    var only = frame
    only.attachments.mustNotBeDropped = true
    let decimator = FrameDecimator(every: 3)
    let passed = [frame, only, frame, frame, frame, only, only].map { decimator.process($0) != nil }
    #expect(passed == [true, true, false, false, true, true, true])
    let limiter = try #require(FrameRateLimiter(maximumRate: 10))
    var next = timed(5.01)
    next.attachments.mustNotBeDropped = true
    #expect(limiter.process(timed(5)) != nil && limiter.process(next) != nil)
    #expect(limiter.process(timed(5.05)) == nil && limiter.process(timed(5.1)) != nil)
  }

  @Test func aDecimatorOfLessThanOneLetsEveryFrameThrough() {
    #expect(FrameDecimator(every: 0).interval == 1)
    #expect(FrameDecimator(every: -5).process(frame) != nil)
  }

  /// Returns the times of the frames that pass a limiter, for a source with frames at `rate` and up to 4 ms of jitter.
  private func passed(rate: Double, limit: Double, seconds: Int, seed: UInt64) throws -> [Double] {
    var random = SeededGenerator(seed: seed)
    let limiter = try #require(FrameRateLimiter(maximumRate: limit))
    return (0..<Int(rate) * seconds).compactMap { index in
      let time = Double(index) / rate + Double.random(in: 0...0.004, using: &random)
      return limiter.process(timed(time)) == nil ? nil : time
    }
  }

  @Test(arguments: [(60.0, 30.0), (30.0, 25.0), (60.0, 24.0), (30.0, 30.0), (50.0, 10.0)], [1, 2, 3] as [UInt64])
  func theLimiterKeepsTheRateEachSecondAndEvenly(rates: (Double, Double), seed: UInt64) throws {
    let (rate, limit) = rates
    let times = try passed(rate: rate, limit: limit, seconds: 20, seed: seed)
    for second in 0..<20 {
      let count = times.count { $0 >= Double(second) && $0 < Double(second + 1) }
      #expect(abs(Double(count) - limit) <= 1, "\(count) in second \(second)")
    }
    // There are no bursts: two frames are never closer than two frames of the source, and never further apart than the
    // limiter's interval plus one interval of the source.
    for (earlier, later) in zip(times, times.dropFirst()) {
      #expect(later - earlier >= min(1 / rate, 1 / limit) - 0.005)
      #expect(later - earlier <= 1 / limit + 1 / rate + 0.005)
    }
  }

  @Test func aSourceThatIsSlowerThanTheLimitLosesNothingAndAPauseIsNotMadeUpFor() throws {
    #expect(try passed(rate: 10, limit: 30, seconds: 5, seed: 1).count == 50)
    let limiter = try #require(FrameRateLimiter(maximumRate: 10))
    #expect(limiter.process(timed(0)) != nil)
    #expect(limiter.process(timed(60)) != nil)
    #expect(limiter.process(timed(60.02)) == nil)
    #expect(limiter.process(timed(60.04)) == nil)
    #expect(limiter.process(timed(60.1)) != nil)
  }

  @Test func aJumpBackStartsOver() throws {
    let limiter = try #require(FrameRateLimiter(maximumRate: 10))
    #expect(limiter.process(timed(100)) != nil)
    #expect(limiter.process(timed(3)) != nil)
    #expect(limiter.process(timed(3.05)) == nil)
  }

  @Test func framesWithoutTimesAreMeasuredByTheirArrival() throws {
    let clock = Locked<UInt64>(5_000_000_000)
    let limiter = try #require(
      FrameRateLimiter(maximumRate: 10) { MonotonicTime(nanoseconds: clock.withLock { $0 }) })
    let passed = (0..<500).count { _ in
      clock.withLock { $0 += 20_000_000 }
      return limiter.process(frame) != nil
    }
    // These are ten frames per second for ten seconds, and the first frame.
    #expect((100...101).contains(passed))
  }

  @Test func framesThatLoseOrGetTheirTimesBeginAnew() throws {
    let clock = Locked<UInt64>(5_010_000_000)
    let limiter = try #require(
      FrameRateLimiter(maximumRate: 10) { MonotonicTime(nanoseconds: clock.withLock { $0 }) })
    #expect(limiter.process(timed(5)) != nil)
    #expect(limiter.process(frame) != nil, "the time of arrival comes from another clock than the frame's time")
    clock.withLock { $0 += 10_000_000 }
    #expect(limiter.process(frame) == nil)
    #expect(limiter.process(timed(5.03)) != nil)
    #expect(limiter.process(timed(5.04)) == nil)
  }

  /// - Parameter milliseconds: the time after the first frame. The limit is ten frames per second.
  @Test(arguments: [(74, false), (76, true), (99, true), (120, true)])
  func aFrameMayBeAQuarterOfAnIntervalEarly(milliseconds: Int, passes: Bool) throws {
    let limiter = try #require(FrameRateLimiter(maximumRate: 10))
    #expect(limiter.process(timed(1)) != nil)
    #expect((limiter.process(timed(1 + Double(milliseconds) / 1000)) != nil) == passes)
    guard passes else { return }
    // A frame that is early or late does not move the grid of expected times.
    #expect(limiter.process(timed(1.174)) == nil)
    #expect(limiter.process(timed(1.176)) != nil)
  }

  @Test(arguments: [0, -1, .infinity, .nan] as [Double])
  func aRateThatIsNoneMakesNoLimiter(rate: Double) {
    #expect(FrameRateLimiter(maximumRate: rate) == nil)
  }

  // MARK: Grayscale

  @Test(
    arguments: [PixelFormat.i420, .yv12, .nv12, .nv21, .i422, .y444, .p010, .i420Ten, .i422Ten],
    [(640, 360), (17, 9), (1, 1)])
  func grayscaleKeepsLumaAndTheFormatAndMakesChromaNeutral(format: PixelFormat, size: (Int, Int)) throws {
    for padding in [0, 24] {
      let tight = try TestFrame.sample(TestFrame.testSource(format, size.0, size.1, pattern: "smpte100"))
      let source = try TestFrame.pixelBuffer(
        owning: padding == 0 ? tight : TestFrame.padded(tight, padding: padding))
      if padding != 0 { gst_sample_unref(tight) }
      let result = try #require(try GrayscaleProcessor().process(SampleBuffer(pixelBuffer: source))).pixelBuffer
      #expect(result.formatDescription === source.formatDescription)
      #expect(
        try PixelComparison.areEqual(Oracle.tightBytes(result), Oracle.tightBytes(source)), "luma is unchanged")
      let address = { (bytes: RawSpan, _: PixelBuffer.PlaneLayout) in
        bytes.withUnsafeBytes { UnsafeRawPointer($0.baseAddress) }
      }
      #expect(try result.withPlane(0, address) == source.withPlane(0, address), "luma is not copied")
      let image = try rendered(SampleBuffer(pixelBuffer: result), size: result.size)
      // The channels are exchanged in a circle, so that green is compared with blue, red with green, and blue with red.
      var moved = [UInt8](repeating: 0, count: image.bytes.count)
      let order: [UInt8] = (0..<16).map { $0 % 4 == 3 ? $0 : $0 / 4 * 4 + ($0 % 4 + 1) % 3 }
      let (width, height) = (Int32(image.size.width), Int32(image.size.height))
      ARGBShuffle(image.bytes, width * 4, &moved, width * 4, order, width, height)
      #expect(PixelComparison.differ(atMost: 1, image.bytes, moved), "\(format) \(size): a pixel has a colour")
    }
  }

  /// Returns the visible samples of a plane, row by row.
  private func bytes(_ pixelBuffer: PixelBuffer, _ plane: Int) throws -> [[UInt8]] {
    try pixelBuffer.withPlane(plane) { bytes, layout in
      (0..<layout.height).map { row in
        (0..<layout.width * layout.pixelStride).map {
          bytes.unsafeLoad(fromByteOffset: row * layout.bytesPerRow + $0, as: UInt8.self)
        }
      }
    }
  }

  @Test func grayscaleKeepsTheCropTheTimesAndTheNumber() throws {
    let sample = try TestFrame.sample(
      "videotestsrc num-buffers=1 ! video/x-raw,format=I420,width=64,height=64 ! identity")
    let buffer = try #require(gst_buffer_copy(gst_sample_get_buffer(sample)))
    let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
    let crop = UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
    (crop.pointee.x, crop.pointee.y, crop.pointee.width, crop.pointee.height) = (8, 4, 20, 10)
    let cropped = try #require(gst_sample_new(buffer, gst_sample_get_caps(sample), nil, nil))
    gst_buffer_unref(buffer)
    gst_sample_unref(sample)
    let source = SampleBuffer(
      pixelBuffer: try TestFrame.pixelBuffer(owning: cropped),
      timing: SampleTiming(presentationTimeStamp: MediaTime(value: 7, timescale: 30)), sequenceNumber: 9)
    let result = try #require(try GrayscaleProcessor().process(source))
    #expect(result.timing == source.timing)
    #expect(result.sequenceNumber == 9)
    #expect(try result.pixelBuffer.withPlane(0) { $1.width } == 20)
    #expect(try bytes(result.pixelBuffer, 0) == bytes(source.pixelBuffer, 0))
  }

  @Test(arguments: [PixelFormat.yuy2, .uyvy])
  func grayscaleKeepsTheLumaOfPackedYUVToo(format: PixelFormat) throws {
    let source = try TestFrame.sampleBuffer(TestFrame.testSource(format, 64, 48))
    let gray = try #require(try GrayscaleProcessor().process(source))
    #expect(gray.formatDescription === source.formatDescription)
    let (before, after) = try (Oracle.tightBytes(source.pixelBuffer), Oracle.tightBytes(gray.pixelBuffer))
    let lumaOffset = format == .yuy2 ? 0 : 1
    for index in before.indices {
      let expected = index % 2 == lumaOffset ? before[index] : 128
      if after[index] != expected { Issue.record("byte \(index) is \(after[index]), should be \(expected)") }
    }
  }

  @Test(arguments: [PixelFormat.bgra, .rgbx, .xrgb, .rgb, .bgr])
  func grayscaleMakesTheChannelsOfRGBEqual(format: PixelFormat) throws {
    let source = try TestFrame.sampleBuffer(TestFrame.testSource(format, 64, 48))
    let gray = try #require(try GrayscaleProcessor().process(source))
    #expect(gray.formatDescription === source.formatDescription)
    let image = try rendered(gray, size: .init(width: 64, height: 48))
    let original = try rendered(source, size: .init(width: 64, height: 48))
    for x in stride(from: 4, to: 64, by: 9) {
      let (pixel, color) = (image.pixel(x, 8).map(Int.init), original.pixel(x, 8).map(Double.init))
      let luma = 0.114 * color[0] + 0.587 * color[1] + 0.299 * color[2]
      #expect(pixel[0] == pixel[1] && pixel[1] == pixel[2])
      #expect(abs(Double(pixel[0]) - luma) <= 2)
    }
  }

  // MARK: Chains

  /// Records the changes of format, and does what the test gives it to do.
  private final class TestProcessor: FrameProcessor {
    let formats = Locked<[String]>([])
    let work: @Sendable (SampleBuffer) throws(PipSinkError) -> SampleBuffer?

    init(_ work: @escaping @Sendable (SampleBuffer) throws(PipSinkError) -> SampleBuffer? = { $0 }) {
      self.work = work
    }

    func formatDidChange(to format: VideoFormatDescription) {
      formats.withLock { $0.append("\(format.size)") }
    }

    func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? { try work(sampleBuffer) }
  }

  @Test func aChainCountsWhatItPassesDropsAndFailsAndNumbersWhatIsLeft() {
    let consumer = CountingConsumer()
    let failing = TestProcessor { sampleBuffer throws(PipSinkError) in
      if sampleBuffer.sequenceNumber == 3 { throw .frame(.unreadable(reason: "told to")) }
      return sampleBuffer
    }
    let chain = ProcessorChain([FrameDecimator(every: 2), failing], next: consumer)
    for number in 1...10 as ClosedRange<UInt64> {
      chain.consume(SampleBuffer(pixelBuffer: frame.pixelBuffer, sequenceNumber: number))
    }
    #expect(chain.statistics == .init(passed: 4, dropped: 5, failed: 1))
    #expect(chain.statistics.received == 10)
    #expect(chain.error == .frame(.unreadable(reason: "told to")))
    #expect(consumer.sampleBuffers.map(\.sequenceNumber) == [1, 2, 3, 4])
  }

  @Test func processorsAreToldOfEveryChangeOfFormatOnce() throws {
    let other = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 32, 16))
    let processor = TestProcessor()
    let chain = ProcessorChain([processor], next: CountingConsumer())
    for sampleBuffer in [frame, frame, other, other, frame] { chain.consume(sampleBuffer) }
    #expect(processor.formats.withLock { $0 } == ["16x16", "32x16", "16x16"])
  }

  @Test func aChainCanBeChangedWhileFramesFlow() async throws {
    let consumer = CountingConsumer()
    let chain = ProcessorChain(next: consumer)
    let engine = try VideoEngine(
      "videotestsrc num-buffers=3000 ! video/x-raw,format=I420,width=16,height=16 ! appsink name=a sync=false")
    async let events = engine.runToEnd { _ in chain }
    let decimator = FrameDecimator(every: 2)
    while chain.statistics.received < 2900 {
      chain.processors = chain.processors.isEmpty ? [decimator, GrayscaleProcessor()] : []
      await Task.yield()
    }
    _ = try await events
    let statistics = chain.statistics
    #expect(statistics.received == 3000)
    #expect(statistics.failed == 0)
    #expect(statistics.passed == UInt64(consumer.sampleBuffers.count))
    #expect(consumer.sampleBuffers.map(\.sequenceNumber) == Array(1...statistics.passed))
  }

  @Test func framesThatAreThinnedOutAreNotLostByRouting() throws {
    let router = FrameRouter()
    let chain = ProcessorChain([FrameDecimator(every: 3)], next: router.input(for: "a"))
    for number in 1...20 as ClosedRange<UInt64> {
      if number == 11 { try router.enterPictureInPicture("a") }
      chain.consume(SampleBuffer(pixelBuffer: frame.pixelBuffer, sequenceNumber: number))
    }
    #expect(router.changes.map(\.framesLost) == [0])
    #expect(router.statistics(of: "a")?.received == 7)
  }

  // MARK: Registry

  @Test func processorsAreMadeByNameAndAnAppAddsItsOwn() throws {
    let registry = FrameProcessorRegistry()
    #expect(
      registry.entries.map(\.name) == ["decimate", "format", "grayscale", "limit-rate", "mirror", "nv12", "rotate"])
    #expect(try registry.makeProcessor(named: "decimate", argument: "4") is FrameDecimator)
    registry.register(.init(name: "mine", summary: "nothing") { _ in TestProcessor() })
    #expect(try registry.makeProcessor(named: "mine") is TestProcessor)
    registry.register(.init(name: "mine", summary: "another") { _ in GrayscaleProcessor() })
    #expect(try registry.makeProcessor(named: "mine") is GrayscaleProcessor)
    #expect(registry.entries.count == 8)
  }

  @Test(
    arguments: [
      ("decimate", nil), ("decimate", "0"), ("decimate", "x"), ("limit-rate", "-1"), ("limit-rate", nil),
      ("grayscale", "1"), ("rotate", "45"), ("rotate", "0"), ("rotate", nil), ("mirror", "both"), ("nv12", "1"),
      ("format", nil), ("format", "NV99"),
    ] as [(String, String?)])
  func anArgumentThatDoesNotFitIsATypedError(call: (String, String?)) {
    #expect {
      try FrameProcessorRegistry().makeProcessor(named: call.0, argument: call.1)
    } throws: { error in
      guard case PipSinkError.frame(.invalidProcessorArgument(call.0, call.1, _)) = error else { return false }
      return true
    }
  }

  @Test(arguments: ["bgra", "I420", "rgbx"]) func anyFormatCanBeAskedForByItsName(name: String) throws {
    let processor = try FrameProcessorRegistry().makeProcessor(named: "format", argument: name)
    let made = try #require(try processor.process(frame))
    #expect(made.pixelBuffer.pixelFormat.rawValue.lowercased() == name.lowercased())
    #expect(made.timing == frame.timing && made.pixelBuffer.size == frame.pixelBuffer.size)
    #expect(try processor.process(made)?.pixelBuffer === made.pixelBuffer)
  }

  @Test func anUnknownProcessorIsNamed() {
    let registry = FrameProcessorRegistry()
    #expect(throws: PipSinkError.frame(.unknownProcessor("blur", known: registry.entries.map(\.name)))) {
      try registry.makeProcessor(named: "blur")
    }
  }
}
