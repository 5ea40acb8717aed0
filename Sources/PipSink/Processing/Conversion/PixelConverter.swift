import CGStreamer

/// Makes frames of another format, size, shape or orientation, in memory from a pool.
///
/// Sizes come before colours where a picture shrinks, and no intermediate frame is made where one pass does. A frame
/// that is as it is wanted already is handed back itself. May be used from every thread; one conversion runs at a time.
public final class PixelConverter: Sendable {
  /// What is wanted. What is not said stays as the frame has it.
  public struct Output: Hashable, Sendable {
    public var pixelFormat: PixelFormat?
    /// In pixels, after the picture was turned. The frame's pixels are square then.
    public var size: PictureSize?
    /// How the picture is fitted to ``size``. Bars are black.
    public var gravity: VideoGravity
    /// How it is turned.
    public var orientation: VideoOrientation
    public var scalingFilter: ScalingFilter

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

  public let pool: PixelBufferPool
  private let state: Locked<State>

  fileprivate struct State: ~Copyable {
    var converter: PictureConverter
    /// What the last frame and output led to; the same for the next one as a rule.
    var source: VideoFormatDescription?
    var visible: PictureSize?
    var output: Output?
    var target: VideoFormatDescription?
  }

  /// - Parameters:
  ///   - pool: where the frames' memory comes from.
  ///   - usesHelperThreads: whether large frames (from about 1080p on) are worked on by several threads.
  public init(pool: PixelBufferPool = PixelBufferPool(), usesHelperThreads: Bool = true) {
    self.pool = pool
    state = Locked(State(converter: PictureConverter(bands: usesHelperThreads ? .shared : .none)))
  }

  /// The frame as `output` wants it.
  ///
  /// YUV stays in its colorimetry when it becomes another YUV format; made of RGB it is BT.601.
  ///
  /// - Throws: ``PipSinkError/Frame/unsupportedPixelFormat(_:operation:)`` for a ten-bit format made of another one,
  ///   ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/unreadable(reason:)``, and the pool's
  ///   errors.
  public func convert(_ pixelBuffer: PixelBuffer, to output: Output) throws(PipSinkError) -> PixelBuffer {
    try state.withLock { state throws(PipSinkError) in
      try pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
        let format = try state.target(of: frame, output)
        if format === pixelBuffer.formatDescription, output.orientation == .upright { return pixelBuffer }
        return try draw(frame, output, as: format, with: &state.converter)
      }
    }
  }

  /// A copy of a frame that may be written to: in a format that is easy to draw on, for instance, such as
  /// ``PixelFormat/bgra``.
  ///
  /// - Throws: as ``convert(_:to:)-(PixelBuffer,_)``.
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

  /// The picture of `pixelBuffer` in another format, described as the caller knows it to be.
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

  /// The same with a sample's times and attachments kept. Its own orientation is carried out, before the output's.
  ///
  /// - Throws: as ``convert(_:to:)-(PixelBuffer,_)``.
  public func convert(_ sampleBuffer: SampleBuffer, to output: Output) throws(PipSinkError) -> SampleBuffer {
    var output = output
    output.orientation = sampleBuffer.orientation.followed(by: output.orientation)
    return sampleBuffer.replacing(try convert(sampleBuffer.pixelBuffer, to: output), orientation: .upright)
  }
}

extension PixelConverter.State {
  /// The format of what is made of `frame`.
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
    let turned = wanted.orientation.applied(to: frame.visible.size)
    let size = wanted.size ?? turned
    guard size.isValid else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    let isTheSame = size == source.size && (wanted.pixelFormat ?? source.pixelFormat) == source.pixelFormat
    let ratio = source.pixelAspectRatio
    if isTheSame, wanted.orientation == .upright, wanted.size == nil || ratio == (1, 1) { return source }
    let turnedRatio = wanted.orientation.swapsSides ? (ratio.denominator, ratio.numerator) : ratio
    return try source.with(
      pixelFormat: wanted.pixelFormat ?? source.pixelFormat, size: size,
      pixelAspectRatio: wanted.size == nil ? turnedRatio : (1, 1),
      isInterlaced: source.isInterlaced && !wanted.orientation.swapsSides && size.height == frame.visible.height)
  }
}

extension PictureConverter {
  /// Draws a frame on a picture as `output` says, with black around it where it does not fill the picture.
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
  /// The smallest rectangle around `rect` whose edges lie between chroma samples.
  fileprivate func alignedToChroma(_ rect: PictureRect) -> PictureRect {
    let shift = format.chromaShift
    let x = rect.x.roundedDown(toPower: shift.x)
    let y = rect.y.roundedDown(toPower: shift.y)
    let right = min(size.width, (rect.x + rect.width).roundedUp(toPower: shift.x))
    let bottom = min(size.height, (rect.y + rect.height).roundedUp(toPower: shift.y))
    return PictureRect(x: x, y: y, width: right - x, height: bottom - y)
  }

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

  /// Four bytes of black: one, two or four samples.
  private func black(plane index: Int) -> InlineArray<4, UInt8> {
    let luma: UInt8 = colorimetry.isFullRange ? 0 : 16
    switch format {
    case .yuy2: return [luma, 128, luma, 128]
    case .uyvy: return [128, luma, 128, luma]
    // Ten bits of sixteen: 64 and 512, at the top in P010 and at the bottom in I420_10LE.
    case .p010: return index == 0 ? [0, luma, 0, luma] : [0, 128, 0, 128]
    case .i420Ten: return index == 0 ? [luma << 2, 0, luma << 2, 0] : [0, 2, 0, 2]
    case .argb, .xrgb: return [255, 0, 0, 0]
    case .bgra, .bgrx, .rgba, .rgbx: return [0, 0, 0, 255]
    case .rgb, .bgr: return [0, 0, 0, 0]
    default: return InlineArray(repeating: index == 0 ? luma : 128)
    }
  }
}
