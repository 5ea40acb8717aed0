import PipSink
import PipSinkWindows

/// A session's streams in a window of PipSink's own, on X11 or Wayland, and picture-in-picture windows beside it.
public final class WindowDisplay: WidgetDisplay {
  /// What the app's window does when a key was pressed in it, before the session hears of the key; returns whether the
  /// key is dealt with.
  package var keyHandler: (@MainActor (_ keyval: UInt32) -> Bool)?
  private let window: VideoWindow
  private var isShown = false

  /// - Parameters:
  ///   - size: of the app's window, in GTK's pixels.
  ///   - placement: of the picture-in-picture window; nil takes the one that was remembered.
  ///   - opensWithFirstStream: whether the app's window is opened when a stream is shown in it, instead of at the
  ///     session's start.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(
    size: PictureSize = PictureSize(width: 960, height: 540), layout: Layout = .grid,
    placement: WindowPlacement? = nil, opensWithFirstStream: Bool = false
  ) throws(PipSinkError) {
    let container = try layout.makeContainer()
    window = try VideoWindow(content: container, size: size)
    try super.init(
      container: container, placement: placement, placementPath: WindowPlacement.defaultPath,
      makesViewsWhenShown: opensWithFirstStream)
    setWindow(UnsafeMutableRawPointer(window.window))
    window.didRequestClose = { [weak self] in self?.eventHandler?(.closeRequested) }
    window.keyPressed = { [weak self] key in
      guard let self else { return false }
      return keyHandler?(key) ?? false || press(key)
    }
    if opensWithFirstStream { viewAdded = { [weak self] in self?.show() } }
  }

  isolated deinit {
    // It watches the window, which goes first.
    watchBackground(false)
  }

  /// The streams that have a view in the window.
  package var shownStreamIDs: [StreamID] { views.keys.sorted() }

  public override func show() {
    guard !isShown else { return }
    isShown = true
    window.show()
  }

  public override func hide() {
    isShown = false
    window.hide()
  }

  public override var canPresent: Bool { isShown }

  public override func present() {
    if isShown { super.present() }
  }

  public override func perform(_ action: SessionDisplayAction) {
    switch action {
    case .toggleFullscreen: window.toggleFullscreen()
    case .toggleHelp(let text): window.toggleHelp(text)
    }
  }
}
