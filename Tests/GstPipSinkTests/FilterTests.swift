import CGStreamer
import CGStreamerCheck
import Glibc
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// `pipsinkfilter`: buffers, properties, and changes while the pipeline plays.
@Suite struct FilterTests {
  /// Returns the address of one of a frame's planes.
  private func address(_ pixelBuffer: PixelBuffer, _ plane: Int = 0) throws -> UnsafeRawPointer? {
    try pixelBuffer.withPlane(plane) { bytes, _ in bytes.withUnsafeBytes { $0.baseAddress } }
  }

  // MARK: - Buffers

  @Test func withoutAProcessorTheSameBufferComesOut() throws {
    let harness = try FilterHarness()
    harness.setCaps()
    for _ in 0..<3 {
      let buffer = gst_harness_create_buffer(harness.harness, 32 * 24 * 3 / 2)
      #expect(harness.push(buffer) == GST_FLOW_OK)
      let output = harness.pull()
      #expect(output == buffer && output?.pointee.mini_object.refcount == 1)
      gst_buffer_unref(output)
    }
    #expect(gst_base_transform_is_passthrough(harness.element.asTransform) != 0)
  }

  @Test func aFrameThatAProcessorLeavesAsItIsComesOutItself() throws {
    let harness = try FilterHarness("format:I420")
    harness.setCaps()
    let buffer = gst_harness_create_buffer(harness.harness, 32 * 24 * 3 / 2)
    #expect(harness.push(buffer) == GST_FLOW_OK)
    let output = harness.pull()
    #expect(output == buffer && output?.pointee.mini_object.refcount == 1)
    gst_buffer_unref(output)
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .y444, .p010])
  func grayscaleKeepsTheLumasMemoryAndItsBufferCanBeWrittenTo(format: PixelFormat) throws {
    let source = try TestFrame.pixelBuffer(TestFrame.testSource(format, 64, 48))
    let harness = try FilterHarness("grayscale", readsVideoMeta: true)
    #expect(harness.push(source) == GST_FLOW_OK)
    let output = try harness.pullPicture()
    #expect(try address(output) == address(source))
    #expect(output.buffer.pointee.mini_object.refcount == 1)
    #expect(try PixelComparison.areEqual(Oracle.tightBytes(output), Oracle.tightBytes(source)))
  }

  @Test(arguments: ["grayscale", "mirror:horizontal"], [(62, 34), (64, 48)])
  func whoReadsNoVideoMetaGetsPlanesThatLieWhereTheCapsSay(process: String, size: (Int, Int)) throws {
    let source = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, size.0, size.1))
    let (plain, meta) = (try FilterHarness(process), try FilterHarness(process, readsVideoMeta: true))
    for harness in [plain, meta] { #expect(harness.push(source) == GST_FLOW_OK) }
    let output = try plain.pullPicture()
    #expect(output.isLaidOutByCaps)
    #expect(try PixelComparison.areEqual(output, meta.pullPicture()))
  }

  @Test func timesOffsetsAndMetasSurvive() throws {
    for (process, keepsPlaces) in [("grayscale", true), ("mirror:vertical", false), ("rotate:90", false)] {
      let harness = try FilterHarness(process)
      harness.setCaps()
      let buffer = try #require(gst_harness_create_buffer(harness.harness, 32 * 24 * 3 / 2))
      (buffer.pointee.pts, buffer.pointee.dts, buffer.pointee.duration) = (7_000_001, 6_000_001, 33_000_000)
      (buffer.pointee.offset, buffer.pointee.offset_end) = (70, 71)
      buffer.pointee.mini_object.flags |= guint(GST_BUFFER_FLAG_MARKER.rawValue)
      let clock = gst_caps_from_string("timestamp/x-test")
      defer { gst_caps_unref(clock) }
      gst_buffer_add_reference_timestamp_meta(buffer, clock, 123, PIPSINK_CLOCK_TIME_NONE)
      gst_buffer_add_video_region_of_interest_meta(buffer, "face", 1, 2, 3, 4)
      #expect(harness.push(buffer) == GST_FLOW_OK)
      let output = try #require(harness.pull())
      defer { gst_buffer_unref(output) }
      #expect(output != buffer)
      #expect(output.pointee.pts == 7_000_001 && output.pointee.dts == 6_000_001)
      #expect(output.pointee.duration == 33_000_000 && output.pointee.offset == 70 && output.pointee.offset_end == 71)
      #expect(output.pointee.mini_object.flags & guint(GST_BUFFER_FLAG_MARKER.rawValue) != 0)
      #expect(gst_buffer_get_reference_timestamp_meta(output, nil)?.pointee.timestamp == 123)
      let region = gst_buffer_get_meta(output, gst_video_region_of_interest_meta_api_get_type())
      #expect((region != nil) == keepsPlaces, "\(process)")
    }
  }

  @Test func anEncoderThatKeepsFortyFramesGetsThemAll() throws {
    let harness = try FilterHarness("rotate:90,mirror:horizontal", readsVideoMeta: true)
    harness.setCaps()
    for number in 0..<40 { #expect(harness.push(number: number) == GST_FLOW_OK) }
    #expect(harness.waiting == 40)
    #expect(harness.count("passed") == 40 && harness.count("failed") == 0)
  }

  @Test func framesThatAreThinnedOutLeaveNoGapAndTheRateIsTheirs() throws {
    let harness = try FilterHarness("decimate:3")
    harness.setCaps()
    for number in 0..<9 { #expect(harness.push(number: number) == GST_FLOW_OK) }
    #expect(harness.count("passed") == 3 && harness.count("dropped") == 6)
    #expect(harness.outputFormat?.frameRate.numerator == 10)
    var times: [UInt64] = []
    while let output = harness.pull() {
      times.append(UInt64(output.pointee.pts / 33_000_000))
      #expect(output.pointee.mini_object.flags & guint(GST_BUFFER_FLAG_DISCONT.rawValue) == 0)
      gst_buffer_unref(output)
    }
    #expect(times == [0, 3, 6])
  }

  @Test(arguments: [("limit-rate:10", 10, 1), ("limit-rate:60", 30, 1), ("decimate:4,limit-rate:5", 5, 1)])
  func aLimitedRateIsInTheCaps(call: (String, Int, Int)) throws {
    let harness = try FilterHarness(call.0)
    harness.setCaps()
    harness.push()
    let rate = try #require(harness.outputFormat?.frameRate)
    #expect(rate == (call.1, call.2))
  }

  // MARK: - The property

  @Test(arguments: ["blur", "grayscale,rotate:45", "grayscale:1", "decimate"])
  func aTextThatNamesNoProcessorIsTheSinksErrorAndStopsTheStart(text: String) throws {
    var expected: PipSinkError?
    do throws(PipSinkError) {
      _ = try FrameProcessorRegistry.shared.makeProcessors(text)
    } catch {
      expected = error
    }
    try PipSinkPlugin.register()
    let element = try #require(gst_parse_launch("pipsinkfilter process=\(text)", nil))
    gst_object_ref_sink(element)
    let bus = gst_bus_new()
    defer {
      gst_element_set_state(element, GST_STATE_NULL)
      gst_object_unref(element)
      gst_object_unref(bus)
    }
    gst_element_set_bus(element, bus)
    #expect(gst_element_set_state(element, GST_STATE_PAUSED) == GST_STATE_CHANGE_FAILURE)
    let message = try #require(gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR))
    defer { gst_message_unref(message) }
    var debug: UnsafeMutablePointer<CChar>?
    gst_message_parse_error(message, nil, &debug)
    defer { g_free(debug) }
    #expect(debug.map { String(cString: $0) }?.hasSuffix(try #require(expected?.description)) == true)
    // With a list of known processors, the element starts.
    gst_util_set_object_arg(
      UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "process", "grayscale")
    gst_element_set_state(element, GST_STATE_NULL)
    #expect(gst_element_set_state(element, GST_STATE_PAUSED) != GST_STATE_CHANGE_FAILURE)
  }

  @Test func whilePlayingItIsAWarningAndTheOldProcessorsGoOn() throws {
    let harness = try FilterHarness("rotate:90")
    harness.setCaps()
    harness.push()
    harness.set(process: "grayscale,blur")
    let warning = try #require(harness.message(GST_MESSAGE_WARNING))
    #expect(warning.contains("there is no processor \"blur\"; the processors are: "))
    #expect(harness.push() == GST_FLOW_OK)
    #expect(harness.outputFormat?.size == PictureSize(width: 24, height: 32))
    #expect(harness.waiting == 2)
  }

  @Test func fiveHundredChangesWhileItPlaysLoseNoFrame() throws {
    let harness = try FilterHarness()
    harness.setCaps()
    let processes = [
      "grayscale", nil, "rotate:90", "mirror:horizontal", "format:BGRA", "", "rotate:180,grayscale", "nv12,rotate:270",
    ]
    for change in 0..<500 {
      harness.set(process: processes[change % processes.count])
      for _ in 0..<2 { #expect(harness.push(number: change) == GST_FLOW_OK) }
    }
    var count = 0
    while let buffer = harness.pull() {
      #expect(buffer.pointee.pts == GstClockTime(count / 2) * 33_000_000)
      count += 1
      gst_buffer_unref(buffer)
    }
    #expect(count == 1000)
    #expect(harness.message(GST_MESSAGE_WARNING) == nil && harness.message(GST_MESSAGE_ERROR) == nil)
  }

  @Test func fiveHundredChangesFromAnotherThreadBeforeAnEncoderLoseNoFrame() throws {
    let harness = try FilterHarness(
      following: " ! x264enc speed-preset=ultrafast tune=zerolatency ! avdec_h264")
    harness.setCaps("video/x-raw,format=I420,width=64,height=48,framerate=30/1")
    nonisolated(unsafe) let shared = harness
    let pushed = Locked(0)
    let isDone = Locked(false)
    let processes = ["grayscale", "", "mirror:vertical", "rotate:180", "mirror:horizontal,grayscale"]
    let changes = WorkerThread(name: "changes") {
      for change in 0..<500 {
        shared.set(process: processes[change % processes.count])
        let seen = pushed.withLock { $0 }
        // Each list of processors is in use for at least one frame.
        let deadline = MonotonicTime.now.advanced(by: .seconds(20))
        _ = pushed.wait(until: deadline) { $0 > seen + 1 ? true : nil }
      }
      isDone.withLock { $0 = true }
    }
    var count = 0
    while !isDone.withLock({ $0 }) {
      #expect(harness.push(number: count, byteCount: 64 * 48 * 3 / 2) == GST_FLOW_OK)
      count += 1
      pushed.withLock { $0 = count }
      pushed.wakeAll()
    }
    changes?.join()
    #expect(gst_harness_push_event(harness.harness, gst_event_new_eos()) != 0)
    #expect(harness.waiting == count && count >= 500)
    // The encoder shifts all times by the same amount.
    var times: [GstClockTime] = []
    while let buffer = harness.pull() {
      times.append(buffer.pointee.pts)
      gst_buffer_unref(buffer)
    }
    #expect(zip(times, times.dropFirst()).allSatisfy { $1 == $0 + 33_000_000 })
    #expect(harness.message(GST_MESSAGE_WARNING) == nil && harness.message(GST_MESSAGE_ERROR) == nil)
  }

  @Test(arguments: ["x264enc speed-preset=ultrafast", "openh264enc"])
  func whatAReceiverDecodesIsGrey(encoder: String) throws {
    let source = "videotestsrc num-buffers=1 pattern=smpte100 ! video/x-raw,format=I420,width=128,height=96"
    for (process, isGrey) in [("grayscale", true), ("mirror:vertical", false)] {
      let frame = try TestFrame.pixelBuffer(
        "\(source) ! pipsinkfilter process=\(process) ! \(encoder) ! avdec_h264 ! video/x-raw,format=I420")
      #expect(frame.size == PictureSize(width: 128, height: 96))
      for plane in 1...2 {
        let chroma = try Oracle.tightBytes(frame, plane: plane)
        #expect(chroma.allSatisfy { abs(Int($0) - 128) <= 1 } == isGrey)
      }
      let luma = try Oracle.tightBytes(frame)
      #expect((luma.max() ?? 0) - (luma.min() ?? 0) > 150)
    }
  }

  // MARK: - Processors that fail, and processors of an app

  /// A processor that does what the test gives it to do.
  private final class TestProcessor: FrameProcessor {
    private let work: @Sendable (SampleBuffer) throws(PipSinkError) -> SampleBuffer?

    init(_ work: @escaping @Sendable (SampleBuffer) throws(PipSinkError) -> SampleBuffer?) { self.work = work }

    func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? { try work(sampleBuffer) }
  }

  private func register(
    _ name: String, _ work: @escaping @Sendable (SampleBuffer) throws(PipSinkError) -> SampleBuffer?
  ) {
    FrameProcessorRegistry.shared.register(.init(name: name, summary: "a test's") { _ in TestProcessor(work) })
  }

  @Test func aFrameThatCannotBeProcessedIsLeftOutWithOneWarningAndTheOthersGoOn() throws {
    register("filter-fails") { sampleBuffer throws(PipSinkError) in
      if (3...5).contains(sampleBuffer.timing.presentationTimeStamp.seconds / 0.033) {
        throw .frame(.unreadable(reason: "told to"))
      }
      return sampleBuffer
    }
    let harness = try FilterHarness("filter-fails")
    harness.setCaps()
    for number in 0..<10 { #expect(harness.push(number: number) == GST_FLOW_OK) }
    #expect(harness.count("passed") == 7 && harness.count("failed") == 3 && harness.waiting == 7)
    #expect(harness.message(GST_MESSAGE_WARNING)?.hasSuffix("a frame cannot be read: told to") == true)
    #expect(harness.message(GST_MESSAGE_WARNING) == nil)
  }

  @Test func tenBitsOfEightAreLeftOutAndSaidAsInTheSink() throws {
    let harness = try FilterHarness("format:P010_10LE")
    harness.setCaps()
    #expect(harness.push() == GST_FLOW_OK)
    #expect(harness.waiting == 0 && harness.count("failed") == 1)
    #expect(harness.message(GST_MESSAGE_WARNING)?.contains("does not work on P010_10LE frames") == true)
  }

  @Test func aProcessorThatSaysNothingOfItsSizeIsNegotiatedByItsFirstFrame() throws {
    let converter = PixelConverter()
    register("filter-shrinks") { sampleBuffer throws(PipSinkError) in
      try converter.convert(sampleBuffer, to: .init(pixelFormat: .nv12, size: .init(width: 16, height: 12)))
    }
    register("filter-lies") { sampleBuffer throws(PipSinkError) in
      var copy = sampleBuffer
      copy.timing.presentationTimeStamp = sampleBuffer.timing.presentationTimeStamp + MediaTime(value: 1, timescale: 1)
      return copy
    }
    let harness = try FilterHarness("filter-shrinks")
    harness.setCaps()
    for number in 0..<3 {
      #expect(harness.push(number: number) == GST_FLOW_OK)
      #expect(harness.outputFormat?.size == PictureSize(width: 16, height: 12))
      #expect(harness.outputFormat?.pixelFormat == .nv12)
      let output = try harness.pullPicture()
      #expect(output.isLaidOutByCaps && gst_buffer_get_size(output.buffer) == 16 * 12 * 3 / 2)
    }
    harness.set(process: "filter-lies")
    #expect(harness.push(number: 1) == GST_FLOW_OK)
    #expect(harness.outputFormat?.size == PictureSize(width: 32, height: 24))
    let output = harness.pull()
    #expect(output?.pointee.pts == 1_033_000_000)
    gst_buffer_unref(output)
  }

  // MARK: - States

  @Test func aNewElementIsGivenBackWhole() throws {
    try PipSinkPlugin.register()
    for _ in 0..<50 {
      let element = try #require(gst_parse_launch("pipsinkfilter process=grayscale", nil))
      gst_object_ref_sink(element)
      #expect(element.withMemoryRebound(to: GObject.self, capacity: 1) { $0.pointee.ref_count } == 1)
      gst_object_unref(element)
    }
  }

  @Test func aHundredStateChangesAndAsManyProcessesAreSurvived() throws {
    try PipSinkPlugin.register()
    let description = "videotestsrc ! pipsinkfilter name=filter ! fakesink async=false"
    try TestFrame.withPipeline(description) { pipeline in
      let filter = try #require(gst_bin_get_by_name(pipeline.asBin, "filter"))
      defer { gst_object_unref(filter) }
      let state = PipSinkFilterElement.state(of: filter)
      let changes = WorkerThread(name: "changes") {
        for change in 0..<500 { state.set(process: ["grayscale", nil, "rotate:90", "nosuch"][change % 4]) }
        state.set(process: "grayscale")
      }
      let states = [GST_STATE_PLAYING, GST_STATE_READY, GST_STATE_PAUSED, GST_STATE_NULL]
      for change in 0..<100 { gst_element_set_state(pipeline, states[change % 4]) }
      changes?.join()
      #expect(gst_element_set_state(pipeline, GST_STATE_PLAYING) != GST_STATE_CHANGE_FAILURE)
      #expect(gst_element_set_state(pipeline, GST_STATE_NULL) == GST_STATE_CHANGE_SUCCESS)
    }
  }
}

extension UnsafeMutablePointer where Pointee == GstElement {
  fileprivate var asTransform: UnsafeMutablePointer<GstBaseTransform> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: GstBaseTransform.self)
  }
}
