import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// What a frame says about itself: its format, its times and its orientation.
@Suite struct SampleWrapperTests {
  init() throws {
    try PipSink.initialize()
  }

  /// - Parameter width: the width of the format. A test that counts references needs a width that nothing else in the
  ///   process uses.
  private func caps(_ width: Int) throws -> UnsafeMutablePointer<GstCaps> {
    try #require(gst_caps_from_string("video/x-raw,format=GRAY8,width=\(width),height=2,framerate=30/1"))
  }

  private func buffer(_ width: Int) throws -> UnsafeMutablePointer<GstBuffer> {
    try #require(gst_buffer_new_allocate(nil, gsize((width + 3) / 4 * 4 * 2), nil))
  }

  private func references(_ caps: UnsafeMutablePointer<GstCaps>) -> Int { Int(caps.pointee.mini_object.refcount) }

  private func note(_ event: UnsafeMutablePointer<GstEvent>?, _ wrapper: SampleWrapper) throws {
    let event = try #require(event)
    defer { gst_event_unref(event) }
    let pad = try #require(gst_pad_new("sink", GST_PAD_SINK))
    gst_object_ref_sink(pad)
    defer { gst_object_unref(pad) }
    wrapper.note(event, on: pad)
  }

  private func noteOrientation(_ tag: String, _ wrapper: SampleWrapper) throws {
    try note(gst_event_new_tag(gst_tag_list_new_from_string("taglist, image-orientation=(string)\(tag)")), wrapper)
  }

  /// Returns the orientation of the next frame.
  private func orientation(
    _ wrapper: SampleWrapper, meta: [Float]? = nil, fixed: VideoOrientation? = nil
  ) throws -> VideoOrientation {
    let (caps, buffer) = try (caps(4), buffer(4))
    defer { gst_caps_unref(caps) }
    if let meta {
      gst_video_affine_transformation_meta_apply_matrix(gst_buffer_add_video_affine_transformation_meta(buffer), meta)
    }
    return try wrapper.wrap(owning: buffer, VideoFormatDescription.shared(for: caps), fixedOrientation: fixed)
      .orientation
  }

  // MARK: The preroll

  @Test(arguments: [0, 40_000_000, GstClockTime.max])
  func theFirstFrameOfAStartThatIsTriedAgainIsShownOnce(time: GstClockTime) throws {
    let wrapper = SampleWrapper()
    let frames = try (0..<4).map { _ in try buffer(4) }
    defer { for frame in frames { gst_buffer_unref(frame) } }
    for (frame, time) in zip(frames, [time, time, time, 80_000_000]) { frame.pointee.pts = time }
    /// Whether the preroll is shown, and again when its time has come.
    func start(_ frame: UnsafeMutablePointer<GstBuffer>) -> [Bool] {
      var shown: [Bool] = []
      _ = wrapper.preroll {
        shown.append(wrapper.mustShow(frame))
        return GST_FLOW_OK
      }
      return shown + [wrapper.mustShow(frame)]
    }
    // A start that ends before the preroll leaves nothing.
    wrapper.startAgain()
    _ = wrapper.preroll {
      #expect(wrapper.mustShow(frames[0]))
      return GST_FLOW_OK
    }
    wrapper.startAgain()
    // Without a time nobody knows whether it is the same frame.
    #expect(start(frames[1]) == [time == .max, false])
    #expect(wrapper.mustShow(frames[2]), "only the first frame is the one that was shown")
    wrapper.startAgain()
    #expect(start(frames[3]) == [true, false])
  }

  // MARK: Formats

  @Test func capsThatNoFrameFollowsAreLetGo() throws {
    let (first, second) = try (caps(4_001), caps(4_002))
    defer { for caps in [first, second] { gst_caps_unref(caps) } }
    var wrapper: SampleWrapper? = SampleWrapper()
    wrapper?.setNewCaps(first)
    wrapper?.setNewCaps(second)
    #expect(references(first) == 1)
    #expect(references(second) == 2)
    wrapper?.setNewCaps(first)
    #expect((references(first), references(second)) == (2, 1))
    wrapper = nil
    #expect(references(first) == 1)
  }

  @Test func capsAreKeptByTheirFormatAlone() throws {
    let caps = try caps(4_003)
    defer { gst_caps_unref(caps) }
    do {
      let wrapper = SampleWrapper()
      for _ in 0..<3 {
        wrapper.setNewCaps(caps)
        _ = try wrapper.takeNewFormat()
        #expect(wrapper.format?.size.width == 4_003)
      }
      #expect(references(caps) == 2)
    }
    VideoFormatDescription.forgetUnused()
    #expect(references(caps) == 1)
  }

  @Test func aFormatIsSaidToBeNewOnlyWhereItIs() throws {
    let (a, b) = try (caps(4), caps(8))
    defer { for caps in [a, b] { gst_caps_unref(caps) } }
    let wrapper = SampleWrapper()
    var told: [Int] = []
    func take() throws {
      if let new = try wrapper.takeNewFormat() { told.append(new.size.width) }
    }
    try take()
    #expect(told.isEmpty && wrapper.format == nil, "there are no caps yet")
    wrapper.setNewCaps(a)
    try take()
    try take()
    wrapper.setNewCaps(a)
    try take()
    #expect(told == [4])
    wrapper.setNewCaps(b)
    wrapper.setNewCaps(a)
    try take()
    #expect(told == [4], "no frame had the caps b")
    wrapper.setNewCaps(b)
    try take()
    #expect(told == [4, 8])
  }

  @Test func capsThatMakeNoFormatFailEveryFrameUntilOthersCome() throws {
    let good = try caps(4)
    let bad = try #require(gst_caps_from_string("video/x-raw,format=NV12_64Z32,width=64,height=64,framerate=30/1"))
    defer { for caps in [good, bad] { gst_caps_unref(caps) } }
    let wrapper = SampleWrapper()
    wrapper.setNewCaps(good)
    #expect(try wrapper.takeNewFormat()?.size.width == 4)
    wrapper.setNewCaps(bad)
    for _ in 0..<2 { #expect(throws: PipSinkError.self) { try wrapper.takeNewFormat() } }
    wrapper.setNewCaps(good)
    #expect(try wrapper.takeNewFormat() == nil, "the format is the same as before")
    #expect(wrapper.format?.size.width == 4)
    #expect(references(bad) == 1)
  }

  // MARK: Times

  @Test func theTimesOfAFrameAreItsBuffersEachForItself() throws {
    let caps = try caps(4)
    defer { gst_caps_unref(caps) }
    let format = try VideoFormatDescription.shared(for: caps)
    let none = PIPSINK_CLOCK_TIME_NONE
    let wrapper = SampleWrapper()
    for (number, times) in [(3_000, 1_000, 40), (1_000, 2_000, none), (none, 5_000, 7), (5, none, none)].enumerated() {
      let buffer = try buffer(4)
      (buffer.pointee.pts, buffer.pointee.dts, buffer.pointee.duration) = times
      let sample = wrapper.wrap(owning: buffer, format)
      let expected = [times.0, times.1, times.2].map {
        $0 == none ? MediaTime.invalid : MediaTime(clockTime: UInt64($0))
      }
      let timing = sample.timing
      #expect([timing.presentationTimeStamp, timing.decodeTimeStamp, timing.duration] == expected)
      #expect(sample.sequenceNumber == UInt64(number + 1))
      #expect(sample.attachments.displayImmediately, "the sink has already waited for the time of the frame")
      #expect(sample.formatDescription === format)
    }
    #expect(wrapper.frameCount == 4)
  }

  @Test func otherPixelsKeepTheTimesAndThePlaceOfTheSample() throws {
    let timing = SampleTiming(
      presentationTimeStamp: MediaTime(value: 3, timescale: 30), decodeTimeStamp: MediaTime(value: 1, timescale: 30),
      duration: MediaTime(value: 1, timescale: 25))
    var sample = SampleBuffer(
      pixelBuffer: try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 16, 8)), timing: timing, sequenceNumber: 9)
    sample.orientation = .init(rotation: .quarter)
    sample.receivedAt = MonotonicTime(nanoseconds: 77)
    sample.attachments.displayImmediately = true
    let other = try TestFrame.pixelBuffer(TestFrame.testSource(.bgra, 8, 8))
    let result = sample.replacing(other)
    #expect(result.pixelBuffer === other)
    #expect(result.timing == timing && result.sequenceNumber == 9 && result.attachments == sample.attachments)
    #expect(result.orientation == sample.orientation && result.receivedAt == sample.receivedAt)
    let converted = try PixelConverter().convert(sample, to: .init(pixelFormat: .nv12, orientation: .mirrored))
    #expect(converted.timing == timing && converted.sequenceNumber == 9)
    #expect(converted.orientation == .upright)
    #expect(converted.pixelBuffer.size == PictureSize(width: 8, height: 16))
  }

  // MARK: Orientation

  /// A matrix in OpenGL's notation that exchanges left and right.
  private static let mirror: [Float] = [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1]

  @Test func theMetasMirroringComesBeforeTheTagsTurn() throws {
    let wrapper = SampleWrapper()
    #expect(try orientation(wrapper, meta: Self.mirror) == .mirrored)
    try noteOrientation("rotate-90", wrapper)
    #expect(try orientation(wrapper, meta: Self.mirror) == VideoOrientation(rotation: .quarter, isMirrored: true))
    #expect(try orientation(wrapper) == VideoOrientation(rotation: .quarter), "this frame has no meta")
    try noteOrientation("rotate-270", wrapper)
    #expect(try orientation(wrapper, meta: Self.mirror) == VideoOrientation(rotation: .threeQuarters, isMirrored: true))
  }

  @Test func aFixedOrientationTakesTheTagsPlaceAndComesAfterTheMetaToo() throws {
    let wrapper = SampleWrapper()
    try noteOrientation("rotate-180", wrapper)
    let quarter = VideoOrientation(rotation: .quarter)
    #expect(try orientation(wrapper, fixed: quarter) == quarter)
    #expect(
      try orientation(wrapper, meta: Self.mirror, fixed: quarter)
        == VideoOrientation(rotation: .quarter, isMirrored: true))
    #expect(try orientation(wrapper) == VideoOrientation(rotation: .half))
  }

  @Test func aNewStreamIsUprightUntilItSaysOtherwise() throws {
    let wrapper = SampleWrapper()
    try noteOrientation("rotate-90", wrapper)
    #expect(try orientation(wrapper) == VideoOrientation(rotation: .quarter))
    try note(gst_event_new_stream_start("another"), wrapper)
    #expect(try orientation(wrapper) == .upright)
    try noteOrientation("flip-rotate-0", wrapper)
    #expect(try orientation(wrapper) == .mirrored)
  }

  @Test func otherTagsAndFlushesChangeNothing() throws {
    let wrapper = SampleWrapper()
    try noteOrientation("rotate-90", wrapper)
    try note(gst_event_new_tag(gst_tag_list_new_from_string("taglist, title=(string)Film")), wrapper)
    try note(gst_event_new_flush_stop(1), wrapper)
    #expect(try orientation(wrapper) == VideoOrientation(rotation: .quarter))
    try noteOrientation("rotate-0", wrapper)
    #expect(try orientation(wrapper) == .upright, "the tag says upright")
  }
}
