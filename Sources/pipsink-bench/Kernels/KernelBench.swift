import CGStreamer
import PipSink
import PipSinkCommandLine

/// Measures one operation on pixels with PipSink and with GstVideoConverter.
final class KernelBench {
  private let operation: KernelOperation
  let frames: BenchFrames
  private let single = PixelConverter(usesHelperThreads: false)
  private let helped = PixelConverter(usesHelperThreads: true)
  private let grayscale = GrayscaleProcessor()
  private let pushed: NewestFrames
  private let input: StreamInput
  private var count: Int { frames.sources.count }

  init(_ operation: KernelOperation, frames: BenchFrames) {
    self.operation = operation
    self.frames = frames
    pushed = NewestFrames(count: frames.sources.count)
    input = StreamInput(streamID: "a", deliveringTo: pushed)
  }

  /// - Returns: PipSink's work on one frame, whose number it gets.
  func pipSink(helped usesHelp: Bool) -> (Int) throws -> Void {
    if operation.kind == .push { return push }
    let converter = usesHelp ? helped : single
    // As many results stay alive as there are sources, so that the pool's memory is no more in the cache than the
    // sources' memory.
    var results: [SampleBuffer?] = Array(repeating: nil, count: count)
    return { index in
      let source = self.frames.sources[index % self.count]
      results[index % self.count] =
        self.operation.kind == .grayscale
        ? try self.grayscale.process(source) : try converter.convert(source, to: self.operation.output)
    }
  }

  /// Pushes the planes of a frame as an app does that has them for the time of a call.
  private func push(_ index: Int) throws {
    let format = frames.sources[0].formatDescription
    try frames.sources[index % self.count].pixelBuffer.withUnsafeGstSample { sample in
      var (info, frame) = (GstVideoInfo(), GstVideoFrame())
      gst_video_info_from_caps(&info, gst_sample_get_caps(sample))
      guard gst_video_frame_map(&frame, &info, gst_sample_get_buffer(sample), GST_MAP_READ) != 0 else { return }
      defer { gst_video_frame_unmap(&frame) }
      let (data, strides) = (frame.data, frame.info.stride)
      let planes = [(data.0, strides.0), (data.1, strides.1), (data.2, strides.2)]
        .prefix(Int(frame.info.finfo.pointee.n_planes))
        .map { UnsafeLentPlane(address: $0.0.unsafelyUnwrapped, bytesPerRow: Int($0.1)) }
      try input.push(copying: planes, format: format.pixelFormat, size: format.size)
    }
  }

  /// - Returns: the work of GstVideoConverter on one frame, whose number it gets. It writes to memory that was allocated
  ///   before.
  func gstVideoConverter() throws -> (Int) -> Void {
    let reference = try Reference(operation, from: frames.sources[0].formatDescription, count: count)
    return { index in
      let number = index % self.count
      self.frames.sources[number].pixelBuffer.withUnsafeGstSample { sample in
        reference.convert(gst_sample_get_buffer(sample), to: number)
      }
    }
  }
}

/// A GstVideoConverter with its target buffers.
private final class Reference {
  private var (inInfo, outInfo) = (GstVideoInfo(), GstVideoInfo())
  private let converter: OpaquePointer
  private let buffers: [UnsafeMutablePointer<GstBuffer>?]

  init(_ operation: KernelOperation, from format: VideoFormatDescription, count: Int) throws {
    let target = operation.output.size ?? format.size
    let targetFormat = (operation.output.pixelFormat ?? format.pixelFormat).gstFormat
    gst_video_info_set_format(
      &inInfo, format.pixelFormat.gstFormat, guint(format.size.width), guint(format.size.height))
    gst_video_info_set_format(&outInfo, targetFormat, guint(target.width), guint(target.height))
    var options: UnsafeMutablePointer<GstStructure>?
    if operation.colorimetry != nil {
      // It converts the light and the primaries, too, but has no mapping of tones: what is brighter than white is lost.
      gst_video_colorimetry_from_string(&inInfo.colorimetry, operation.colorimetry)
      options = gst_structure_from_string(
        "options,GstVideoConverter.gamma-mode=(GstVideoGammaMode)remap,"
          + "GstVideoConverter.primaries-mode=(GstVideoPrimariesMode)fast", nil)
    }
    guard let converter = gst_video_converter_new(&inInfo, &outInfo, options) else {
      throw CommandError(.failed, "GstVideoConverter does not do \"\(operation.name)\"")
    }
    self.converter = converter
    let byteCount = outInfo.size
    buffers = (0..<count).map { _ in gst_buffer_new_allocate(nil, byteCount, nil) }
  }

  deinit {
    for buffer in buffers { gst_buffer_unref(buffer) }
    gst_video_converter_free(converter)
  }

  func convert(_ buffer: UnsafeMutablePointer<GstBuffer>?, to number: Int) {
    var (from, to) = (GstVideoFrame(), GstVideoFrame())
    guard gst_video_frame_map(&from, &inInfo, buffer, GST_MAP_READ) != 0 else { return }
    defer { gst_video_frame_unmap(&from) }
    guard gst_video_frame_map(&to, &outInfo, buffers[number], GST_MAP_WRITE) != 0 else { return }
    gst_video_converter_frame(converter, &from, &to)
    gst_video_frame_unmap(&to)
  }
}

/// Keeps as many frames alive as there are sources, so that the pool's memory is no more in the cache than theirs.
private final class NewestFrames: SampleBufferConsumer {
  private let sampleBuffers = Locked<[SampleBuffer]>([])
  private let count: Int

  init(count: Int) {
    self.count = count
  }

  func consume(_ sampleBuffer: SampleBuffer) {
    sampleBuffers.withLock { sampleBuffers in
      let index = Int(sampleBuffer.sequenceNumber - 1) % count
      if index < sampleBuffers.count {
        sampleBuffers[index] = sampleBuffer
      } else {
        sampleBuffers.append(sampleBuffer)
      }
    }
  }
}
