import CGStreamer
import CLibYUV
import Glibc
import Testing

@testable import PipSink

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
