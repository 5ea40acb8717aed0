import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Streams that become visible again: what they show is compared with what their sources deliver.
@Suite struct ReturnFromBackgroundTests {
  /// Two streams with the same moving pictures: one comes directly from the source, and the other one comes out of a
  /// decoder. After its first keyframe, the encoder sends no keyframe unless it is asked to.
  private static let moving = """
    videotestsrc is-live=true pattern=smpte75 horizontal-speed=6
      ! video/x-raw,format=I420,width=64,height=48,framerate=120/1 ! tee name=t
    t. ! queue ! appsink name=source sync=false
    t. ! queue ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=100000 pass=quant quantizer=18
      ! h264parse ! avdec_h264 ! appsink name=a sync=false
    """

  private func time(_ sampleBuffer: SampleBuffer) -> MediaTime { sampleBuffer.timing.presentationTimeStamp }

  @Test func whatComesBackIsWhatTheSourceHasThen() async throws {
    let engine = try VideoEngine(.text(Self.moving))
    let (source, decoded) = (CountingConsumer(), CountingConsumer())
    try await engine.start { $0 == "a" ? decoded : source }
    #expect(await eventually { decoded.sampleBuffers.count > 10 && source.sampleBuffers.count > 10 })
    // The encoder shifts all times by the same amount.
    let shift = time(decoded.sampleBuffers[0]) - time(source.sampleBuffers[0])
    for _ in 0..<2 {
      engine.visibleStreamIDs = ["source"]
      #expect(await eventually { engine.info(of: "a")?.isDecodingSuspended == true })
      let halfASecond = MediaTime(value: 1, timescale: 2)
      #expect(
        await eventually {
          guard let last = decoded.sampleBuffers.last, let there = source.sampleBuffers.last else { return false }
          return time(there) > time(last) - shift + halfASecond
        })
      let last = time(try #require(decoded.sampleBuffers.last))
      decoded.removeAll()
      engine.visibleStreamIDs = nil
      #expect(await eventually { decoded.sampleBuffers.count >= 20 })
      let frames = decoded.sampleBuffers
      // Frames that were waiting in front of the encoder may be older than frames that the other queue had already
      // delivered.
      #expect(time(frames[0]) > last + MediaTime(value: 30, timescale: 120), "no frame comes from the time in between")
      for frame in frames {
        let there = time(frame) - shift
        // The two queues are independent, so the frame of the source may arrive after the decoded one.
        try #require(await eventually { source.sampleBuffers.contains { time($0) == there } })
        let original = try #require(source.sampleBuffers.first { time($0) == there })
        let (ours, theirs) = try (Oracle.tightBytes(frame.pixelBuffer), Oracle.tightBytes(original.pixelBuffer))
        let psnr = Oracle.psnr(ours, theirs, sampleCount: ours.count)
        #expect(psnr > 30, "at \(there): \(psnr) dB")
      }
    }
    await engine.stop()
  }

  // MARK: Frame by frame

  /// PNG frames that the test pushes in front of a decoder. The test also decides which of them are keyframes.
  private final class PushedStream {
    let engine: VideoEngine
    let consumer = CountingConsumer()
    private let source: UnsafeMutableRawPointer
    private let pictures: [UnsafeMutablePointer<GstBuffer>]
    let keyframeRequests = Locked(0)

    init() async throws {
      pictures = try (0..<8).map { gray in
        let bytes = (0..<16 * 4).map { $0 % 4 == 3 ? 255 : UInt8(gray * 30) }
        let png = try BGRAImage(size: PictureSize(width: 4, height: 4), bytes: bytes).pngBytes()
        return try #require(png.withUnsafeBytes { gst_buffer_new_memdup($0.baseAddress, gsize($0.count)) })
      }
      engine = try VideoEngine(
        .text(
          "appsrc name=src is-live=true format=time do-timestamp=true caps=\"image/png,framerate=0/1\""
            + " ! pngdec ! videoconvert ! video/x-raw,format=GRAY8 ! appsink name=a sync=false"))
      try await engine.start { [consumer] _ in consumer }
      source = try #require(engine.withUnsafeElement(named: "src") { gst_object_ref($0) } ?? nil)
      let pad = gst_element_get_static_pad(source.assumingMemoryBound(to: GstElement.self), "src")
      gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_EVENT_UPSTREAM,
        { _, info, context in
          guard let event = gst_pad_probe_info_get_event(info), let context else { return GST_PAD_PROBE_OK }
          if gst_video_event_is_force_key_unit(event) != 0 {
            Unmanaged<Locked<Int>>.fromOpaque(context).takeUnretainedValue().withLock { $0 += 1 }
          }
          return GST_PAD_PROBE_OK
        }, Unmanaged.passRetained(keyframeRequests).toOpaque(),
        { context in if let context { Unmanaged<Locked<Int>>.fromOpaque(context).release() } })
      gst_object_unref(pad)
    }

    deinit {
      gst_object_unref(source)
      for picture in pictures { gst_buffer_unref(picture) }
    }

    func push(_ gray: Int, isKeyframe: Bool) {
      let buffer = gst_buffer_copy_deep(pictures[gray])
      if !isKeyframe { gst_buffer_set_flags(buffer, GST_BUFFER_FLAG_DELTA_UNIT) }
      _ = gst_app_src_push_buffer(source.assumingMemoryBound(to: GstAppSrc.self), buffer)
    }

    /// The number of frames that were withheld from the decoder.
    var withheld: UInt64 {
      engine.withRun { $0.pipeline.stream("a")?.flow.withheld.load(ordering: .relaxed) ?? 0 } ?? 0
    }

    /// Returns the numbers of the pictures that have been shown.
    func shown() throws -> [Int] {
      try consumer.sampleBuffers.map {
        try $0.pixelBuffer.withPlane(0) { bytes, _ in (Int(bytes.unsafeLoad(as: UInt8.self)) + 15) / 30 }
      }
    }
  }

  @Test func whatCameMeanwhileIsNotShownAndItGoesOnWithTheNextKeyframe() async throws {
    let stream = try await PushedStream()
    let engine = stream.engine
    engine.visibleStreamIDs = []
    stream.push(1, isKeyframe: true)
    #expect(
      await eventually { engine.info(of: "a")?.isDecodingSuspended == true }, "decoding stops after the first picture")
    #expect(stream.keyframeRequests.withLock { $0 } == 0)
    stream.push(2, isKeyframe: true)
    stream.push(3, isKeyframe: false)
    #expect(await eventually { stream.withheld == 2 })
    // A second search for streams that are not visible finds nothing to do.
    engine.isBackgroundDecodingEnabled = false
    engine.withRun { $0.updateDecoding() }
    engine.visibleStreamIDs = nil
    #expect(await eventually { stream.keyframeRequests.withLock { $0 } == 1 })
    stream.push(4, isKeyframe: false)
    stream.push(5, isKeyframe: true)
    stream.push(6, isKeyframe: false)
    #expect(await eventually { stream.consumer.sampleBuffers.count == 3 })
    #expect(try stream.shown() == [1, 5, 6])
    engine.visibleStreamIDs = []
    #expect(await eventually { engine.info(of: "a")?.isDecodingSuspended == true })
    engine.visibleStreamIDs = ["a"]
    #expect(await eventually { stream.keyframeRequests.withLock { $0 } == 2 }, "a keyframe is requested each time")
    stream.push(7, isKeyframe: true)
    #expect(await eventually { stream.consumer.sampleBuffers.count == 4 })
    #expect(try stream.shown() == [1, 5, 6, 7])
  }
}
