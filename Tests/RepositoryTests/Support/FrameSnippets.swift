import CGStreamer
import PipSink

// The snippets of docs/frames.md and the second one of README.md, with what they are given. FrameSnippetTests
// compares them with the documents.

/// A frame as an engine gives it to its callback, whose planes are valid during the call.
struct EngineFrame {
  let y: UnsafeRawPointer
  let u: UnsafeRawPointer
  let v: UnsafeRawPointer
  let yStride: Int
  let uvStride: Int
  let width: Int
  let height: Int
  /// By how many degrees it has to be turned clockwise to be upright.
  let rotation: Int
  let microseconds: Int64
}

/// A call SDK with callbacks, which are called on its own threads.
@MainActor final class CallSDK {
  var onFrame: (@Sendable (EngineFrame) throws -> Void)?
  var onLeave: (@Sendable () -> Void)?
}

/// What a call's engine lets an app do.
@MainActor final class CallEngine {
  private(set) var isMuted = false
  func setMuted(_ isMuted: Bool) { self.isMuted = isMuted }
}

/// Called by the engine on a thread of its own, for each frame.
func receive(_ frame: EngineFrame, _ input: StreamInput) throws {
  try input.push(
    copying: [
      UnsafeLentPlane(address: frame.y, bytesPerRow: frame.yStride),
      UnsafeLentPlane(address: frame.u, bytesPerRow: frame.uvStride),
      UnsafeLentPlane(address: frame.v, bytesPerRow: frame.uvStride),
    ],
    format: .i420, size: PictureSize(width: frame.width, height: frame.height),
    timing: SampleTiming(presentationTimeStamp: MediaTime(value: frame.microseconds, timescale: 1_000_000)),
    orientation: VideoOrientation(rotation: .init(degrees: frame.rotation) ?? .none),
    colorimetry: Colorimetry(matrix: .bt709, isFullRange: false), pixelAspectRatio: (1, 1))
}

/// Shows a frame in the engine's own memory.
func show(_ frame: EngineFrame, _ input: StreamInput, release: @escaping @Sendable () -> Void) throws {
  let planes = [
    UnsafeLentPlane(address: frame.y, bytesPerRow: frame.yStride),
    UnsafeLentPlane(address: frame.u, bytesPerRow: frame.uvStride),
    UnsafeLentPlane(address: frame.v, bytesPerRow: frame.uvStride),
  ]
  let format = try VideoFormatDescription.make(.i420, size: PictureSize(width: frame.width, height: frame.height))
  input.push(try PixelBuffer(unsafeLending: planes, format, release: release))
}

/// Shows what glReadPixels has written with GL_RGBA.
func show(_ pixels: UnsafeRawPointer, width: Int, height: Int, _ input: StreamInput) throws {
  let top = UnsafeLentPlane(address: pixels + (height - 1) * width * 4, bytesPerRow: -width * 4)
  try input.push(copying: [top], format: .rgbx, size: PictureSize(width: width, height: height))
}

/// Shows a sample, for instance in the callback `new-sample` of an appsink. The sample is borrowed.
func show(_ sample: OpaquePointer, _ input: StreamInput) throws {
  let time = gst_sample_get_buffer(sample).map { MediaTime(clockTime: UInt64($0.pointee.pts)) } ?? .invalid
  input.push(try PixelBuffer(unsafeGstSample: sample), timing: SampleTiming(presentationTimeStamp: time))
}

/// Shows a buffer, which is borrowed, as the caps are.
func show(
  _ buffer: UnsafeMutablePointer<GstBuffer>, _ caps: UnsafeMutablePointer<GstCaps>, _ input: StreamInput
) throws {
  let sample = gst_sample_new(buffer, caps, nil, nil)
  defer { gst_sample_unref(sample) }
  if let sample { try show(sample, input) }
}

/// Adds a participant whose stream comes by RTP.
@MainActor func join(_ id: StreamID, _ description: String, _ session: PictureInPictureSession) throws {
  // For instance "udpsrc port=5004 caps=... ! rtpjitterbuffer ! rtpvp8depay ! vp8dec ! appsink".
  try session.startStream(id, from: .text(description))
}

/// Adds a participant of whom the engine has H.264, as a byte stream.
@MainActor func joinEncoded(_ id: StreamID, _ session: PictureInPictureSession) throws {
  try session.startStream(
    id,
    from: """
      appsrc name=source is-live=true format=time do-timestamp=true caps=video/x-h264,stream-format=byte-stream
      ! h264parse ! decodebin ! videoconvert ! appsink sync=false
      """)
}

/// Gives the decoder some bytes, on any thread.
func decode(_ bytes: [UInt8], _ id: StreamID, _ engine: VideoEngine) {
  engine.withUnsafeElement(named: "source", of: id) { source in
    let buffer = gst_buffer_new_memdup(bytes, gsize(bytes.count))
    _ = gst_app_src_push_buffer(UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstAppSrc.self), buffer)
  }
}

/// - Returns: whether PipSink can show such a sample.
func canShow(_ sample: OpaquePointer) -> Bool {
  do throws(PipSinkError) {
    return try PixelBuffer(unsafeGstSample: sample).formatDescription.isInSystemMemory
  } catch {
    print(error)  // error 1200: these caps are not raw video that PipSink can show: ... format=DMA_DRM ...
    return false
  }
}

/// Lets the buttons of the session's windows act on the engine.
@MainActor func connect(_ session: PictureInPictureSession, _ engine: CallEngine) {
  session.muteHandler = { [weak session] isMuted in
    engine.setMuted(isMuted)
    session?.noteMuted(isMuted)
  }
}

@MainActor func join(_ id: StreamID, _ sdk: CallSDK, _ session: PictureInPictureSession) throws {
  let input = try session.addInput(id)
  sdk.onFrame = { frame in
    try input.push(
      copying: [
        UnsafeLentPlane(address: frame.y, bytesPerRow: frame.yStride),
        UnsafeLentPlane(address: frame.u, bytesPerRow: frame.uvStride),
        UnsafeLentPlane(address: frame.v, bytesPerRow: frame.uvStride),
      ],
      format: .i420, size: PictureSize(width: frame.width, height: frame.height))
  }
  sdk.onLeave = { Task { @MainActor in try session.removeStream(id) } }
}
