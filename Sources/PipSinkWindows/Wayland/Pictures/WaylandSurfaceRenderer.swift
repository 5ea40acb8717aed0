import CWindows
import PipSink

/// A renderer that shows frames over an existing Wayland surface, for instance a toolkit's window. It uses the surface
/// owner's connection to the compositor, like GStreamer's video overlays.
///
/// Pictures are on surfaces of their own (wl_subsurface) above the owner's surface, in ``renderRectangle``, which the
/// owner has to set because Wayland does not tell the size of another one's surface. After setting it, the owner
/// commits the surface once, as a toolkit does when it draws. Frames are sent to the compositor from their layer's
/// thread without waiting.
///
/// The owner of the surface calls ``leaveWindow()`` before it destroys the surface or disconnects.
public final class WaylandSurfaceRenderer: ForeignRenderer {
  private struct State {
    var rectangle: PictureRect?
    var preferredScale: Double?
    /// The monitor on which the picture is.
    var output: WaylandReference<WLOutput>?
  }

  private let connection: WaylandForeignConnection
  private let tile: WaylandTile
  private let cover = CoverDecoration()
  private let state = Locked(State())

  /// Creates a renderer for a surface, and waits for the compositor.
  ///
  /// - Parameters:
  ///   - display: the owner's `wl_display`, which the owner reads. Both pointers must stay valid until
  ///     ``leaveWindow()`` has returned.
  ///   - surface: the owner's `wl_surface` on this display.
  ///   - renderer: who draws frames.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the compositor does not answer or has
  ///   no subsurfaces.
  public init(
    display: OpaquePointer, surface: OpaquePointer, renderer: WindowRenderer = .fromEnvironment
  ) throws(PipSinkError) {
    connection = try WaylandForeignConnection(display)
    guard let globals = WaylandTile.Globals(connection.globals, renderer) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor has gone"))
    }
    tile = WaylandTile(globals, connection.loop, decoration: cover, isForeign: true)
    tile.attach(
      to: WaylandReference(surface),
      outputsChanged: { [weak self] output, isOn in
        if isOn { self?.note { $0.output = output } }
      },
      scaleChanged: { [weak self] scale in self?.note { $0.preferredScale = scale } })
  }

  deinit { leaveWindow() }

  private func note(_ change: (inout State) -> Void) {
    state.withLock { change(&$0) }
    place()
  }

  /// The part of the surface in which pictures are shown, in the surface's coordinates. While it is nil, which it is at
  /// first, nothing is shown. It can be set on any thread.
  public var renderRectangle: PictureRect? {
    get { state.withLock { $0.rectangle } }
    set {
      state.withLock { $0.rectangle = newValue }
      place()
    }
  }

  private func place() {
    let now = state.withLock { $0 }
    let (rectangle, scale) = (now.rectangle, scale(now))
    guard let rectangle, rectangle.size.isValid else { return tile.set(nil, place: nil) }
    let pixels = rectangle.size.scaled(by: scale)
    cover.setScale(scale)
    tile.set(
      PictureRect(x: 0, y: 0, width: pixels.width, height: pixels.height),
      place: WaylandTile.Place(units: rectangle, pixels: pixels))
    if cover.text != nil { tile.redraw() }
  }

  private func scale(_ state: State) -> Double {
    let hasViewports = connection.globals.viewporter != nil
    if hasViewports, let scale = state.preferredScale { return scale }
    let outputs = connection.globals.outputs
    let own = outputs.first { $0.proxy?.reference == state.output } ?? outputs.first
    return own.map { hasViewports ? $0.scale : Double($0.wholeScale) } ?? 1
  }

  package var text: String? {
    get { cover.text }
    set {
      guard cover.text != newValue else { return }
      cover.text = newValue
      tile.redraw()
      tile.askForFrame()
    }
  }

  /// Renders the newest frame again, for instance because the owner's surface has changed.
  public func expose() { tile.askForFrame() }

  /// Stops using the surface and its connection. When this returns, both may be destroyed. From then on no frame is
  /// shown, as in a window that is not visible. It can be called on any thread except from one of the renderer's
  /// handlers.
  ///
  /// - Returns: true.
  @discardableResult
  public func leaveWindow() -> Bool {
    tile.leaveWindow()
    connection.leave()
    return true
  }

  /// Returns a copy of the picture that is shown, without its decoration, or nil when none is shown.
  package func image() -> BGRAImage? { tile.image() }

  /// The number of frames that have been converted for the surface.
  package var convertedFrameCount: UInt64 { tile.convertedFrameCount }

  // MARK: - VideoRenderer

  /// The size of ``renderRectangle`` in pixels of the monitor, or nil while that is nil.
  public var renderSize: PictureSize? { tile.renderSize }
  /// Whether the compositor shows the pictures. It is also true when the compositor has gone, so that the next frame
  /// reports that.
  public var isVisible: Bool { tile.isVisible }
  /// Sets the handler that is called, on any thread, when the newest frame has to be rendered again. The display layer
  /// sets it.
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { tile.setNeedsDisplayHandler(handler) }

  package func setScreenTimeHandler(_ handler: (@Sendable (ScreenTime) -> Void)?) { tile.setScreenTimeHandler(handler) }
  /// Releases the memory for pictures. The next frame allocates it again.
  public func rebuild() { tile.rebuild() }
  /// Removes the picture, so that ``renderRectangle`` is black.
  public func removeImage() { tile.removeImage() }

  /// Converts a frame to the size of ``renderRectangle`` and hands it to the compositor without waiting.
  ///
  /// - Parameters:
  ///   - sampleBuffer: the frame.
  ///   - gravity: how the frame is fitted into the rectangle.
  /// - Throws: ``PipSink/RenderingError`` when the compositor has gone or the frame cannot be converted.
  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    _ = try present(sampleBuffer, gravity: gravity)
  }

  package func present(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) -> FrameDrawer? {
    try tile.present(sampleBuffer, gravity: gravity)
  }
}
