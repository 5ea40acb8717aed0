import Glibc

/// A surface in memory: keeps the picture that is shown, as BGRA at a size of its own.
///
/// Pictures are made on the layer's presenting thread; any thread may look at them.
public final class OffscreenRenderer: VideoRenderer {
  public let scalingFilter: ScalingFilter
  private let state: Locked<Canvas>
  private let visibility = Locked(Visibility())

  private struct Visibility {
    var isVisible = true
    var needsDisplay: (@Sendable () -> Void)?
  }

  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  public init(size: PictureSize, scalingFilter: ScalingFilter = .automatic) throws(PipSinkError) {
    guard size.isValid else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    self.scalingFilter = scalingFilter
    state = Locked(try Canvas(size: size, scalingFilter: scalingFilter))
  }

  /// In pixels.
  public var size: PictureSize { state.withLock { $0.size } }
  public var renderSize: PictureSize? { size }

  /// Gives the surface another size; it is empty then, and asks its layer for the newest frame.
  ///
  /// - Throws: ``PipSinkError/Frame/invalidSize(width:height:)``, ``PipSinkError/Frame/outOfMemory(byteCount:)``, and then nothing has changed.
  public func resize(to size: PictureSize) throws(PipSinkError) {
    guard size.isValid else { throw .frame(.invalidSize(width: size.width, height: size.height)) }
    let filter = scalingFilter
    let isNew = try state.withLock { canvas throws(PipSinkError) in
      guard canvas.size != size else { return false }
      canvas = try Canvas(size: size, scalingFilter: filter)
      return true
    }
    if isNew { visibility.withLock { $0.needsDisplay }?() }
  }

  /// Whether anybody looks at the picture. While it is not so, none is made.
  public var isVisible: Bool {
    get { visibility.withLock { $0.isVisible } }
    set {
      let handler = visibility.withLock { visibility in
        defer { visibility.isVisible = newValue }
        return newValue && !visibility.isVisible ? visibility.needsDisplay : nil
      }
      handler?()
    }
  }

  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    visibility.withLock { $0.needsDisplay = handler }
  }

  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    do throws(PipSinkError) {
      try state.withLock { canvas throws(PipSinkError) in
        try canvas.draw(sampleBuffer, gravity: gravity)
      }
    } catch {
      throw RenderingError(error)
    }
  }

  /// Takes other memory, of the same size. Where there is none, the picture stays.
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

  public func removeImage() {
    state.withLock { $0.clear() }
  }

  /// Whether a picture is shown.
  public var hasImage: Bool { state.withLock { $0.hasImage } }

  /// A copy of the picture that is shown; nil when none is.
  public func image() -> BGRAImage? {
    state.withLock { $0.hasImage ? BGRAImage(size: $0.size, bytes: $0.copy()) : nil }
  }
}

/// The pixels and what is needed to draw on them. Owned by one renderer, used behind its lock.
private struct Canvas: ~Copyable {
  let size: PictureSize
  private let pixels: UnsafeMutableBufferPointer<UInt8>
  private var canvas: FrameCanvas
  /// Where the last picture lies; around it everything is black.
  private var target: PictureRect?

  init(size: PictureSize, scalingFilter: ScalingFilter) throws(PipSinkError) {
    let byteCount = size.width * size.height * 4
    // Swift's own allocation ends the program where there is no memory.
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
