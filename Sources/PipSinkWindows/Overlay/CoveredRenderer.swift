import PipSink

/// A surface in a window of somebody else's, in which a text can stand instead of the picture.
///
/// Windows of PipSink's own draw such texts over their pictures. Here the text is shown as if it were a frame, by
/// whatever shows frames on the surface.
package final class CoveredRenderer: VideoRenderer {
  private struct State {
    var text: String?
    var needsDisplay: (@Sendable () -> Void)?
  }

  private struct Drawing {
    /// What was drawn last, for which text and which size.
    var cover: (text: String, size: PictureSize, frame: SampleBuffer)?
    /// Whether the cover is what the surface shows.
    var isShown = false
  }

  private let base: any VideoRenderer
  private let scale: @Sendable (PictureSize) -> Double
  private let state = Locked(State())
  /// Of the presenting thread; the lock is there for a layer that follows another one.
  private let drawing = Locked(Drawing())
  private let mustRedraw = Locked(false)

  /// - Parameter scale: pixels for each unit of the text, on a surface of a size in pixels.
  package init(_ base: any VideoRenderer, scale: @escaping @Sendable (PictureSize) -> Double) {
    (self.base, self.scale) = (base, scale)
  }

  /// What stands instead of the picture; nil shows the picture.
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
      // A surface that cannot show the text is black, and the next frame finds out why.
      if let isShown = try? showCover(&drawing), isShown { return }
      drawing = Drawing()
      base.removeImage()
    }
  }

  package func rebuild() throws(RenderingError) { try base.rebuild() }
  package func updateSize() throws(RenderingError) { try base.updateSize() }

  // MARK: - The text

  /// - Returns: false where the picture is to be shown.
  private func showCover(_ drawing: inout Drawing) throws(RenderingError) -> Bool {
    guard let text else { return false }
    guard let size = base.renderSize, size.isValid else { return true }
    let mustRedraw = mustRedraw.withLock { mustRedraw in
      defer { mustRedraw = false }
      return mustRedraw
    }
    let isNew = drawing.cover?.text != text || drawing.cover?.size != size
    // Frames that come meanwhile change nothing.
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
