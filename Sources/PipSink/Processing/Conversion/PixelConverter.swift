import CGStreamer

/// Converts frames to another format, size, aspect ratio or orientation, in memory from a pool.
///
/// Pictures that become smaller are scaled before their colours are converted, and there is no intermediate frame if
/// one pass is enough. A frame that needs no conversion is returned itself. Any thread may use it; conversions run one
/// after the other.
public final class PixelConverter: Sendable {
  /// The wanted properties of the converted frame.
  public struct Output: Hashable, Sendable {
    /// The pixel format; nil to keep that of the frame.
    package var pixelFormat: PixelFormat?
    /// The size in pixels after the rotation, with square pixels; nil to keep the size and the pixel aspect ratio.
    package var size: PictureSize?
    /// How the picture is fitted to ``size``. Bars are black.
    package var gravity: VideoGravity
    /// How the picture is rotated and mirrored.
    package var orientation: VideoOrientation
    /// How the picture is scaled.
    package var scalingFilter: ScalingFilter

    /// Makes an output. By default everything stays as it is.
    public init(
      pixelFormat: PixelFormat? = nil, size: PictureSize? = nil, gravity: VideoGravity = .resize,
      orientation: VideoOrientation = .upright, scalingFilter: ScalingFilter = .automatic
    ) {
      self.pixelFormat = pixelFormat
      self.size = size
      self.gravity = gravity
      self.orientation = orientation
      self.scalingFilter = scalingFilter
    }
  }

  /// The pool that the memory of converted frames comes from.
  package let pool: PixelBufferPool
  private let state: Locked<State>

  fileprivate struct State: ~Copyable {
    var converter: PictureConverter
    /// The input of the last conversion and the resulting format, which is usually the same for the next frame.
    var source: VideoFormatDescription?
    var visible: PictureSize?
    var output: Output?
    var target: VideoFormatDescription?
  }

  /// Makes a converter.
  ///
  /// - Parameters:
  ///   - pool: provides the memory of converted frames; a new pool by default.
  ///   - usesHelperThreads: whether several threads work on large frames, from about 1080p on.
  public init(pool: PixelBufferPool = PixelBufferPool(), usesHelperThreads: Bool = true) {
    self.pool = pool
    state = Locked(State(converter: PictureConverter(bands: usesHelperThreads ? .shared : .none)))
  }

  /// Converts a frame, on the caller's thread.
  ///
  /// YUV keeps its colorimetry when it is converted to another YUV format. YUV made from RGB has the colorimetry
  /// BT.601.
  ///
  /// - Parameters:
  ///   - pixelBuffer: the frame.
  ///   - output: the wanted properties.
  /// - Returns: the converted frame, or `pixelBuffer` itself if it needs no conversion.
  /// - Throws: ``PipSinkError/Frame/unsupportedPixelFormat(_:operation:)`` for a conversion from another format to a
  ///   ten-bit format, ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/unreadable(reason:)``,
  ///   and the errors of ``PixelBufferPool/makePixelBuffer(_:)``.
  public func convert(_ pixelBuffer: PixelBuffer, to output: Output) throws(PipSinkError) -> PixelBuffer {
    try state.withLock { state throws(PipSinkError) in
      try pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
        let format = try state.target(of: frame, output)
        if format === pixelBuffer.formatDescription, output.orientation == .upright { return pixelBuffer }
        return try draw(frame, output, as: format, with: &state.converter)
      }
    }
  }

  /// Copies a frame into memory of the pool, so that the copy can be changed, for instance in a format that is easy to
  /// draw on, such as ``PixelFormat/bgra``.
  ///
  /// - Parameters:
  ///   - pixelBuffer: the frame.
  ///   - pixelFormat: the format of the copy.
  /// - Throws: the errors of ``convert(_:to:)-(PixelBuffer,_)``.
  public func mutableCopy(
    of pixelBuffer: PixelBuffer, as pixelFormat: PixelFormat
  ) throws(PipSinkError) -> MutablePixelBuffer {
    let output = Output(pixelFormat: pixelFormat)
    return try state.withLock { state throws(PipSinkError) in
      try pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
        try makePicture(of: frame, output, as: try state.target(of: frame, output), with: &state.converter)
      }
    }
  }

  /// Converts a frame to a format that the caller describes.
  func redraw(_ pixelBuffer: PixelBuffer, as format: VideoFormatDescription) throws(PipSinkError) -> PixelBuffer {
    try state.withLock { state throws(PipSinkError) in
      try pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
        try draw(frame, Output(), as: format, with: &state.converter)
      }
    }
  }

  private func draw(
    _ frame: MappedFrame, _ output: Output, as format: VideoFormatDescription, with converter: inout PictureConverter
  ) throws(PipSinkError) -> PixelBuffer {
    try makePicture(of: frame, output, as: format, with: &converter).finish()
  }

  private func makePicture(
    of frame: MappedFrame, _ output: Output, as format: VideoFormatDescription,
    with converter: inout PictureConverter
  ) throws(PipSinkError) -> MutablePixelBuffer {
    var result = try pool.makePixelBuffer(format)
    try result.withMappedFrame { target throws(PipSinkError) in
      try converter.draw(frame, output, into: Picture(target))
    }
    return result
  }

  /// Converts a frame and keeps its times, attachments and number. The pixels are rotated by the frame's own
  /// orientation and then by that of `output`, so that the result is upright.
  ///
  /// - Throws: the errors of ``convert(_:to:)-(PixelBuffer,_)``.
  public func convert(_ sampleBuffer: SampleBuffer, to output: Output) throws(PipSinkError) -> SampleBuffer {
    var output = output
    output.orientation = sampleBuffer.orientation.followed(by: output.orientation)
    return sampleBuffer.replacing(try convert(sampleBuffer.pixelBuffer, to: output), orientation: .upright)
  }
}

extension PixelConverter.State {
  /// The format of the converted frame.
  fileprivate mutating func target(
    of frame: MappedFrame, _ wanted: PixelConverter.Output
  ) throws(PipSinkError) -> VideoFormatDescription {
    if let target, source === frame.formatDescription, visible == frame.visible.size, output == wanted {
      return target
    }
    let new = try Self.describe(frame, wanted)
    (source, visible, output, target) = (frame.formatDescription, frame.visible.size, wanted, new)
    return new
  }

  private static func describe(
    _ frame: MappedFrame, _ wanted: PixelConverter.Output
  ) throws(PipSinkError) -> VideoFormatDescription {
    let source = frame.formatDescription
    let oriented = wanted.orientation.applied(to: frame.visible.size)
    let size = wanted.size ?? oriented
    guard size.isValid else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    let isTheSame = size == source.size && (wanted.pixelFormat ?? source.pixelFormat) == source.pixelFormat
    let ratio = source.pixelAspectRatio
    if isTheSame, wanted.orientation == .upright, wanted.size == nil || ratio == (1, 1) { return source }
    let orientedRatio = wanted.orientation.swapsSides ? (ratio.denominator, ratio.numerator) : ratio
    return try source.with(
      pixelFormat: wanted.pixelFormat ?? source.pixelFormat, size: size,
      pixelAspectRatio: wanted.size == nil ? orientedRatio : (1, 1),
      isInterlaced: source.isInterlaced && !wanted.orientation.swapsSides && size.height == frame.visible.height)
  }
}

extension PictureConverter {
  /// Draws a frame on a picture as `output` says. What the frame does not fill becomes black.
  mutating func draw(
    _ frame: MappedFrame, _ output: PixelConverter.Output, into target: Picture
  ) throws(PipSinkError) {
    var placement = output.gravity.placement(of: frame, orientation: output.orientation, in: target.size)
    placement.target = target.alignedToChroma(placement.target)
    if placement.target.size != target.size { target.fillBlack() }
    try convert(
      frame, crop: placement.source, into: target.cropped(to: placement.target), orientation: output.orientation,
      filter: output.scalingFilter)
  }
}

extension Picture {
  /// The smallest rectangle around `rect` whose edges are between chroma samples.
  fileprivate func alignedToChroma(_ rect: PictureRect) -> PictureRect {
    let shift = format.chromaShift
    let x = rect.x.roundedDown(toPower: shift.x)
    let y = rect.y.roundedDown(toPower: shift.y)
    let right = min(size.width, (rect.x + rect.width).roundedUp(toPower: shift.x))
    let bottom = min(size.height, (rect.y + rect.height).roundedUp(toPower: shift.y))
    return PictureRect(x: x, y: y, width: right - x, height: bottom - y)
  }

  /// Makes all pixels black and opaque.
  func fillBlack() {
    for index in 0..<planeCount {
      let plane = planes[index]
      let byteCount = format.rowByteCount(index, width: Int(plane.width))
      let pattern = black(plane: index)
      let first = plane.row(0)
      for byte in 0..<byteCount { first[byte] = pattern[byte % 4] }
      for row in 1..<max(1, plane.height) { plane.row(row).update(from: first, count: byteCount) }
    }
  }

  /// Four bytes of black, which are one, two or four samples of a plane.
  private func black(plane index: Int) -> InlineArray<4, UInt8> {
    let luma: UInt8 = colorimetry.isFullRange ? 0 : 16
    switch format {
    case .yuy2: return [luma, 128, luma, 128]
    case .uyvy: return [128, luma, 128, luma]
    // In ten bits, black is 64 and 512, at the top of 16 bits or at the bottom.
    case .p010: return index == 0 ? [0, luma, 0, luma] : [0, 128, 0, 128]
    case .y210: return [0, luma, 0, 128]
    case .i420Ten, .i422Ten: return index == 0 ? [luma << 2, 0, luma << 2, 0] : [0, 2, 0, 2]
    case .argb, .xrgb: return [255, 0, 0, 0]
    case .bgra, .bgrx, .rgba, .rgbx: return [0, 0, 0, 255]
    case .rgb, .bgr: return [0, 0, 0, 0]
    default: return InlineArray(repeating: index == 0 ? luma : 128)
    }
  }
}
