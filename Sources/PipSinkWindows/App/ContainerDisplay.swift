import PipSink

/// A session's streams in a ``VideoContainer``, and picture-in-picture windows beside it: what displays with windows have
/// in common.
///
/// Each stream has a view of its own (``RemoteVideoView``), with its name and its placeholder.
@MainActor
open class ContainerDisplay: SessionDisplay {
  public let kind: String
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
  public var pictureInPictureHost: any PictureInPictureHost { pictureInPictureWindow }
  /// The views by their streams.
  public private(set) var views: [StreamID: RemoteVideoView] = [:]
  /// Told of the pointer in a stream's view; the size is the view's, in pixels.
  package var pointerHandler: (@MainActor (StreamID, PointerEvent, PictureSize) -> Void)?
  /// Told of keys in the picture-in-picture window that mean nothing there.
  package var pictureInPictureKeyHandler: ((_ keysym: UInt32) -> Void)? {
    get { pictureInPictureWindow.otherKeyPressed }
    set { pictureInPictureWindow.otherKeyPressed = newValue }
  }
  /// The keys that the session hears of; nil for all.
  package var reportedKeys: Set<Character>?
  /// Whether one stream comes before another in the grid; nil has every new one come last.
  package var areInOrder: (@MainActor (StreamID, StreamID) -> Bool)? {
    didSet {
      let areInOrder = areInOrder ?? { _, _ in false }
      container.areInOrder = { areInOrder($0.streamID, $1.streamID) }
    }
  }
  /// Called when a stream's view has been made.
  package var viewAdded: (@MainActor () -> Void)?

  let pictureInPictureWindow: PictureInPictureWindow
  public let container: VideoContainer
  private let makesViewsWhenShown: Bool
  private var layers: [StreamID: SampleBufferDisplayLayer] = [:]
  private var placeholders: [StreamID: StreamPlaceholder] = [:]
  private var microphonesOff: Set<StreamID> = []

  /// - Parameters:
  ///   - kind: the display server, in one word.
  ///   - placement: of the picture-in-picture window; nil takes the one that was remembered.
  ///   - placementPath: where it is remembered; nil remembers nothing.
  ///   - makesViewsWhenShown: whether a stream that is shown in picture-in-picture from its beginning on gets its view when
  ///     it comes to the app.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  package init(
    kind: String, container: VideoContainer, placement: WindowPlacement?, placementPath: String?,
    makesViewsWhenShown: Bool
  ) throws(PipSinkError) {
    self.kind = kind
    self.container = container
    if let placement, let placementPath { placement.save(to: placementPath) }
    pictureInPictureWindow = try PictureInPictureWindow(placementPath: placementPath)
    self.makesViewsWhenShown = makesViewsWhenShown
    pictureInPictureWindow.keyPressed = { [weak self] in self?.press($0) ?? false }
  }

  /// - Returns: whether the key is one that the session hears of.
  package func press(_ keysym: UInt32) -> Bool {
    // A keysym below 128 is its ASCII character.
    guard keysym < 128, let key = Unicode.Scalar(keysym).map(Character.init), reportedKeys?.contains(key) ?? true else {
      return false
    }
    eventHandler?(.key(key))
    return true
  }

  // MARK: - Streams

  public func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost {
    try PictureInPictureWindow(placementPath: nil)
  }

  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    if layers[streamID] !== layer { removeStream(streamID) }
    layers[streamID] = layer
    if !makesViewsWhenShown { try addView(layer, for: streamID) }
  }

  private func addView(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError) {
    guard views[streamID] == nil else { return }
    let view = RemoteVideoView(streamID: streamID, layer: layer)
    view.isMicrophoneOff = microphonesOff.contains(streamID)
    view.pointerHandler = { [weak self] event, size in self?.pointerHandler?(streamID, event, size) }
    if pictureInPictureWindow.unsupportedReason == nil {
      view.pictureInPictureToggled = { [weak self] in self?.eventHandler?(.pictureInPictureToggled(streamID)) }
    }
    try container.add(view)
    views[streamID] = view
    showOrHideRemote()
    viewAdded?()
  }

  public func removeStream(_ streamID: StreamID) {
    layers.removeValue(forKey: streamID)?.detach()
    placeholders[streamID] = nil
    microphonesOff.remove(streamID)
    guard let view = views.removeValue(forKey: streamID) else { return }
    container.remove(view)
    showOrHideRemote()
  }

  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    placeholders[streamID] = placeholder
    if placeholder != .inPictureInPicture, let layer = layers[streamID] { try? addView(layer, for: streamID) }
    views[streamID]?.placeholder = placeholder
    showOrHideRemote()
  }

  public func setMicrophoneOff(_ isOff: Bool, for streamID: StreamID) {
    if isOff { microphonesOff.insert(streamID) } else { microphonesOff.remove(streamID) }
    views[streamID]?.isMicrophoneOff = isOff
  }

  /// In the split layout the local picture has the whole width while the remote one is not there.
  private func showOrHideRemote() {
    guard container.layout == .split, container.views.count > 1 else { return }
    let remote = container.views[1].streamID
    container.showsRemote = placeholders[remote] != .inPictureInPicture && placeholders[remote] != .ended
  }

  // MARK: - The app's window

  open func show() {}
  open func hide() {}
  open var canPresent: Bool { false }
  open func present() {}
  open func watchBackground(_ isWatched: Bool) {}
  open func perform(_ action: SessionDisplayAction) {}

  // MARK: - What is shown

  public var convertedFrameCount: UInt64? {
    views.values.reduce(pictureInPictureWindow.convertedFrameCount) { $0 + $1.convertedFrameCount }
  }

  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] {
    let inApp = views.keys.sorted().map { id in ("inApp-\(id)", views[id]?.image()) }
    let pip = pictureInPictureStreamID.map { [("pip-\($0)", pictureInPictureWindow.image())] } ?? []
    return (inApp + pip).compactMap { name, image in image.map { (name, $0) } }
  }
}
