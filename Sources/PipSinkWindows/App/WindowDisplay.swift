import PipSink

/// A session's streams in a window of PipSink's own, on X11 or Wayland, and picture-in-picture windows beside it.
public final class WindowDisplay: ContainerDisplay {
  public typealias Layout = VideoContainer.Layout

  /// What the app's window does when a key was pressed in it, before the session hears of the key; returns whether the
  /// key is dealt with.
  package var keyHandler: (@MainActor (_ keysym: UInt32) -> Bool)?
  private let window: VideoWindow
  private var isShown = false

  /// - Parameters:
  ///   - size: of the app's window, in the desktop's pixels.
  ///   - placement: of the picture-in-picture window; nil takes the one that was remembered.
  ///   - opensWithFirstStream: whether the app's window is opened when a stream is shown in it, instead of at the
  ///     session's start.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(
    size: PictureSize = PictureSize(width: 960, height: 540), layout: Layout = .grid,
    placement: WindowPlacement? = nil, opensWithFirstStream: Bool = false
  ) throws(PipSinkError) {
    let container = VideoContainer(layout: layout)
    window = try VideoWindow(content: container, size: size)
    try super.init(
      kind: window.system.rawValue, container: container, placement: placement,
      placementPath: WindowPlacement.defaultPath, makesViewsWhenShown: opensWithFirstStream)
    pictureInPictureWindow.preferredMonitor = { [weak window] in window?.monitor }
    window.didRequestClose = { [weak self] in self?.eventHandler?(.closeRequested) }
    window.didLoseWindow = { [weak self] error in
      self?.isShown = false
      self?.eventHandler?(.windowLost(error))
    }
    window.keyPressed = { [weak self] key in
      guard let self else { return false }
      return keyHandler?(key) ?? false || press(key)
    }
    if opensWithFirstStream { viewAdded = { [weak self] in self?.show() } }
  }

  /// The streams that have a view in the window.
  package var shownStreamIDs: [StreamID] { views.keys.sorted() }

  public override func show() {
    guard !isShown else { return }
    do throws(PipSinkError) {
      try window.show()
      isShown = true
    } catch {
      eventHandler?(.windowLost(error))
    }
  }

  public override func hide() {
    isShown = false
    window.hide()
  }

  public override var canPresent: Bool { isShown }

  public override func present() {
    if isShown { window.present() }
  }

  public override func watchBackground(_ isWatched: Bool) {
    window.backgroundChanged = isWatched ? { [weak self] in self?.eventHandler?(.background($0)) } : nil
  }

  public override func perform(_ action: SessionDisplayAction) {
    switch action {
    case .toggleFullscreen: window.toggleFullscreen()
    case .toggleHelp(let text): window.toggleHelp(text)
    }
  }
}
