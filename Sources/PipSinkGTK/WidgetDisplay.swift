import CGTK
import PipSink
import PipSinkWindows

/// Shows a session's streams in a widget of an app's GTK 3 window, together with picture-in-picture windows.
///
/// Each stream has a ``PipSinkWindows/RemoteVideoView`` with its name and its placeholder. The widget lives as long as
/// the display.
public final class WidgetDisplay: ContainerDisplay {
  private let widget: VideoWidget
  /// The app's GtkWindow.
  private var window: UnsafeMutableRawPointer?
  private var background: BackgroundMonitor?
  private var isBackgroundWatched = false

  /// Makes a display with a widget.
  ///
  /// - Parameters:
  ///   - layout: how the streams are arranged in the widget.
  ///   - placement: where the picture-in-picture window opens; nil uses the remembered placement.
  ///   - placementPath: the file in which the placement is remembered; nil remembers nothing.
  ///   - renderer: who draws frames, in the widget and in windows for picture-in-picture.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(
    layout: VideoContainer.Layout = .grid, placement: WindowPlacement? = nil,
    placementPath: String? = WindowPlacement.defaultPath, renderer: WindowRenderer = .fromEnvironment
  ) throws(PipSinkError) {
    let kind = try GTKDisplay.open().rawValue
    let container = VideoContainer(layout: layout, renderer: renderer)
    widget = try VideoWidget(content: container)
    try super.init(
      kind: kind, container: container, placement: placement, placementPath: placementPath, makesViewsWhenShown: false)
  }

  /// The widget, for the app's layout. It is borrowed: it lives as long as the display. Only the main thread may use
  /// it.
  public var unsafeGtkWidget: UnsafeMutableRawPointer { widget.unsafeGtkWidget }

  /// Says which window of the app contains the widget. The display watches that window for the background and brings it
  /// to the front.
  ///
  /// - Parameter window: a GtkWindow that lives as long as the display.
  public func setWindow(_ window: UnsafeMutableRawPointer) {
    self.window = window
    watchBackground(isBackgroundWatched)
  }

  // MARK: - The app's window

  /// Whether ``setWindow(_:)`` was called.
  public override var canPresent: Bool { window != nil }

  /// Brings the app's window to the front.
  public override func present() async {
    if let window { await GTKDisplay.present(window.assumingMemoryBound(to: GtkWidget.self)) }
  }

  /// Begins or ends watching the app's window.
  public override func watchBackground(_ isWatched: Bool) {
    isBackgroundWatched = isWatched
    guard isWatched, let window else {
      background = nil
      return
    }
    if background == nil {
      background = BackgroundMonitor(gtkWindow: window) { [weak self] in self?.eventHandler?(.background($0)) }
    }
  }
}
