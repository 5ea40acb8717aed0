import CWindows
import PipSink

/// A session display that shows the streams in a ``VideoContainer`` and opens picture-in-picture windows beside it.
///
/// It is the common base of the displays that have windows; subclasses provide the app's window or widget. Each stream
/// has its own ``RemoteVideoView`` with its name and its placeholder.
@MainActor
open class ContainerDisplay: ScreenKeepingDisplay, PictureInPictureOfferingDisplay {
  /// The display server or toolkit in one word, for reports.
  public let kind: String
  /// Called with the display's events. The session sets it; an app that uses a session leaves it alone.
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
  /// The display's first picture-in-picture window. It is always the same one.
  public var pictureInPictureHost: any PictureInPictureHost { pictureInPictureWindow }
  /// What the app draws itself in the display's first picture-in-picture window; nil for nothing.
  public var pictureInPictureContent: PictureInPictureContent? {
    get { pictureInPictureWindow.content }
    set { pictureInPictureWindow.content = newValue }
  }
  /// The views that are in the container, by their streams.
  public private(set) var views: [StreamID: RemoteVideoView] = [:]
  /// Called when the pointer does something in a stream's view. The size is the view's, in pixels.
  package var pointerHandler: (@MainActor (StreamID, PointerEvent, PictureSize) -> Void)?
  /// Called for keys in the picture-in-picture window that have no meaning there.
  package var pictureInPictureKeyHandler: ((WindowKey) -> Void)? {
    get { pictureInPictureWindow.otherKeyPressed }
    set { pictureInPictureWindow.otherKeyPressed = newValue }
  }
  /// Returns whether a key is reported to the session.
  package var reportsKey: (Character) -> Bool = { _ in true }
  /// Returns whether one stream comes before another in the grid. While it is nil, every new stream comes last.
  package var areInOrder: (@MainActor (StreamID, StreamID) -> Bool)? {
    didSet {
      let areInOrder = areInOrder ?? { _, _ in false }
      container.areInOrder = { areInOrder($0.streamID, $1.streamID) }
    }
  }
  /// Called when a stream's view has been created.
  package var viewAdded: (@MainActor () -> Void)?

  let pictureInPictureWindow: PictureInPictureWindow
  /// The container with the streams' views, which the app's window or widget shows.
  public let container: VideoContainer
  private let makesViewsWhenShown: Bool
  private var layers: [StreamID: SampleBufferDisplayLayer] = [:]
  /// The streams for which picture-in-picture is not offered.
  private var excluded: Set<StreamID> = []
  private var placeholders: [StreamID: StreamPlaceholder] = [:]
  private var participants: [StreamID: Participant] = [:]

  /// Creates a display for a container.
  ///
  /// - Parameters:
  ///   - kind: the display server or toolkit, in one word.
  ///   - container: the container to show the streams in.
  ///   - placement: the corner and size of the picture-in-picture window; nil uses the ones that were remembered.
  ///   - placementPath: the file in which they are remembered; nil remembers nothing.
  ///   - makesViewsWhenShown: whether a stream's view is created only when the stream is first shown in the app, so
  ///     that a stream that starts in picture-in-picture has none until then.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no display server can be reached.
  package init(
    kind: String, container: VideoContainer, placement: WindowPlacement?, placementPath: String?,
    makesViewsWhenShown: Bool
  ) throws(PipSinkError) {
    self.kind = kind
    self.container = container
    if let placement, let placementPath { placement.save(to: placementPath) }
    pictureInPictureWindow = try PictureInPictureWindow(placementPath: placementPath, renderer: container.renderer)
    self.makesViewsWhenShown = makesViewsWhenShown
    pictureInPictureWindow.keyPressed = { [weak self] in self?.pressInPictureInPicture($0) ?? false }
  }

  /// Reports a key press to the session.
  ///
  /// - Returns: whether the key is one that is reported to the session.
  package func press(_ keysym: UInt32) -> Bool {
    if keysym == UInt32(XKB_KEY_F6), pictureInPictureWindow.isOpen {
      eventHandler?(.pictureInPictureFocused)
      return true
    }
    guard let key = Character(keysym: keysym), reportsKey(key) else { return false }
    eventHandler?(.key(key))
    return true
  }

  /// Reports a key press in the picture-in-picture window. The session knows most keys of both windows, but fullscreen is
  /// that of the window with the keyboard.
  private func pressInPictureInPicture(_ keysym: UInt32) -> Bool {
    let isFullscreen = PictureInPictureAction(key: keysym, among: []) == .fullscreen
    let isOffered = pictureInPictureWindow.presentation?.actions.contains(.fullscreen) ?? false
    return isFullscreen && isOffered ? false : press(keysym)
  }

  // MARK: - Streams

  /// Creates another picture-in-picture window. Its corner and size are not remembered.
  ///
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no display server can be reached.
  public func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost {
    try PictureInPictureWindow(placementPath: nil, renderer: container.renderer)
  }

  /// Adds a view for a stream to the container and shows a layer in it.
  ///
  /// - Parameters:
  ///   - layer: the layer that gets the stream's frames. It replaces one that was added before.
  ///   - streamID: the stream.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the window's display server has gone.
  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    if layers[streamID] !== layer { removeStream(streamID) }
    layers[streamID] = layer
    if !makesViewsWhenShown { try addView(layer, for: streamID) }
  }

  private func addView(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    guard views[streamID] == nil else { return }
    let view = RemoteVideoView(streamID: streamID, layer: layer)
    view.participant = participants[streamID] ?? view.participant
    view.pointerHandler = { [weak self] event, size in self?.pointerHandler?(streamID, event, size) }
    if !excluded.contains(streamID) { offerPictureInPicture(in: view) }
    try container.add(view)
    views[streamID] = view
    showOrHideRemote()
    viewAdded?()
  }

  private func offerPictureInPicture(in view: RemoteVideoView) {
    guard pictureInPictureWindow.unsupportedReason == nil else { return }
    let streamID = view.streamID
    view.pictureInPictureToggled = { [weak self] in self?.eventHandler?(.pictureInPictureToggled(streamID)) }
  }

  package func offerPictureInPicture(_ isOffered: Bool, of streamID: StreamID) {
    if isOffered { excluded.remove(streamID) } else { excluded.insert(streamID) }
    guard let view = views[streamID] else { return }
    if isOffered { offerPictureInPicture(in: view) } else { view.pictureInPictureToggled = nil }
    view.changed?()
  }

  /// Detaches a stream's layer and removes its view from the container. It does nothing for a stream that was not
  /// added.
  public func removeStream(_ streamID: StreamID) {
    layers.removeValue(forKey: streamID)?.detach()
    placeholders[streamID] = nil
    participants[streamID] = nil
    guard let view = views.removeValue(forKey: streamID) else { return }
    container.remove(view)
    showOrHideRemote()
  }

  /// Shows a placeholder in a stream's view instead of its picture; nil shows the picture.
  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    placeholders[streamID] = placeholder
    if placeholder != .inPictureInPicture, let layer = layers[streamID] { try? addView(layer, for: streamID) }
    views[streamID]?.placeholder = placeholder
    showOrHideRemote()
  }

  /// Shows what is known of the person in a stream in its view.
  public func setParticipant(_ participant: Participant, for streamID: StreamID) {
    participants[streamID] = participant
    views[streamID]?.participant = participant
  }

  /// In the split layout, gives the local picture the whole width while the remote one is not shown in the app.
  private func showOrHideRemote() {
    guard container.layout == .split, container.views.count > 1 else { return }
    let remote = container.views[1].streamID
    container.showsRemote = placeholders[remote] != .inPictureInPicture && placeholders[remote] != .ended
  }

  // MARK: - The app's window

  /// Shows the app's window. It does nothing unless a subclass overrides it.
  open func show() {}
  /// Hides the app's window. It does nothing unless a subclass overrides it.
  open func hide() {}
  /// Whether the app has a window that ``present()`` can bring to the user. It is false unless a subclass overrides it.
  open var canPresent: Bool { false }
  /// Brings the app's window to the user. It does nothing unless a subclass overrides it.
  open func present() async {}
  /// Starts or stops reporting whether the user can see the app's window. It does nothing unless a subclass overrides
  /// it.
  open func watchBackground(_ isWatched: Bool) {}
  /// Performs an action that only some displays know. It does nothing unless a subclass overrides it.
  open func perform(_ action: SessionDisplayAction) {}

  package func keepScreenOn(_ isKeptOn: Bool) { pictureInPictureWindow.isScreenKeptOn = isKeptOn }

  // MARK: - What is shown

  /// The number of frames that have been converted for the streams' views and for the first picture-in-picture window.
  public var convertedFrameCount: UInt64? {
    views.values.reduce(pictureInPictureWindow.convertedFrameCount) { $0 + $1.convertedFrameCount }
  }

  /// Returns copies of the pictures that are shown now. Views that show no picture are left out.
  ///
  /// - Parameter pictureInPictureStreamID: the stream in the first picture-in-picture window; nil while that is closed.
  /// - Returns: each picture with a name, such as "inApp-camera" or "pip-camera".
  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] {
    let inApp = views.keys.sorted().map { id in ("inApp-\(id)", views[id]?.image()) }
    let pip = pictureInPictureStreamID.map { [("pip-\($0)", pictureInPictureWindow.image())] } ?? []
    return (inApp + pip).compactMap { name, image in image.map { (name, $0) } }
  }
}
