import CGStreamer
import CGStreamerCheck
import Testing

@testable import PipSink
@testable import TestSupport

/// The gate in front of a decoder, which is closed while the decoder's stream is not visible.
@Suite struct DecodingGateTests {
  /// The path to a decoder. Frames are pushed in at one end and come out at the other end. Times are in milliseconds.
  private final class Way {
    private let harness: UnsafeMutablePointer<GstHarness>
    let pad: UnsafeMutablePointer<GstPad>
    private(set) var frames: [Int] = []
    private(set) var gaps: [Int] = []

    init() throws {
      try PipSink.initialize()
      harness = try #require(gst_harness_new("identity"))
      gst_harness_set_src_caps_str(harness, "video/x-h264")
      pad = try #require(gst_element_get_static_pad(harness.pointee.element, "sink"))
    }

    deinit {
      gst_object_unref(pad)
      gst_harness_teardown(harness)
    }

    private static func buffer(_ time: Int?, decodedAt decodeTime: Int?, isKeyframe: Bool)
      -> UnsafeMutablePointer<GstBuffer>?
    {
      let buffer = gst_buffer_new_allocate(nil, 4, nil)
      buffer?.pointee.pts = time.map { GstClockTime($0) * 1_000_000 } ?? PIPSINK_CLOCK_TIME_NONE
      buffer?.pointee.dts = decodeTime.map { GstClockTime($0) * 1_000_000 } ?? PIPSINK_CLOCK_TIME_NONE
      if !isKeyframe { gst_buffer_set_flags(buffer, GST_BUFFER_FLAG_DELTA_UNIT) }
      return buffer
    }

    func push(_ time: Int?, decodedAt decodeTime: Int? = nil, isKeyframe: Bool = false) {
      #expect(
        gst_harness_push(harness, Self.buffer(time, decodedAt: decodeTime, isKeyframe: isKeyframe)) == GST_FLOW_OK)
      collect()
    }

    func pushList(_ times: [Int], startsWithKeyframe: Bool) {
      let list = gst_buffer_list_new()
      for (index, time) in times.enumerated() {
        gst_buffer_list_insert(
          list, -1, Self.buffer(time, decodedAt: nil, isKeyframe: index == 0 && startsWithKeyframe))
      }
      #expect(gst_pad_push_list(harness.pointee.srcpad, list) == GST_FLOW_OK)
      collect()
    }

    private func collect() {
      while let frame = gst_harness_try_pull(harness) {
        frames.append(Int(frame.pointee.pts == PIPSINK_CLOCK_TIME_NONE ? 0 : frame.pointee.pts / 1_000_000))
        gst_buffer_unref(frame)
      }
      while let event = gst_harness_try_pull_event(harness) {
        defer { gst_event_unref(event) }
        guard event.pointee.type == GST_EVENT_GAP else { continue }
        var (time, duration) = (GstClockTime(0), GstClockTime(0))
        gst_event_parse_gap(event, &time, &duration)
        gaps.append(Int(time / 1_000_000))
      }
    }

    /// The number of keyframe requests that the sender has got since the last call. Each must ask for all headers that
    /// a decoder needs.
    var keyframeRequests: Int {
      var count = 0
      while let event = gst_harness_try_pull_upstream_event(harness) {
        defer { gst_event_unref(event) }
        guard gst_video_event_is_force_key_unit(event) != 0 else { continue }
        var (time, hasHeaders, number) = (GstClockTime(0), gboolean(0), guint(0))
        gst_video_event_parse_upstream_force_key_unit(event, &time, &hasHeaders, &number)
        #expect(hasHeaders != 0)
        count += 1
      }
      return count
    }
  }

  @Test func nothingPassesAndAGapGoesOnForEveryQuarterOfASecond() throws {
    let way = try Way()
    let flows = [StreamFlow(), StreamFlow()]
    _ = DecodingGate(on: way.pad, flows: flows)
    for number in 0...12 { way.push(number * 50, isKeyframe: number % 5 == 0) }
    #expect(way.frames.isEmpty, "keyframes do not pass either")
    #expect(way.gaps == [0, 250, 500])
    #expect(
      flows.map { $0.withheld.load(ordering: .relaxed) } == [13, 13],
      "every stream behind the decoder counts the withheld frames")
    #expect(way.keyframeRequests == 0)
  }

  @Test func afterAJumpBackTheGapsGoOnFromThere() throws {
    let way = try Way()
    _ = DecodingGate(on: way.pad, flows: [])
    for time in [60_000, 60_100, 2_000, 2_100, 2_240, 2_250, 2_400, 60_000] { way.push(time) }
    #expect(way.gaps == [60_000, 2_000, 2_250, 60_000])
  }

  /// Frames are decoded in another order than the order in which they are shown.
  @Test func aFrameALittleBeforeTheOneBeforeItIsNoJump() throws {
    let way = try Way()
    _ = DecodingGate(on: way.pad, flows: [])
    for time in [1_000, 1_120, 1_040, 1_080, 1_249, 960, 1_250] { way.push(time) }
    #expect(way.gaps == [1_000, 1_250])
  }

  @Test func whereAFrameHasNoTimeItsDecodeTimeCounts() throws {
    let way = try Way()
    let flow = StreamFlow()
    _ = DecodingGate(on: way.pad, flows: [flow])
    way.push(nil, decodedAt: 700)
    way.push(3_000, decodedAt: 800)
    way.push(nil)
    #expect(way.gaps == [700, 3_000])
    #expect(flow.withheld.load(ordering: .relaxed) == 3)
  }

  @Test func onceOpenedItAsksForAKeyframeOnceAndGoesOnFromThere() throws {
    let way = try Way()
    let flows = [StreamFlow(), StreamFlow()]
    let gate = DecodingGate(on: way.pad, flows: flows)
    way.push(0, isKeyframe: true)
    gate.open(on: way.pad)
    way.push(1_000)
    way.push(1_040)
    #expect(way.frames.isEmpty)
    #expect(way.gaps == [0, 1_000], "gaps keep the pipeline going until then")
    #expect(flows.map { $0.resumedAt.load(ordering: .relaxed) } == [0, 0])
    way.push(1_080, isKeyframe: true)
    way.push(1_120)
    way.push(1_160)
    #expect(way.frames == [1_080, 1_120, 1_160])
    #expect(way.gaps == [0, 1_000])
    #expect(way.keyframeRequests == 1)
    #expect(flows.map { $0.resumedAt.load(ordering: .relaxed) } == [1_080_000_000, 1_080_000_000])
    #expect(flows.map { $0.withheld.load(ordering: .relaxed) } == [3, 3])
  }

  @Test func aStreamWithoutTimesGoesOnAllTheSame() throws {
    let way = try Way()
    let flow = StreamFlow()
    let gate = DecodingGate(on: way.pad, flows: [flow])
    way.push(nil, isKeyframe: true)
    gate.open(on: way.pad)
    way.push(nil)
    way.push(nil, isKeyframe: true)
    way.push(nil)
    #expect(way.frames.count == 2)
    #expect(flow.resumedAt.load(ordering: .relaxed) == 0)
  }

  @Test func listsOfFramesAreLeftOutAndWaitForAKeyframeAsFramesDo() throws {
    let way = try Way()
    let flow = StreamFlow()
    let gate = DecodingGate(on: way.pad, flows: [flow])
    way.pushList([0, 40, 80], startsWithKeyframe: true)
    #expect(way.frames.isEmpty && way.gaps == [0])
    gate.open(on: way.pad)
    way.pushList([1_000, 1_040], startsWithKeyframe: false)
    #expect(way.frames.isEmpty && way.gaps == [0, 1_000])
    way.pushList([2_000, 2_040], startsWithKeyframe: true)
    #expect(way.frames == [2_000, 2_040])
    #expect(flow.resumedAt.load(ordering: .relaxed) == 2_000_000_000)
  }

  @Test func aSenderThatNeverSendsAKeyframeIsTakenAsItIsAfterAWhile() throws {
    let way = try Way()
    let flow = StreamFlow()
    let clock = ManualClock()
    let gate = DecodingGate(on: way.pad, flows: [flow], clock: clock.clock)
    clock.advance(by: 20)
    way.push(0)
    #expect(way.frames.isEmpty, "nothing passes while the gate is closed, for however long")
    gate.open(on: way.pad)
    clock.advance(by: 9.9)
    way.push(1_000)
    #expect(way.frames.isEmpty, "nothing passes before ten seconds are over")
    clock.advance(by: 0.2)
    way.push(2_000)
    way.push(2_040)
    #expect(way.frames == [2_000, 2_040])
    #expect(flow.resumedAt.load(ordering: .relaxed) == 2_000_000_000)
  }

  @Test func itIsGoneOnceTheStreamGoesOn() throws {
    let way = try Way()
    var gate: DecodingGate? = DecodingGate(on: way.pad, flows: [])
    weak let left = gate
    gate?.open(on: way.pad)
    gate = nil
    #expect(left != nil, "the pad keeps the gate")
    way.push(0, isKeyframe: true)
    #expect(left == nil)
  }
}
