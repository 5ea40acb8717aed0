import PipSink

/// Shows frames in a window that may go and come again, of which its layer hears nothing.
final class ExchangeableRenderer: VideoRenderer {
  private struct State {
    var tile: (any WindowTile)?
    var isShown = false
    var needsDisplay: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// The window's; nil while there is none.
  var tile: (any WindowTile)? {
    get { state.withLock { $0.tile } }
    set {
      let (old, handler) = state.withLock { state in
        defer { state.tile = newValue }
        return (state.tile, state.needsDisplay)
      }
      guard old !== newValue else { return }
      old?.setNeedsDisplayHandler(nil)
      newValue?.setNeedsDisplayHandler(handler)
      handler?()
    }
  }

  /// Whether the window shows it.
  var isShown: Bool {
    get { state.withLock { $0.isShown } }
    set {
      let handler = state.withLock { state -> (@Sendable () -> Void)? in
        defer { state.isShown = newValue }
        return state.isShown == newValue ? nil : state.needsDisplay
      }
      handler?()
    }
  }

  /// Has the layer show its newest picture once more.
  func askForPicture() { state.withLock { $0.needsDisplay }?() }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    guard let tile else { return }
    do throws(RenderingError) {
      try tile.render(sampleBuffer, gravity: gravity)
    } catch {
      // The window is asked for anew, and its layer stays with it.
      guard error.code == .surfaceLost else { throw error }
    }
  }

  func removeImage() { tile?.removeImage() }
  var renderSize: PictureSize? { tile?.renderSize }
  var isVisible: Bool { state.withLock { $0.isShown ? $0.tile : nil }?.isVisible ?? false }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    let tile = state.withLock { state in
      state.needsDisplay = handler
      return state.tile
    }
    tile?.setNeedsDisplayHandler(handler)
  }

  func rebuild() throws(RenderingError) { try tile?.rebuild() }
  func updateSize() throws(RenderingError) { try tile?.updateSize() }
}
