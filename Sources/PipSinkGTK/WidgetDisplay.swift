import CGTK
import PipSink
import PipSinkWindows

/// A session's streams in a widget of an app's own GTK 3 window, and picture-in-picture windows beside it.
///
/// Each stream has a view of its own (``PipSinkWindows/RemoteVideoView``), with its name and its placeholder. The widget
/// lives as long as the display.
public final class WidgetDisplay: ContainerDisplay {
  private let widget: VideoWidget
  /// The app's window.
  private var window: UnsafeMutableRawPointer?
  private var background: BackgroundMonitor?
  private var isBackgroundWatched = false

  /// - Parameters:
  ///   - placement: of the picture-in-picture window; nil takes the one that was remembered.
  ///   - placementPath: where it is remembered; nil remembers nothing.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(
    layout: VideoContainer.Layout = .grid, placement: WindowPlacement? = nil,
    placementPath: String? = WindowPlacement.defaultPath
  ) throws(PipSinkError) {
    let kind = try GTKDisplay.open().rawValue
    let container = VideoContainer(layout: layout)
    widget = try VideoWidget(content: container)
    try super.init(
      kind: kind, container: container, placement: placement, placementPath: placementPath, makesViewsWhenShown: false)
  }

  /// The widget, for the app's layout. The display owns it.
  public var unsafeGtkWidget: UnsafeMutableRawPointer { widget.unsafeGtkWidget }

  /// Says which window of the app has the widget in it: the one that is watched for the background and presented.
  ///
  /// - Parameter window: a GtkWindow that lives as long as the display.
  public func setWindow(_ window: UnsafeMutableRawPointer) {
    self.window = window
    watchBackground(isBackgroundWatched)
  }

  // MARK: - The app's window

  public override var canPresent: Bool { window != nil }

  public override func present() async {
    if let window { await GTKDisplay.present(window.assumingMemoryBound(to: GtkWidget.self)) }
  }

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
