import PipSink

/// A renderer that shows frames in an existing X11 window, which may belong to another toolkit or program.
///
/// Pictures are in a child window, which appears with the first of them and takes no input: the pointer and keys stay
/// with the window. The renderer follows the window's size and asks its layer for the newest frame when the window is
/// uncovered. When the window has been destroyed, every frame is refused with
/// ``PipSink/RenderingError/Code-swift.enum/rendererLost``, and the display layer detaches itself. Pictures are sent to
/// the server on the layer's thread.
///
/// The owner of the window calls ``leaveWindow()`` before it takes the window back.
public final class X11WindowRenderer: ForeignRenderer {
  private struct State {
    /// The window's size, in pixels.
    var windowSize: PictureSize
    var rectangle: PictureRect?

    /// The part of the window that pictures fill, or nil while that is empty.
    var area: PictureRect? {
      let area = rectangle ?? PictureRect(x: 0, y: 0, width: windowSize.width, height: windowSize.height)
      return area.size.isValid ? area : nil
    }
  }

  /// The window's XID.
  public let windowID: UInt
  private let window: X11ForeignWindow
  private let tile: X11Tile
  private let cover = CoverDecoration()
  private let state: Locked<State>

  /// Creates a renderer for a window. This connects to the window's server and waits for it.
  ///
  /// - Parameters:
  ///   - windowID: the XID of an existing window.
  ///   - display: the server, as in `DISPLAY`; nil for the one that the environment names.
  ///   - renderer: who draws frames.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server cannot be reached, when it
  ///   has no such window, or when the window has not 24, 30 or 32 bits per pixel.
  public init(
    windowID: UInt, display: String? = nil, renderer: WindowRenderer = .fromEnvironment
  ) throws(PipSinkError) {
    self.windowID = windowID
    window = try X11ForeignWindow(windowID: windowID, display: display)
    state = Locked(State(windowSize: try window.look()))
    tile = try window.makeTile(cover, renderer, isRevealed: false)
    try window.watch { [weak self] in self?.note($0) }
  }

  private func note(_ change: X11ForeignWindow.Change) {
    switch change {
    case .resized(let size):
      state.withLock { $0.windowSize = size }
      place()
    case .mapped: break
    case .lost: tile.noteLost()
    }
  }

  private func place() {
    // Of two changes at the same time, the newer one counts.
    state.withLock { tile.rectangle = $0.area }
    if cover.text != nil { tile.redraw() }
  }

  /// The part of the window in which pictures are shown, in pixels; nil for the whole window. A picture that is already
  /// shown follows at once. It can be set on any thread.
  public var renderRectangle: PictureRect? {
    get { state.withLock { $0.rectangle } }
    set {
      state.withLock { $0.rectangle = newValue }
      place()
    }
  }

  package var text: String? {
    get { cover.text }
    set {
      guard cover.text != newValue else { return }
      cover.text = newValue
      if newValue != nil { tile.reveal() }
      tile.redraw()
      tile.askForFrame()
    }
  }

  /// Stops using the window. When this returns, the child window with the pictures has gone, no request is on its way to
  /// the window, and it may be destroyed. From then on no frame is shown, as in a window that is not visible. It can be
  /// called on any thread.
  ///
  /// - Returns: false when the display server has not answered in time. Requests that were made before may then still
  ///   reach the window.
  @discardableResult
  public func leaveWindow() -> Bool {
    tile.destroy()
    return window.synchronize()
  }

  /// The number of frames that have been converted for the window.
  package var convertedFrameCount: UInt64 { tile.convertedFrameCount }

  /// Returns a copy of the picture that is shown, or nil when none is.
  package func image() -> BGRAImage? { tile.image() }

  // MARK: - VideoRenderer

  /// The size of the part of the window in which pictures are shown, in pixels, or nil while the window has no size.
  public var renderSize: PictureSize? { tile.renderSize }

  /// Whether the window is shown and not covered completely. It is also true when the window is lost, so that the next
  /// frame reports that.
  public var isVisible: Bool { tile.isVisible }

  /// Sets the handler that is called, on any thread, when the newest frame has to be rendered again. The display layer
  /// sets it.
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { tile.setNeedsDisplayHandler(handler) }

  package func setScreenTimeHandler(_ handler: (@Sendable (ScreenTime) -> Void)?) { tile.setScreenTimeHandler(handler) }

  /// Converts a frame to the window's size and sends it to the server without waiting for the answer.
  ///
  /// - Parameters:
  ///   - sampleBuffer: the frame.
  ///   - gravity: how the frame is fitted into the window.
  /// - Throws: ``PipSink/RenderingError`` when the window is lost, when the frame cannot be converted, or when the
  ///   server has refused the last picture.
  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    _ = try present(sampleBuffer, gravity: gravity)
  }

  package func present(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) -> FrameDrawer? {
    tile.reveal()
    return try tile.present(sampleBuffer, gravity: gravity)
  }

  /// Removes the picture, so that its part of the window is black.
  public func removeImage() { tile.removeImage() }

  /// Releases the memory for pictures. The next frame allocates it again.
  public func rebuild() { tile.rebuild() }

  /// Asks the server for the window's size, and waits for the answer.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the window is lost.
  public func updateSize() throws(RenderingError) {
    do throws(PipSinkError) {
      try window.report()
    } catch {
      throw window.loss
    }
  }
}
