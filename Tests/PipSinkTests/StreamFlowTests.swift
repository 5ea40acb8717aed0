import CGStreamer
import Testing

@testable import PipSink

/// Which frames of a stream are left out when its decoder resumes, and which frame counts as its first.
@Suite struct StreamFlowTests {
  /// - Parameter time: the presentation time in nanoseconds, or nil for none.
  private func isLeftOver(_ time: UInt64?, _ flow: StreamFlow) -> Bool {
    let buffer = gst_buffer_new()!
    defer { gst_buffer_unref(buffer) }
    buffer.pointee.pts = time.map { GstClockTime($0) } ?? PIPSINK_CLOCK_TIME_NONE
    return flow.isLeftOver(buffer)
  }

  @Test func onlyWhatIsOlderThanTheKeyframeIsLeftOutAndOnlyUntilThatComes() {
    let flow = StreamFlow()
    #expect(!isLeftOver(0, flow), "nothing is left out while the decoder has never been suspended")
    flow.resume(at: 1_000)
    #expect(isLeftOver(0, flow))
    #expect(isLeftOver(999, flow))
    #expect(!isLeftOver(1_000, flow), "the keyframe itself is shown")
    #expect(!isLeftOver(500, flow), "a later jump back is shown")
  }

  @Test func aFrameWithoutATimeIsShown() {
    let flow = StreamFlow()
    flow.resume(at: 1_000)
    #expect(!isLeftOver(nil, flow))
  }

  @Test(arguments: [0, 20])
  func aStreamThatJumpsBackJustThenGoesOnSoon(leftOutBefore: Int) {
    let flow = StreamFlow()
    flow.resume(at: 1_000)
    for _ in 0..<leftOutBefore { #expect(isLeftOver(1, flow)) }
    #expect(!isLeftOver(1_000, flow))
    flow.resume(at: 2_000)
    let leftOut = (0..<100).prefix { _ in isLeftOver(7, flow) }.count
    #expect(leftOut == 32, "the limit is the number of frames that a decoder may hold, and it applies each time")
    #expect(!isLeftOver(8, flow))
  }

  @Test func aFlowThatIsClosedStaysSo() {
    let flow = StreamFlow()
    flow.close()
    #expect(isLeftOver(0, flow) && isLeftOver(nil, flow))
    flow.resume(at: 10)
    for _ in 0..<100 { #expect(isLeftOver(20, flow)) }
  }

  @Test func theFirstFrameIsSaidToBeSoAndTheFirstAfterAStall() {
    let flow = StreamFlow()
    #expect(flow.noteDelivery(1))
    #expect(!flow.noteDelivery(2))
    #expect(!flow.noteDelivery(3))
    flow.isFlowing.store(false, ordering: .relaxed)
    #expect(flow.noteDelivery(4))
    #expect(flow.delivered.load(ordering: .relaxed) == 4)
  }

  @Test func whatIsWithheldIsASignOfLifeToo() {
    let flow = StreamFlow()
    _ = flow.noteDelivery(3)
    flow.withheld.wrappingAdd(2, ordering: .relaxed)
    #expect(flow.activity == 5)
  }
}
