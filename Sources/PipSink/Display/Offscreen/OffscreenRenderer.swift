import Glibc

/// A renderer that draws into memory: it keeps the picture that is shown, as BGRA at a fixed size.
///
/// Frames are drawn on the layer's presenting thread. Any thread may read the picture.
public final class OffscreenRenderer: VideoRenderer {
  /// How frames are scaled to the renderer's size.
  package let scalingFilter: ScalingFilter
  private let state: Locked<Canvas>
  private let visibility = Locked(true)
  private let needsDisplay = NeedsDisplayHandler()

  /// Makes a renderer with a black picture.
  ///
  /// - Parameters:
  ///   - size: the picture's size in pixels.
  ///   - scalingFilter: how frames are scaled to that size.
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  public init(size: PictureSize, scalingFilter: ScalingFilter = .automatic) throws(PipSinkError) {
    guard size.isValid else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    self.scalingFilter = scalingFilter
    state = Locked(try Canvas(size: size, scalingFilter: scalingFilter))
  }

  /// The picture's size in pixels.
  public var size: PictureSize { state.withLock { $0.size } }
  /// The picture's size in pixels; never nil.
  public var renderSize: PictureSize? { size }

  /// Gives the picture another size. It is black then, and the layer is asked for its newest frame.
  ///
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  ///   Nothing has changed then.
  public func resize(to size: PictureSize) throws(PipSinkError) {
    guard size.isValid else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    let filter = scalingFilter
    let isNew = try state.withLock { canvas throws(PipSinkError) in
      guard canvas.size != size else { return false }
      canvas = try Canvas(size: size, scalingFilter: filter)
      return true
    }
    if isNew { needsDisplay() }
  }

  /// Whether anybody looks at the picture; true at first. While it is false, no frames are drawn.
  public var isVisible: Bool {
    get { visibility.withLock { $0 } }
    set {
      let wasVisible = visibility.exchange(newValue)
      if newValue, !wasVisible { needsDisplay() }
    }
  }

  /// Takes the handler that asks the layer for its newest frame.
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { needsDisplay.set(handler) }

  /// Draws a frame into memory.
  ///
  /// - Throws: ``RenderingError`` for a frame that cannot be read or converted.
  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    do throws(PipSinkError) {
      try state.withLock { canvas throws(PipSinkError) in
        try canvas.draw(sampleBuffer, gravity: gravity)
      }
    } catch {
      throw RenderingError(error)
    }
  }

  /// Replaces the memory by new memory of the same size. Where there is none, the picture stays.
  public func rebuild() throws(RenderingError) {
    let filter = scalingFilter
    do throws(PipSinkError) {
      try state.withLock { canvas throws(PipSinkError) in
        canvas = try Canvas(size: canvas.size, scalingFilter: filter)
      }
    } catch {
      throw RenderingError(error)
    }
  }

  /// Makes the picture black; ``image()`` returns nil then.
  public func removeImage() {
    state.withLock { $0.clear() }
  }

  /// Whether a frame is shown.
  var hasImage: Bool { state.withLock { $0.hasImage } }

  /// A copy of the picture; nil while no frame is shown.
  public func image() -> BGRAImage? {
    state.withLock { $0.hasImage ? BGRAImage(size: $0.size, bytes: $0.copy()) : nil }
  }
}

/// The pixels, and what is needed to draw on them. One renderer owns it and uses it behind its lock.
private struct Canvas: ~Copyable {
  let size: PictureSize
  private let pixels: UnsafeMutableBufferPointer<UInt8>
  private var canvas: FrameCanvas
  /// Where the last picture is. Around it everything is black.
  private var target: PictureRect?

  init(size: PictureSize, scalingFilter: ScalingFilter) throws(PipSinkError) {
    let byteCount = size.width * size.height * 4
    // Swift's allocation functions end the program where there is no memory.
    guard let memory = malloc(byteCount) else { throw .frame(.outOfMemory(byteCount: byteCount)) }
    self.size = size
    canvas = FrameCanvas(scalingFilter: scalingFilter)
    pixels = UnsafeMutableBufferPointer(
      start: memory.bindMemory(to: UInt8.self, capacity: byteCount), count: byteCount)
    fillBlack()
  }

  deinit {
    free(pixels.baseAddress)
  }

  var hasImage: Bool { target != nil }

  func copy() -> [UInt8] { Array(pixels) }

  mutating func draw(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(PipSinkError) {
    guard let base = pixels.baseAddress else { return }
    target = try canvas.draw(
      sampleBuffer, gravity: gravity, on: base, stride: size.width * 4, size: size, keeping: target)
  }

  mutating func clear() {
    target = nil
    fillBlack()
  }

  private func fillBlack() {
    guard let base = pixels.baseAddress else { return }
    FrameCanvas.clear(base, stride: size.width * 4, size: size)
  }
}
