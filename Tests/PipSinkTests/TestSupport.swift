import CGStreamer
import CLibYUV
import Foundation
import Glibc
import Testing

@testable import PipSink

/// Makes frames with the format and padding that a test needs.
enum TestFrame {
  /// Makes a pipeline that exists while `body` runs.
  @discardableResult
  static func withPipeline<Result>(
    _ description: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) throws -> Result {
    try PipSink.initialize()
    let pipeline = try #require(gst_parse_launch(description, nil))
    gst_object_ref_sink(pipeline)
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }
    return try body(pipeline)
  }

  /// Returns the first frame of a source, whose description must end in one buffer: "videotestsrc pattern=ball ! CAPS".
  static func sample(_ source: String) throws -> OpaquePointer {
    try withPipeline("\(source) ! appsink name=sink sync=false enable-last-sample=false") { pipeline in
      let sink = try #require(gst_bin_get_by_name(pipeline.asBin, "sink"))
      defer { gst_object_unref(sink) }
      gst_element_set_state(pipeline, GST_STATE_PLAYING)
      let appsink = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstAppSink.self)
      return try #require(gst_app_sink_try_pull_sample(appsink, 20 * 1_000_000_000), "no frame from \(source)")
    }
  }

  /// Runs a pipeline to its end.
  static func run(_ description: String) throws {
    try withPipeline(description) { try run($0) }
  }

  /// - Returns: the types of the wanted messages. The last one is the type of the message that ended the run.
  @discardableResult
  static func run(
    _ pipeline: UnsafeMutablePointer<GstElement>, wanting wanted: GstMessageType = GST_MESSAGE_EOS
  ) throws -> [GstMessageType] {
    let bus = gst_element_get_bus(pipeline)
    defer { gst_object_unref(bus) }
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let types = GstMessageType(wanted.rawValue | GST_MESSAGE_EOS.rawValue | GST_MESSAGE_ERROR.rawValue)
    var seen: [GstMessageType] = []
    while seen.last != GST_MESSAGE_EOS, seen.last != GST_MESSAGE_ERROR {
      let message = try #require(gst_bus_timed_pop_filtered(bus, 60 * 1_000_000_000, types))
      seen.append(message.pointee.type)
      gst_message_unref(message)
    }
    #expect(seen.last == GST_MESSAGE_EOS)
    return seen
  }

  static func pixelBuffer(_ source: String) throws -> PixelBuffer {
    try pixelBuffer(owning: sample(source))
  }

  static func pixelBuffer(owning sample: OpaquePointer) throws -> PixelBuffer {
    defer { gst_sample_unref(sample) }
    return try PixelBuffer(unsafeGstSample: sample)
  }

  static func sampleBuffer(_ source: String) throws -> SampleBuffer {
    SampleBuffer(pixelBuffer: try pixelBuffer(source))
  }

  /// Describes a source of one of videotestsrc's test pictures.
  static func testSource(
    _ format: PixelFormat, _ width: Int, _ height: Int, pattern: String = "smpte", colorimetry: String? = nil,
    pixelAspectRatio: String = "1/1"
  ) -> String {
    let color = colorimetry.map { ",colorimetry=\($0)" } ?? ""
    return "videotestsrc num-buffers=1 pattern=\(pattern) ! video/x-raw,format=\(format.rawValue),width=\(width),"
      + "height=\(height),framerate=30/1,pixel-aspect-ratio=\(pixelAspectRatio)\(color)"
  }

  /// Describes a source of a picture without hard edges, like those of cameras. It shows enlarged colour bars.
  static func smoothSource(_ format: PixelFormat, _ width: Int, _ height: Int, colorimetry: String? = nil) -> String {
    let color = colorimetry.map { ",colorimetry=\($0)" } ?? ""
    return
      "videotestsrc num-buffers=1 pattern=smpte100 ! video/x-raw,format=AYUV,width=16,height=9,framerate=30/1\(color)"
      + " ! videoscale add-borders=false ! video/x-raw,width=\(width),height=\(height),pixel-aspect-ratio=1/1"
      + " ! videoconvert ! video/x-raw,format=\(format.rawValue)\(color)"
  }

  /// Describes a source of a picture that is as irregular as nature and has no hard edges. It shows enlarged noise.
  static func naturalSource(_ format: PixelFormat, _ width: Int, _ height: Int) -> String {
    "videotestsrc num-buffers=1 pattern=snow ! video/x-raw,format=GRAY8,width=\(max(2, width / 24)),"
      + "height=\(max(2, height / 24)),framerate=30/1 ! videoconvert"
      + " ! video/x-raw,format=AYUV ! videoscale method=lanczos add-borders=false"
      + " ! video/x-raw,width=\(width),height=\(height),pixel-aspect-ratio=1/1"
      + " ! videobalance hue=0.5 saturation=1.5 ! videoconvert ! video/x-raw,format=\(format.rawValue)"
  }

  private static let kept = Locked<[String: PixelBuffer]>([:])

  /// Returns the same frame as ``pixelBuffer(_:)``, but makes it only once per process. The frame is a copy, because
  /// the source's own frame keeps its pool, which has two open files.
  static func keptPixelBuffer(_ source: String) throws -> PixelBuffer {
    if let kept = kept.withLock({ $0[source] }) { return kept }
    let made = try sample(source)
    defer { gst_sample_unref(made) }
    let copy = try #require(gst_buffer_copy_deep(gst_sample_get_buffer(made)))
    defer { gst_buffer_unref(copy) }
    let new = try pixelBuffer(owning: #require(gst_sample_new(copy, gst_sample_get_caps(made), nil, nil)))
    kept.withLock { $0[source] = new }
    return new
  }

  /// Returns the same picture with padded rows as a pixel buffer.
  static func padded(_ pixelBuffer: PixelBuffer, padding: Int) throws -> PixelBuffer {
    try pixelBuffer.withUnsafeGstSample { try TestFrame.pixelBuffer(owning: padded($0, padding: padding)) }
  }

  /// Returns the same picture with `padding` additional bytes in every row and before every plane. A GstVideoMeta
  /// describes the layout, and the padding has a value that would be visible.
  static func padded(_ sample: OpaquePointer, padding: Int) throws -> OpaquePointer {
    let caps = try #require(gst_sample_get_caps(sample))
    var info = GstVideoInfo()
    #expect(gst_video_info_from_caps(&info, caps) != 0)
    var paddedInfo = info
    var offset = padding
    let planes = Int(info.finfo.pointee.n_planes)
    withUnsafeMutableBytes(of: &paddedInfo.stride) { strides in
      withUnsafeMutableBytes(of: &paddedInfo.offset) { offsets in
        for plane in 0..<planes {
          let stride = strides.load(fromByteOffset: plane * 4, as: gint.self) + gint(padding)
          strides.storeBytes(of: stride, toByteOffset: plane * 4, as: gint.self)
          offsets.storeBytes(of: gsize(offset), toByteOffset: plane * 8, as: gsize.self)
          let rows = plane == 0 ? info.height : (info.height + 1) / gint(info.finfo.pointee.h_sub.1 == 1 ? 2 : 1)
          offset += Int(stride) * Int(rows + 1) + padding
        }
      }
    }
    paddedInfo.size = gsize(offset)
    let buffer = try #require(gst_buffer_new_allocate(nil, gsize(offset), nil))
    gst_buffer_memset(buffer, 0, 0xA5, gsize(offset))
    withUnsafeMutableBytes(of: &paddedInfo.offset) { offsets in
      withUnsafeMutableBytes(of: &paddedInfo.stride) { strides in
        _ = gst_buffer_add_video_meta_full(
          buffer, GST_VIDEO_FRAME_FLAG_NONE, info.finfo.pointee.format, guint(info.width), guint(info.height),
          guint(planes), offsets.assumingMemoryBound(to: gsize.self).baseAddress,
          strides.assumingMemoryBound(to: gint.self).baseAddress)
      }
    }
    // gst_video_frame_copy is not used here, because it leaves out the end of an odd row of packed 4:2:2.
    let description = try VideoFormatDescription.shared(for: caps)
    try MappedFrame.withMapped(gst_sample_get_buffer(sample), formatDescription: description) {
      source throws(PipSinkError) in
      try MappedFrame.withMapped(buffer, formatDescription: description, isWritable: true) {
        target throws(PipSinkError) in
        Picture(source).copy(into: Picture(target))
      }
    }
    defer { gst_buffer_unref(buffer) }
    return try #require(gst_sample_new(buffer, caps, nil, nil))
  }
}

/// GStreamer's own elements as the reference for pixels.
enum Oracle {
  /// Returns the frame of a source as BGRA, converted by videoscale and videoconvert.
  ///
  /// The conversion uses 16 bits per channel, with which videoconvert is exact. With 8 bits, it takes a shortcut for
  /// most formats: the white of a 75 % bar becomes 188, although it is 191 by the formulas of the standards.
  ///
  /// - Parameter interpolatesChroma: whether chroma is interpolated. If false, each chroma sample is used for all of
  ///   its pixels, as in libyuv.
  static func bgra(_ source: String, size: PictureSize? = nil, interpolatesChroma: Bool = true) throws -> [UInt8] {
    let scale = size.map {
      " ! videoscale add-borders=false ! video/x-raw,width=\($0.width),height=\($0.height),pixel-aspect-ratio=1/1"
    }
    return try tightBytes(
      TestFrame.pixelBuffer(
        source + (scale ?? "")
          + " ! videoconvert \(interpolatesChroma ? "" : "chroma-mode=none") ! video/x-raw,format=ARGB64_LE"
          + " ! videoconvert ! video/x-raw,format=BGRA"))
  }

  /// Returns the rows of a plane without their padding.
  static func tightBytes(_ pixelBuffer: PixelBuffer, plane: Int = 0) throws -> [UInt8] {
    try pixelBuffer.withPlane(plane) { bytes, layout in
      let rowByteCount = pixelBuffer.pixelFormat.rowByteCount(plane, width: layout.width)
      return [UInt8](unsafeUninitializedCapacity: rowByteCount * layout.height) { tight, count in
        bytes.withUnsafeBytes { all in
          for row in 0..<layout.height {
            memcpy(tight.baseAddress! + row * rowByteCount, all.baseAddress! + row * layout.bytesPerRow, rowByteCount)
          }
        }
        count = rowByteCount * layout.height
      }
    }
  }

  /// Returns the rows of all planes without their padding.
  static func planes(_ pixelBuffer: PixelBuffer) throws -> [[UInt8]] {
    try (0..<pixelBuffer.planeCount).map { try tightBytes(pixelBuffer, plane: $0) }
  }

  /// Converts a frame by GstVideoConverter, on which videoconvert and videoscale are based.
  ///
  /// - Parameters:
  ///   - caps: the caps of the result, with its format and size.
  ///   - options: the options of GstVideoConverter in the syntax of its documentation.
  static func converted(
    _ source: PixelBuffer, to caps: String,
    options: String = "GstVideoConverter.dither-method=(GstVideoDitherMethod)none"
  ) throws -> PixelBuffer {
    try source.withUnsafeGstSample { sample in
      try TestFrame.pixelBuffer(owning: convertedSample(sample, to: caps, options: options))
    }
  }

  static func convertedSample(
    _ source: OpaquePointer, to caps: String,
    options: String = "GstVideoConverter.dither-method=(GstVideoDitherMethod)none"
  ) throws -> OpaquePointer {
    let target = try #require(gst_caps_from_string(caps))
    defer { gst_caps_unref(target) }
    var (inInfo, outInfo) = (GstVideoInfo(), GstVideoInfo())
    #expect(gst_video_info_from_caps(&inInfo, gst_sample_get_caps(source)) != 0)
    #expect(gst_video_info_from_caps(&outInfo, target) != 0)
    // The converter does not change the frame rate or the interlacing.
    (outInfo.fps_n, outInfo.fps_d) = (inInfo.fps_n, inInfo.fps_d)
    outInfo.interlace_mode = inInfo.interlace_mode
    // GStreamer must know a type before it can parse the name of one of its values.
    _ = (gst_video_dither_method_get_type(), gst_video_chroma_mode_get_type())
    let config = try #require(gst_structure_from_string("c, \(options)", nil))
    let converter = try #require(gst_video_converter_new(&inInfo, &outInfo, config))
    defer { gst_video_converter_free(converter) }
    let buffer = gst_buffer_new_allocate(nil, outInfo.size, nil)
    defer { gst_buffer_unref(buffer) }
    gst_buffer_memset(buffer, 0, 0, outInfo.size)
    var (from, to) = (GstVideoFrame(), GstVideoFrame())
    #expect(gst_video_frame_map(&from, &inInfo, gst_sample_get_buffer(source), GST_MAP_READ) != 0)
    #expect(gst_video_frame_map(&to, &outInfo, buffer, GST_MAP_WRITE) != 0)
    gst_video_converter_frame(converter, &from, &to)
    gst_video_frame_unmap(&to)
    gst_video_frame_unmap(&from)
    return try #require(gst_sample_new(buffer, target, nil, nil))
  }

  /// Returns the frame after videoflip.
  static func flipped(_ source: PixelBuffer, method: String) throws -> PixelBuffer {
    try TestFrame.pixelBuffer(owning: pushed(source, through: "videoflip video-direction=\(method)"))
  }

  /// Pushes a frame into elements and returns what comes out of them.
  static func pushed(_ source: PixelBuffer, through elements: String) throws -> OpaquePointer {
    let pipeline = try #require(
      gst_parse_launch("appsrc name=in format=time ! \(elements) ! appsink name=out sync=false", nil))
    gst_object_ref_sink(pipeline)
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(pipeline)
    }
    let (input, output) = (gst_bin_get_by_name(pipeline.asBin, "in"), gst_bin_get_by_name(pipeline.asBin, "out"))
    defer {
      gst_object_unref(input)
      gst_object_unref(output)
    }
    let appsrc = UnsafeMutableRawPointer(input!).assumingMemoryBound(to: GstAppSrc.self)
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    source.withUnsafeGstSample { _ = gst_app_src_push_sample(appsrc, $0) }
    let appsink = UnsafeMutableRawPointer(output!).assumingMemoryBound(to: GstAppSink.self)
    return try #require(gst_app_sink_try_pull_sample(appsink, 20 * 1_000_000_000), "no frame from \(elements)")
  }

  /// Returns the peak signal-to-noise ratio in dB over the colour channels of four-byte pixels. The fourth channel must
  /// be equal. The ratio of equal pictures is infinite.
  static func psnr(_ left: [UInt8], _ right: [UInt8]) -> Double {
    psnr(left, right, sampleCount: left.count / 4 * 3)
  }

  /// Returns the peak signal-to-noise ratio in dB over `sampleCount` bytes. The others must be equal.
  static func psnr(_ left: [UInt8], _ right: [UInt8], sampleCount: Int) -> Double {
    guard left.count == right.count, sampleCount > 0 else { return 0 }
    let sum = ComputeSumSquareErrorPlane(left, Int32(left.count), right, Int32(right.count), Int32(left.count), 1)
    guard sum > 0 else { return .infinity }
    return 10 * log10(255 * 255 / (Double(sum) / Double(sampleCount)))
  }
}

/// Returns the picture that an offscreen surface shows.
func rendered(_ sampleBuffer: SampleBuffer, size: PictureSize, gravity: VideoGravity = .resize) throws -> BGRAImage {
  let renderer = try OffscreenRenderer(size: size)
  try renderer.render(sampleBuffer, gravity: gravity)
  return try #require(renderer.image())
}

/// Waits until `condition` holds, and lets other tasks run meanwhile.
///
/// - Returns: false when the condition does not hold within `seconds`.
func eventually(
  within seconds: Double = 60, isolation: isolated (any Actor)? = #isolation, _ condition: () -> Bool
) async -> Bool {
  let deadline = MonotonicTime.now.advanced(by: .seconds(seconds))
  while !condition() {
    if MonotonicTime.now > deadline { return false }
    try? await Task.sleep(for: .milliseconds(1))
  }
  return true
}

/// Returns the names of the process's threads by their system IDs.
func threads() -> [String: String] {
  let folder = "/proc/self/task"
  let ids = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
  let names = ids.compactMap { id -> (String, String)? in
    guard let name = try? String(contentsOfFile: "\(folder)/\(id)/comm", encoding: .utf8) else { return nil }
    return (id, name.trimmingCharacters(in: .newlines))
  }
  return Dictionary(uniqueKeysWithValues: names)
}

extension FrameRouter {
  convenience init(table: RoutingTable = RoutingTable(), pictureInPicture: some SampleBufferDestination) {
    self.init(table: table, destination: pictureInPicture)
  }

  func addPictureInPictureSurface(_ destination: some SampleBufferDestination) -> PictureInPictureSurfaceID {
    addSurface(destination)
  }

  /// Adds a stream that is shown by the given destination, and returns the consumer for its frames.
  @discardableResult
  func addStream(_ streamID: StreamID, inApp: (any SampleBufferDestination)?) -> any SampleBufferConsumer {
    setDestination(inApp, for: streamID)
    return input(for: streamID)
  }
}

extension SampleBufferDestination {
  func report(to tally: PresentationTally) {}
  func redraw() {}
  var bounds: PictureSize? { nil }
}

/// A destination that records its calls and shows nothing.
final class RecordingDestination: SampleBufferDestination {
  enum Event: Equatable {
    case frame(size: PictureSize, sequence: UInt64)
    case begin(size: PictureSize?, sequence: UInt64?)
    case relinquish(removingImage: Bool)
  }

  private let log = Locked<[Event]>([])

  var events: [Event] { log.withLock { $0 } }

  /// Returns the sequence numbers of the frames of the given size that were routed here.
  func sequences(of size: PictureSize) -> [UInt64] {
    events.compactMap { event in
      if case .frame(size, let sequence) = event { sequence } else { nil }
    }
  }

  func enqueue(_ sampleBuffer: SampleBuffer) -> Bool {
    log.withLock {
      $0.append(.frame(size: sampleBuffer.pixelBuffer.size, sequence: sampleBuffer.sequenceNumber))
    }
    return false
  }

  func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?) {
    log.withLock { $0.append(.begin(size: latest?.pixelBuffer.size, sequence: latest?.sequenceNumber)) }
  }

  func relinquish(removingImage: Bool) -> SampleBuffer? {
    log.withLock { $0.append(.relinquish(removingImage: removingImage)) }
    return nil
  }
}

/// A consumer that keeps and counts its frames.
final class CountingConsumer: SampleBufferConsumer {
  private let state = Locked<[SampleBuffer]>([])

  var sampleBuffers: [SampleBuffer] { state.withLock { $0 } }

  func consume(_ sampleBuffer: SampleBuffer) {
    state.withLock { $0.append(sampleBuffer) }
  }

  func removeAll() { state.withLock { $0 = [] } }
}

extension VideoEngine {
  /// Starts the engine and collects its events until every stream has ended. A pipeline that fails is not started
  /// again.
  func runToEnd(_ consumers: @escaping @Sendable (StreamID) -> any SampleBufferConsumer) async throws -> [EngineEvent] {
    retryPolicy = nil
    let events = events()
    try start(deliveringTo: consumers)
    var seen: [EngineEvent] = []
    for await event in events {
      seen.append(event)
      if case .finished = event { break }
    }
    stop()
    return seen
  }
}
