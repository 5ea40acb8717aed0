import PipSink

/// A session's streams in a window of PipSink's own, on X11 or Wayland, and picture-in-picture windows beside it.
public final class WindowDisplay: SessionDisplay {
  /// What the app's window does when a key was pressed in it, before the session hears of the key; returns whether the
  /// key is dealt with.
  package var keyHandler: (@MainActor (_ keyval: UInt32) -> Bool)?
  private let widgets: WidgetDisplay
  private let window: VideoWindow
  private let opensWithFirstStream: Bool
  private var isShown = false

  /// - Parameters:
  ///   - size: of the app's window, in GTK's pixels.
  ///   - placement: of the picture-in-picture window; nil takes the one that was remembered.
  ///   - opensWithFirstStream: whether the app's window is opened when a stream is shown in it, instead of at the
  ///     session's start.
  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  public init(
    size: PictureSize = PictureSize(width: 960, height: 540), layout: WidgetDisplay.Layout = .grid,
    placement: WindowPlacement? = nil, opensWithFirstStream: Bool = false
  ) throws(PipSinkError) {
    widgets = try WidgetDisplay(
      layout: layout, placement: placement, placementPath: WindowPlacement.defaultPath,
      makesViewsWhenShown: opensWithFirstStream)
    window = try VideoWindow(content: widgets.widget, size: size)
    self.opensWithFirstStream = opensWithFirstStream
    widgets.setWindow(UnsafeMutableRawPointer(window.window))
    window.didRequestClose = { [weak self] in self?.eventHandler?(.closeRequested) }
    window.keyPressed = { [weak self] key in
      guard let self else { return false }
      return keyHandler?(key) ?? false || widgets.press(key)
    }
    widgets.viewAdded = { [weak self] in self?.openIfNeeded() }
  }

  isolated deinit {
    // It watches the window, which goes first.
    widgets.watchBackground(false)
  }

  public var kind: String { widgets.kind }
  public var pictureInPictureHost: any PictureInPictureHost { widgets.pictureInPictureHost }
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)? {
    get { widgets.eventHandler }
    set { widgets.eventHandler = newValue }
  }
  package var pointerHandler: (@MainActor (StreamID, PointerEvent, PictureSize) -> Void)? {
    get { widgets.pointerHandler }
    set { widgets.pointerHandler = newValue }
  }
  /// Whether the session hears of keys.
  package var reportsKeys: Bool {
    get { widgets.reportsKeys }
    set { widgets.reportsKeys = newValue }
  }
  /// The streams that have a view in the window.
  package var shownStreamIDs: [StreamID] { widgets.views.keys.sorted() }

  private func openIfNeeded() {
    if opensWithFirstStream { show() }
  }

  public func show() {
    guard !isShown else { return }
    isShown = true
    window.show()
  }

  public func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost {
    try widgets.makePictureInPictureHost()
  }

  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    try widgets.add(layer, for: streamID)
  }

  public func removeStream(_ streamID: StreamID) { widgets.removeStream(streamID) }

  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    widgets.setPlaceholder(placeholder, for: streamID)
  }

  public var canPresent: Bool { isShown }

  public func present() {
    if isShown { window.present() }
  }

  public func watchBackground(_ isWatched: Bool) { widgets.watchBackground(isWatched) }

  public func perform(_ action: SessionDisplayAction) {
    switch action {
    case .toggleFullscreen: window.toggleFullscreen()
    case .toggleHelp(let text): window.toggleHelp(text)
    }
  }

  public var convertedFrameCount: UInt64? { widgets.convertedFrameCount }

  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] {
    widgets.images(pictureInPictureStreamID: pictureInPictureStreamID)
  }
}
