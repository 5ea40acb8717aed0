import CGStreamer
import CGStreamerCheck
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// The numbers in the element's `stats`, and which buffers count as frames: those that arrive a second time, and those
/// after a restart.
@Suite struct ElementStatisticsTests {
  /// Returns one of the numbers in `stats`.
  private func count(_ name: String, of harness: ElementHarness) -> UInt64? {
    guard let structure = harness.state.makeStatistics() else { return nil }
    defer { gst_structure_free(structure) }
    var count: guint64 = 0
    return gst_structure_get_uint64(structure, name, &count) == 0 ? nil : UInt64(count)
  }

  private func counts(of harness: ElementHarness) -> [UInt64?] {
    ["received", "in-app", "pip", "replaced", "processed-out", "skipped"].map { count($0, of: harness) }
  }

  private final class FailingProcessor: FrameProcessor {
    func process(_ sampleBuffer: SampleBuffer) throws(PipSinkError) -> SampleBuffer? {
      throw .frame(.unreadable(reason: "told to"))
    }
  }

  // MARK: - Counts

  @Test func withoutASurfaceEveryFrameReplacesTheOneBefore() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    #expect(counts(of: harness) == [0, 0, 0, 0, 0, 0])
    for index in 0..<5 { harness.push(milliseconds: UInt(index) * 33) }
    #expect(counts(of: harness) == [5, 5, 0, 4, 0, 0])
    #expect(count("rendered", of: harness) == 5, "the statistics of GStreamer's sinks are present as well")
  }

  @Test func framesThatProcessorsDropOrFailAtAreProcessedOut() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    let chain = try #require(harness.state.member?.chain)
    chain.processors = [FailingProcessor()]
    for index in 0..<3 { #expect(harness.push(milliseconds: UInt(index) * 33) == GST_FLOW_OK) }
    #expect(counts(of: harness) == [0, 0, 0, 0, 3, 0])
    chain.processors = [FrameDecimator(every: 2)]
    for index in 3..<9 { harness.push(milliseconds: UInt(index) * 33) }
    #expect(counts(of: harness) == [3, 3, 0, 2, 6, 0])
  }

  @Test func framesInPictureInPictureAreCountedThere() throws {
    let harness = try ElementHarness("surface=offscreen sync=false mode=pip session=\(#function)")
    harness.setCaps()
    harness.push()
    #expect(harness.elementMessages(until: "pip-did-start").last == "pip-did-start")
    let before = counts(of: harness)
    for index in 1...3 { harness.push(milliseconds: UInt(index) * 33) }
    let after = counts(of: harness)
    #expect(after[0] == 4 && after[1] == before[1])
    #expect(after[2] == (before[2] ?? 0) + 3)
  }

  @Test func aStoppedElementHasNoCountsAndTheNextRunBeginsAnew() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    for index in 0..<3 { harness.push(milliseconds: UInt(index) * 33) }
    gst_element_set_state(harness.element, GST_STATE_NULL)
    #expect(counts(of: harness) == [0, 0, 0, 0, 0, 0])
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    harness.pushStart()
    harness.push()
    #expect(counts(of: harness) == [1, 1, 0, 0, 0, 0])
    #expect(harness.latest?.sequenceNumber == 1)
  }

  /// Without a surface nothing but the element itself knows of the pause.
  @Test(arguments: ["none", "offscreen"])
  func aGapIsAFreezeUnlessThePipelineIsPaused(surface: String) async throws {
    let harness = try ElementHarness("surface=\(surface) sync=false session=\(#function)-\(surface)")
    harness.setCaps()
    harness.push()
    let isCounted = { harness.state.member?.statistics?.isGapExpected == false }
    #expect(await eventually(isCounted))
    for index in 1...10 { harness.push(milliseconds: UInt(index) * 33) }
    func freezesAt() -> MonotonicTime? { harness.state.member?.statistics?.freezesAt }
    let moment = try #require(freezesAt())
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    #expect(await eventually { freezesAt() == nil })
    #expect(await eventually { .now > moment.advanced(by: .milliseconds(50)) })
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    #expect(await eventually(isCounted))
    harness.push(milliseconds: 400)
    #expect(count("freezes", of: harness) == 0)
    harness.push(milliseconds: 433)
    let next = try #require(freezesAt())
    #expect(await eventually { .now > next })
    #expect(count("freezes", of: harness) == 1)
    let time = try #require(count("freeze-time", of: harness))
    harness.push(milliseconds: 800)
    #expect(count("freezes", of: harness) == 1)
    #expect(try #require(count("freeze-time", of: harness)) > time)
  }

  // MARK: - A buffer that arrives again

  /// Makes a buffer that the test pushes more than once.
  private func makeBuffer(_ harness: ElementHarness) throws -> UnsafeMutablePointer<GstBuffer> {
    let buffer = try #require(gst_harness_create_buffer(harness.harness, 32 * 24 * 3 / 2))
    buffer.pointee.pts = 0
    buffer.pointee.duration = 33_000_000
    return buffer
  }

  /// Pushes a buffer on a separate thread, which blocks while the element is paused.
  private func pushApart(_ buffer: UnsafeMutablePointer<GstBuffer>, into harness: ElementHarness) throws
    -> (thread: WorkerThread, result: Locked<GstFlowReturn?>)
  {
    let result = Locked<GstFlowReturn?>(nil)
    nonisolated(unsafe) let source = harness.harness
    nonisolated(unsafe) let shared = buffer
    let thread = try #require(
      WorkerThread(name: "push") {
        let flow = gst_harness_push(source, gst_buffer_ref(shared))
        result.withLock { $0 = flow }
      })
    return (thread, result)
  }

  @Test func theSameBufferAfterAFlushIsShownWhilePausedAndOnceWhenPlaying() async throws {
    let harness = try ElementHarness()
    harness.setCaps()
    gst_element_set_state(harness.element, GST_STATE_PAUSED)
    let buffer = try makeBuffer(harness)
    defer { gst_buffer_unref(buffer) }
    let first = try pushApart(buffer, into: harness)
    #expect(await eventually { harness.received == 1 })
    #expect(gst_harness_push_event(harness.harness, gst_event_new_flush_start()) != 0)
    first.thread.join()
    #expect(first.result.withLock { $0 } == GST_FLOW_FLUSHING)
    #expect(gst_harness_push_event(harness.harness, gst_event_new_flush_stop(1)) != 0)
    var segment = GstSegment()
    gst_segment_init(&segment, GST_FORMAT_TIME)
    #expect(gst_harness_push_event(harness.harness, gst_event_new_segment(&segment)) != 0)
    let second = try pushApart(buffer, into: harness)
    #expect(await eventually(within: 10) { harness.received == 2 })
    #expect(second.result.withLock { $0 } == nil, "the push waits while the element is paused")
    gst_element_set_state(harness.element, GST_STATE_PLAYING)
    second.thread.join()
    #expect(second.result.withLock { $0 } == GST_FLOW_OK)
    #expect(harness.received == 2, "the frame that was shown as the first picture is not shown again")
  }

  @Test func whilePlayingTheSameBufferIsAnotherFrameEachTime() throws {
    let harness = try ElementHarness()
    harness.setCaps()
    let buffer = try makeBuffer(harness)
    defer { gst_buffer_unref(buffer) }
    for _ in 0..<3 { #expect(gst_harness_push(harness.harness, gst_buffer_ref(buffer)) == GST_FLOW_OK) }
    #expect(harness.received == 3)
  }

  @Test(arguments: [GST_STATE_READY, GST_STATE_NULL])
  func theSameBufferInTheNextRunIsShownWhilePaused(between: GstState) async throws {
    let harness = try ElementHarness()
    harness.setCaps()
    let buffer = try makeBuffer(harness)
    defer { gst_buffer_unref(buffer) }
    // The counts of a stopped element start again at 0.
    for expected in [1, between == GST_STATE_NULL ? 1 : 2] as [UInt64] {
      gst_element_set_state(harness.element, GST_STATE_PAUSED)
      harness.pushStart()
      let push = try pushApart(buffer, into: harness)
      #expect(await eventually(within: 10) { harness.received == expected })
      gst_element_set_state(harness.element, between)
      push.thread.join()
    }
  }
}
