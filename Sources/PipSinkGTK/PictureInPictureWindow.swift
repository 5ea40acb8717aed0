import CGTK
import Logging
import PipSink
import PipSinkWindows

/// A small window above all others that shows one stream, or two in a half each.
///
/// It has no border, is on all workspaces, in no taskbar or pager, and takes no focus when it appears. It is moved by
/// dragging it anywhere and then goes to the nearest corner of the screen, is resized at its corners and by the scroll
/// wheel, and keeps the shape of its picture. Controls come with the pointer; a double click goes back to the app.
///
/// What it is depends on the desktop (``Kind``): on X11 a window that asks the window manager for all that (EWMH), on
/// Wayland a surface on layer-shell's overlay layer, and where the compositor has none, as on GNOME, an X11 window in its
/// Xwayland.
@MainActor
public final class PictureInPictureWindow: PictureInPictureHost {
  /// What the window is for the display server. The raw values are those of `PIPSINK_PIP_WINDOW`.
  public enum Kind: String, CaseIterable, Sendable {
    case x11
    /// On the overlay layer of a Wayland compositor.
    case layerShell = "layer-shell"
    /// An X11 window beside the app's windows, which are Wayland's.
    case xwayland
    /// A window of Wayland's like any other.
    case toplevel
  }

  public let kind: Kind
  private let host: any KeyedPictureInPictureHost
  private static var hasWarned = false

  /// Makes the window; ``open(_:)`` shows it.
  ///
  /// - Parameters:
  ///   - placement: where it is when nothing was remembered.
  ///   - placementPath: the file to remember its place in; nil to forget it.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(
    placement: WindowPlacement = WindowPlacement(), placementPath: String? = WindowPlacement.defaultPath
  ) throws(PipSinkError) {
    kind = try Self.kindOfDisplay()
    switch kind {
    case .x11, .xwayland:
      host = X11PictureInPictureWindow(display: Self.displayName, placement: placement, placementPath: placementPath)
    case .layerShell, .toplevel:
      host = try GTKPictureInPictureWindow(
        placement: placement, placementPath: placementPath, isLayer: kind == .layerShell)
    }
  }

  /// The first kind that can be had on the display, or the one that `PIPSINK_PIP_WINDOW` names if it can.
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  static func kindOfDisplay() throws(PipSinkError) -> Kind {
    guard try GTKDisplay.open() == .wayland else { return .x11 }
    var kinds: [Kind] = [.toplevel]
    if X11PictureInPictureWindow().unsupportedReason == nil { kinds.insert(.xwayland, at: 0) }
    if GTKDisplay.hasLayerShell { kinds.insert(.layerShell, at: 0) }
    return forcedKind.flatMap { kinds.contains($0) ? $0 : nil } ?? kinds[0]
  }

  private static var forcedKind: Kind? {
    g_getenv("PIPSINK_PIP_WINDOW").flatMap { Kind(rawValue: String(cString: $0)) }
  }

  /// Why an ordinary window is all that can be had.
  static var reasonForToplevel: String {
    forcedKind == .toplevel
      ? "PIPSINK_PIP_WINDOW asks for an ordinary window"
      : "the compositor has no layer-shell and no Xwayland; it is an ordinary window"
  }

  /// That of the app's windows; nil on Wayland, where the environment names the Xwayland.
  private static var displayName: String? {
    guard GTKDisplay.kind == .x11, let display = gdk_display_get_default() else { return nil }
    return String(cString: gdk_display_get_name(display))
  }

  /// What picture-in-picture is on this display, before there is any window. Connects to the display server as
  /// ``GTKDisplay/open()`` does, so it is to be asked on the main thread.
  public static var support: PictureInPictureSupport {
    do throws(PipSinkError) {
      let window = try PictureInPictureWindow(placementPath: nil)
      return window.limitation.map { .limited(reason: $0) } ?? .full
    } catch {
      return .unsupported(reason: "\(error)")
    }
  }

  // MARK: - PictureInPictureHost

  public var renderer: any VideoRenderer { host.renderer }
  public var secondRenderer: (any VideoRenderer)? { host.secondRenderer }
  public var unsupportedReason: String? { GTKDisplay.isLost ? "the display server has gone" : host.unsupportedReason }
  public var limitation: String? { GTKDisplay.isLost ? nil : host.limitation }

  public var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)? {
    get { host.eventHandler }
    set { host.eventHandler = newValue }
  }

  /// A key was pressed in it, by its keyval; says whether it meant something. What it leaves, the window's own keys take:
  /// space, m, the arrows, Return, Escape.
  public var keyPressed: ((_ keyval: UInt32) -> Bool)? {
    get { host.keyPressed }
    set { host.keyPressed = newValue }
  }

  /// A key was pressed that means nothing to the window either, or a control that it does not offer now.
  package var otherKeyPressed: ((_ keyval: UInt32) -> Void)? {
    get { host.otherKeyPressed }
    set { host.otherKeyPressed = newValue }
  }

  public func open(_ presentation: PictureInPicturePresentation) throws(PipSinkError) {
    guard !GTKDisplay.isLost else { throw .system(.displayUnavailable(reason: "the display server has gone")) }
    GTKDisplay.prepareActivation()
    warnOnce()
    try host.open(presentation)
  }

  private func warnOnce() {
    guard !Self.hasWarned else { return }
    Self.hasWarned = true
    let logger = Logger(visible: "pipsink.gtk")
    if let wanted = g_getenv("PIPSINK_PIP_WINDOW").map({ String(cString: $0) }), wanted != kind.rawValue {
      logger.warning("PIPSINK_PIP_WINDOW asks for \"\(wanted)\", which cannot be had here; it is \(kind.rawValue)")
    }
    guard kind == .toplevel else { return }
    logger.warning(
      """
      picture-in-picture cannot stay above other windows: \(Self.reasonForToplevel)
      """)
  }

  public func update(_ presentation: PictureInPicturePresentation) { host.update(presentation) }

  public func close() { host.close() }

  /// A copy of what it shows, in pixels of the screen; nil when it shows no picture.
  public func image() -> BGRAImage? { host.image() }

  /// Frames that were converted for it so far.
  var convertedFrameCount: UInt64 { host.convertedFrameCount }
}

extension GTKPictureInPictureWindow: KeyedPictureInPictureHost {}
