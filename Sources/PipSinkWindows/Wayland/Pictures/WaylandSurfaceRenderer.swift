import CWindows
import PipSink

/// Shows frames in a Wayland surface that somebody else has made, on that one's connection to the compositor: any
/// toolkit's window, as GStreamer's video overlays have it.
///
/// Pictures lie over what the surface shows, on surfaces of their own (wl_subsurface), in ``renderRectangle``: no
/// program is told how large somebody else's surface is. Its owner commits it once after that has been set, as a
/// toolkit does when it draws. Frames go to the compositor from their layer's thread and wait for nobody.
///
/// Who owns the surface calls ``leaveWindow()`` before the surface or the connection goes away.
public final class WaylandSurfaceRenderer: VideoRenderer {
  private struct State {
    var rectangle: PictureRect?
    var preferredScale: Double?
    /// The monitor that the picture is on, by the address of its wl_output.
    var output: UInt?
  }

  private let connection: WaylandForeignConnection
  private let tile: WaylandTile
  private let state = Locked(State())

  /// Waits for the compositor.
  ///
  /// - Parameters:
  ///   - display: a wl_display, which somebody reads.
  ///   - surface: a wl_surface of it.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public convenience init(display: OpaquePointer, surface: OpaquePointer) throws(PipSinkError) {
    try self.init(display: display, surface: surface, decoration: nil)
  }

  package init(
    display: OpaquePointer, surface: OpaquePointer, decoration: (any PictureDecoration)?
  ) throws(PipSinkError) {
    connection = try WaylandForeignConnection(display)
    guard let globals = WaylandTile.Globals(connection.globals) else {
      throw .system(.displayUnavailable(reason: "the Wayland compositor has gone"))
    }
    tile = WaylandTile(globals, connection.loop, decoration: decoration, isForeign: true)
    tile.attach(
      to: surface, entered: { [weak self] output in self?.note { $0.output = output } },
      scaleChanged: { [weak self] scale in self?.note { $0.preferredScale = scale } })
  }

  deinit { leaveWindow() }

  private func note(_ change: (inout State) -> Void) {
    state.withLock { change(&$0) }
    place()
  }

  /// The part of the surface that pictures go to, in the surface's own units; nil, as at first, shows none.
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
    tile.set(
      PictureRect(x: 0, y: 0, width: pixels.width, height: pixels.height),
      place: WaylandTile.Place(units: rectangle, pixels: pixels))
  }

  private func scale(_ state: State) -> Double {
    let hasViewports = connection.globals.viewporter != nil
    if hasViewports, let scale = state.preferredScale { return scale }
    let outputs = connection.globals.outputs
    let own = outputs.first { $0.proxy.map { UInt(bitPattern: $0.pointer) } == state.output } ?? outputs.first
    return own.map { hasViewports ? $0.scale : Double($0.wholeScale) } ?? 1
  }

  /// Shows what is shown again, after whatever may have happened to the surface.
  public func expose() { tile.askForFrame() }

  /// Uses the surface and its connection no more: when this returns, both may go. No frame is shown from then on, as in
  /// a window that nobody can see. From any thread but one that reads the connection for this.
  public func leaveWindow() {
    tile.leaveWindow()
    connection.leave()
  }

  /// What lies over the pictures has changed.
  package func redraw() { tile.redraw() }

  /// A copy of the picture that is shown, without what lies over it; nil when there is none.
  package func image() -> BGRAImage? { tile.image() }

  package var convertedFrameCount: UInt64 { tile.convertedFrameCount }

  // MARK: - VideoRenderer

  public var renderSize: PictureSize? { tile.renderSize }
  public var isVisible: Bool { tile.isVisible }
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { tile.setNeedsDisplayHandler(handler) }
  public func rebuild() { tile.rebuild() }
  public func removeImage() { tile.removeImage() }

  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    try tile.render(sampleBuffer, gravity: gravity)
  }
}
