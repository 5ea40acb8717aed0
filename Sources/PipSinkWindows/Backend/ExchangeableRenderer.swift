import PipSink

/// A renderer whose window can go away and come back while its display layer stays attached.
///
/// A window's tile is set here when the window is created and removed when it is lost. The layer does not notice.
final class ExchangeableRenderer: ScreenRenderer {
  private struct State {
    var tile: (any WindowTile)?
    var isShown = false
    /// The layer's handler, which each new tile gets.
    var handler: (@Sendable () -> Void)?
    /// The same for the times when pictures are on the screen.
    var screenTimeHandler: (@Sendable (ScreenTime) -> Void)?
  }

  private let state = Locked(State())

  /// The tile in which frames are shown, or nil while there is no window.
  var tile: (any WindowTile)? {
    get { state.withLock { $0.tile } }
    set {
      let (old, handler, screenTimeHandler) = state.withLock { state in
        defer { state.tile = newValue }
        return (state.tile, state.handler, state.screenTimeHandler)
      }
      guard old !== newValue else { return }
      old?.setNeedsDisplayHandler(nil)
      old?.setScreenTimeHandler(nil)
      newValue?.setNeedsDisplayHandler(handler)
      newValue?.setScreenTimeHandler(screenTimeHandler)
      handler?()
    }
  }

  /// Whether the window shows the tile.
  var isShown: Bool {
    get { state.withLock { $0.isShown } }
    set {
      let isNew = state.exchange(\.isShown, newValue) != newValue
      if isNew { askForPicture() }
    }
  }

  /// Asks the layer to render its newest frame again.
  func askForPicture() { state.withLock { $0.handler }?() }

  func present(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) -> FrameDrawer? {
    guard let tile else { return nil }
    do throws(RenderingError) {
      return try tile.present(sampleBuffer, gravity: gravity)
    } catch {
      // A window that is lost is created again later, so the layer stays attached.
      guard error.code == .rendererLost else { throw error }
      return nil
    }
  }

  func removeImage() { tile?.removeImage() }
  var renderSize: PictureSize? { tile?.renderSize }
  var isVisible: Bool { state.withLock { $0.isShown ? $0.tile : nil }?.isVisible ?? false }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    let tile = state.withLock { state in
      state.handler = handler
      return state.tile
    }
    tile?.setNeedsDisplayHandler(handler)
  }

  func setScreenTimeHandler(_ handler: (@Sendable (ScreenTime) -> Void)?) {
    let tile = state.withLock { state in
      state.screenTimeHandler = handler
      return state.tile
    }
    tile?.setScreenTimeHandler(handler)
  }

  func rebuild() throws(RenderingError) { try tile?.rebuild() }
  func updateSize() throws(RenderingError) { try tile?.updateSize() }
}
