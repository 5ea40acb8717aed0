import PipSink

/// Shows frames in a window that may go and come again, of which its layer hears nothing.
final class ExchangeableRenderer: VideoRenderer {
  private struct State {
    var renderer: X11WindowRenderer?
    var isShown = false
    var needsDisplay: (@Sendable () -> Void)?
  }

  private let state = Locked(State())

  /// The window's; nil while there is none.
  var renderer: X11WindowRenderer? {
    get { state.withLock { $0.renderer } }
    set {
      let (old, handler) = state.withLock { state in
        defer { state.renderer = newValue }
        return (state.renderer, state.needsDisplay)
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

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    guard let renderer else { return }
    do throws(RenderingError) {
      try renderer.render(sampleBuffer, gravity: gravity)
    } catch {
      // The window is asked for anew, and its layer stays with it.
      guard error.code == .surfaceLost else { throw error }
    }
  }

  func removeImage() { renderer?.removeImage() }
  var renderSize: PictureSize? { renderer?.renderSize }
  var isVisible: Bool { state.withLock { $0.isShown ? $0.renderer : nil }?.isVisible ?? false }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    let renderer = state.withLock { state in
      state.needsDisplay = handler
      return state.renderer
    }
    renderer?.setNeedsDisplayHandler(handler)
  }

  func rebuild() { renderer?.rebuild() }
  func updateSize() throws(RenderingError) { try renderer?.updateSize() }
}
