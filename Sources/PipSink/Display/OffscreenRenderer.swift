/// A surface in memory: keeps the picture that is shown, as BGRA at a size of its own.
///
/// Pictures are made on the layer's presenting thread; any thread may look at them.
public final class OffscreenRenderer: VideoRenderer {
  public let size: PictureSize
  private let state: Locked<Canvas>

  /// - Throws: ``PipSinkError/invalidSize(width:height:)``.
  public init(size: PictureSize) throws(PipSinkError) {
    guard size.isValid else { throw .invalidSize(width: size.width, height: size.height) }
    self.size = size
    state = Locked(Canvas(size: size))
  }

  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    do throws(PipSinkError) {
      try state.withLock { canvas throws(PipSinkError) in
        try canvas.draw(sampleBuffer.pixelBuffer, gravity: gravity)
      }
    } catch {
      throw RenderingError(error)
    }
  }

  public func removeImage() {
    state.withLock { $0.clear() }
  }

  /// Whether a picture is shown.
  public var hasImage: Bool { state.withLock { $0.hasImage } }

  /// A copy of the picture that is shown; nil when none is.
  public func image() -> BGRAImage? {
    state.withLock { $0.hasImage ? BGRAImage(size: size, bytes: $0.copy()) : nil }
  }
}

/// The pixels and what is needed to draw on them. Owned by one renderer, used behind its lock.
private struct Canvas: ~Copyable {
  private let size: PictureSize
  private let pixels: UnsafeMutableBufferPointer<UInt8>
  private var converter = PixelConverter()
  /// Where the last picture lies; around it everything is black.
  private var target: PictureRect?

  init(size: PictureSize) {
    self.size = size
    pixels = .allocate(capacity: size.width * size.height * 4)
    fillBlack()
  }

  deinit {
    pixels.deallocate()
  }

  var hasImage: Bool { target != nil }

  func copy() -> [UInt8] { Array(pixels) }

  mutating func draw(_ pixelBuffer: PixelBuffer, gravity: VideoGravity) throws(PipSinkError) {
    try pixelBuffer.withMappedFrame { frame throws(PipSinkError) in
      let placement = gravity.placement(
        of: frame.visible.size, displaySize: frame.formatDescription.displaySize(of: frame.visible.size), in: size)
      if placement.target != target { clear() }
      let stride = size.width * 4
      guard let base = pixels.baseAddress else { return }
      try converter.convert(
        frame, crop: placement.source,
        into: PixelConverter.Destination(
          data: base + placement.target.y * stride + placement.target.x * 4, stride: Int32(stride),
          size: placement.target.size))
      target = placement.target
    }
  }

  mutating func clear() {
    target = nil
    fillBlack()
  }

  private func fillBlack() {
    pixels.withMemoryRebound(to: UInt32.self) { $0.update(repeating: 0xFF00_0000) }
  }
}
