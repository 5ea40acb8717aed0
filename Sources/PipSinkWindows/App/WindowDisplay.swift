import PipSink

/// A session display that shows the streams in a ``VideoWindow``, on X11 or Wayland, and opens picture-in-picture
/// windows beside it.
public final class WindowDisplay: ContainerDisplay {
  /// How the window arranges the streams' views.
  public typealias Layout = VideoContainer.Layout

  /// The title of the app's window. It can change at any time.
  public var title: String {
    get { window.title }
    set { window.title = newValue }
  }
  /// Called when a key is pressed in the app's window, before the session gets it. It returns whether it has
  /// handled the key.
  package var keyHandler: ((WindowKey) -> Bool)? {
    get { window.anyKeyPressed }
    set { window.anyKeyPressed = newValue }
  }
  private let window: VideoWindow
  private var isShown = false

  /// Creates a display whose window is hidden until the session starts. This connects to the display server.
  ///
  /// - Parameters:
  ///   - title: the title of the app's window; nil for the application's name (`g_set_application_name`), or that of the
  ///     program.
  ///   - size: the first size of the app's window in logical pixels, which the desktop multiplies by its scale factor.
  ///   - layout: how the window arranges the streams' views.
  ///   - placement: the corner and size of the picture-in-picture window; nil uses the ones that were remembered.
  ///   - renderer: who draws frames, in the app's window and in those for picture-in-picture.
  ///   - opensWithFirstStream: whether the app's window opens when the first stream is shown in it, instead of when the
  ///     session starts.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no display server can be reached.
  public init(
    title: String? = nil, size: PictureSize = PictureSize(width: 960, height: 540), layout: Layout = .grid,
    placement: WindowPlacement? = nil, renderer: WindowRenderer = .fromEnvironment, opensWithFirstStream: Bool = false
  ) throws(PipSinkError) {
    let container = VideoContainer(layout: layout, renderer: renderer)
    window = try VideoWindow(content: container, title: title, size: size)
    try super.init(
      kind: window.system.rawValue, container: container, placement: placement,
      placementPath: WindowPlacement.defaultPath, makesViewsWhenShown: opensWithFirstStream)
    pictureInPictureWindow.preferredMonitor = { [weak window] in window?.monitor }
    window.didRequestClose = { [weak self] in self?.eventHandler?(.closeRequested) }
    window.didLoseWindow = { [weak self] error in
      self?.isShown = false
      self?.eventHandler?(.windowLost(error))
    }
    window.keyPressed = { [weak self] in self?.press($0) ?? false }
    if opensWithFirstStream { viewAdded = { [weak self] in self?.show() } }
  }

  /// The streams that have a view in the window, sorted.
  package var shownStreamIDs: [StreamID] { views.keys.sorted() }

  /// Shows the app's window. If that fails, it reports ``PipSink/SessionDisplayEvent/windowLost(_:)``.
  public override func show() {
    guard !isShown else { return }
    do throws(PipSinkError) {
      try window.show()
      isShown = true
    } catch {
      eventHandler?(.windowLost(error))
    }
  }

  /// Hides the app's window.
  public override func hide() {
    isShown = false
    window.hide()
  }

  /// Whether the app's window is shown, so that ``present()`` can bring it to the user.
  public override var canPresent: Bool { isShown }

  /// Brings the app's window to the user, as ``VideoWindow/present()`` does.
  public override func present() async {
    if isShown { await window.present() }
  }

  /// Starts or stops reporting whether the user can see the app's window.
  public override func watchBackground(_ isWatched: Bool) {
    window.backgroundChanged = isWatched ? { [weak self] in self?.eventHandler?(.background($0)) } : nil
  }

  package override func keepScreenOn(_ isKeptOn: Bool) {
    super.keepScreenOn(isKeptOn)
    window.isScreenKeptOn = isKeptOn
  }

  /// Toggles the app's window between fullscreen and normal, or shows and hides a help text over it.
  public override func perform(_ action: SessionDisplayAction) {
    switch action {
    case .toggleFullscreen: window.toggleFullscreen()
    case .toggleHelp(let text): window.toggleHelp(text)
    }
  }
}
