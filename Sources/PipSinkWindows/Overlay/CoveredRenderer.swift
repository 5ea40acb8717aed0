import PipSink

/// A renderer that can show a text instead of the picture, for a window that belongs to another toolkit or program.
///
/// PipSink's own windows draw such texts over their pictures. Here the text is drawn into a frame, which the base
/// renderer shows like any other.
package final class CoveredRenderer: VideoRenderer {
  private struct State {
    var text: String?
    var needsDisplay: (@Sendable () -> Void)?
  }

  private struct Drawing {
    /// The frame with the text that was drawn last, and the text and the size that it was drawn for.
    var cover: (text: String, size: PictureSize, frame: SampleBuffer)?
    /// Whether the base renderer shows the cover now.
    var isShown = false
  }

  private let base: any VideoRenderer
  private let scale: @Sendable (PictureSize) -> Double
  private let state = Locked(State())
  /// Used by the presenting thread. The lock is needed for the moment when one layer replaces another.
  private let drawing = Locked(Drawing())
  private let mustRedraw = Locked(false)

  /// - Parameters:
  ///   - base: the renderer that shows the frames.
  ///   - scale: returns the number of pixels in a unit of the text, for a destination of the given size in pixels.
  package init(_ base: any VideoRenderer, scale: @escaping @Sendable (PictureSize) -> Double) {
    (self.base, self.scale) = (base, scale)
  }

  /// The text that is shown instead of the picture; nil shows the picture.
  package var text: String? {
    get { state.withLock { $0.text } }
    set {
      let handler = state.withLock { state -> (@Sendable () -> Void)? in
        guard state.text != newValue else { return nil }
        state.text = newValue
        return state.needsDisplay
      }
      redraw(handler)
    }
  }

  private func redraw(_ handler: (@Sendable () -> Void)?) {
    mustRedraw.withLock { $0 = true }
    handler?()
  }

  // MARK: - VideoRenderer

  package var renderSize: PictureSize? { base.renderSize }
  package var isVisible: Bool { base.isVisible }
  package var drawsWithoutPicture: Bool { text != nil }

  package func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    state.withLock { $0.needsDisplay = handler }
    guard let handler else { return base.setNeedsDisplayHandler(nil) }
    base.setNeedsDisplayHandler { [weak self] in self?.redraw(handler) }
  }

  package func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    try drawing.withLock { drawing throws(RenderingError) in
      guard try !showCover(&drawing) else { return }
      drawing = Drawing()
      try base.render(sampleBuffer, gravity: gravity)
    }
  }

  package func removeImage() {
    drawing.withLock { drawing in
      // A renderer that cannot show the text turns black. The next frame reports the error.
      if let isShown = try? showCover(&drawing), isShown { return }
      drawing = Drawing()
      base.removeImage()
    }
  }

  package func rebuild() throws(RenderingError) { try base.rebuild() }
  package func updateSize() throws(RenderingError) { try base.updateSize() }

  // MARK: - The text

  /// Shows the text if there is one.
  ///
  /// - Returns: false when the picture should be shown instead.
  private func showCover(_ drawing: inout Drawing) throws(RenderingError) -> Bool {
    guard let text else { return false }
    guard let size = base.renderSize, size.isValid else { return true }
    let mustRedraw = mustRedraw.withLock { mustRedraw in
      defer { mustRedraw = false }
      return mustRedraw
    }
    let isNew = drawing.cover?.text != text || drawing.cover?.size != size
    // Frames that arrive while the text is shown change nothing.
    guard isNew || mustRedraw || !drawing.isShown else { return true }
    do throws(PipSinkError) {
      if isNew { drawing.cover = (text, size, try Self.frame(text, size, scale: scale(size))) }
    } catch {
      throw RenderingError(error)
    }
    guard let frame = drawing.cover?.frame else { return true }
    try base.render(frame, gravity: .resize)
    drawing.isShown = true
    return true
  }

  private static func frame(_ text: String, _ size: PictureSize, scale: Double) throws(PipSinkError) -> SampleBuffer {
    let format = try VideoFormatDescription.make(.bgrx, size: size)
    let stride = size.width * 4
    let pixels = UnsafeMutablePointer<UInt8>.allocate(capacity: stride * size.height)
    let address = UInt(bitPattern: pixels)
    PlaceholderPicture.draw(text, on: pixels, size: size, scale: scale)
    let plane = UnsafeLentPlane(address: pixels, bytesPerRow: stride)
    return SampleBuffer(
      pixelBuffer: try PixelBuffer(unsafeLending: [plane], format) {
        UnsafeMutablePointer<UInt8>(bitPattern: address)?.deallocate()
      })
  }
}
