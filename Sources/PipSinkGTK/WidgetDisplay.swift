import CGTK
import PipSink
import PipSinkWindows

/// A session's streams in a widget of an app's own GTK 3 window, and picture-in-picture windows beside it.
///
/// Each stream has a view of its own (``RemoteVideoView``), with its name and its placeholder. The widget lives as long
/// as the display.
public class WidgetDisplay: SessionDisplay {
  public enum Layout: Sendable {
    /// Every stream in rows and columns.
    case grid
    /// The first two streams beside each other, the local one first; further ones are not shown in the app.
    case split

    @MainActor
    func makeContainer() throws(PipSinkError) -> any StreamViewContainer {
      switch self {
      case .grid: try GridVideoView()
      case .split: try SplitVideoView()
      }
    }
  }

  public let kind: String
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
  public var pictureInPictureHost: any PictureInPictureHost { pictureInPictureWindow }
  /// The views by their streams.
  public private(set) var views: [StreamID: RemoteVideoView] = [:]
  /// Told of the pointer in a stream's view; the size is the view's, in pixels.
  package var pointerHandler: (@MainActor (StreamID, PointerEvent, PictureSize) -> Void)?
  /// Told of keys in the picture-in-picture window that mean nothing there.
  package var pictureInPictureKeyHandler: ((_ keyval: UInt32) -> Void)? {
    get { pictureInPictureWindow.otherKeyPressed }
    set { pictureInPictureWindow.otherKeyPressed = newValue }
  }
  /// The keys that the session hears of; nil for all.
  package var reportedKeys: Set<Character>?
  /// Whether one stream comes before another in the grid; nil has every new one come last.
  package var areInOrder: (@MainActor (StreamID, StreamID) -> Bool)? {
    didSet {
      let areInOrder = areInOrder ?? { _, _ in false }
      (container as? GridVideoView)?.areInOrder = { areInOrder($0.streamID, $1.streamID) }
    }
  }
  /// Called when a stream's view has been made.
  var viewAdded: (@MainActor () -> Void)?

  private let pictureInPictureWindow: PictureInPictureWindow
  private let container: any StreamViewContainer
  private let makesViewsWhenShown: Bool
  private var layers: [StreamID: SampleBufferDisplayLayer] = [:]
  private var placeholders: [StreamID: StreamPlaceholder] = [:]
  private var microphonesOff: Set<StreamID> = []
  /// The app's window.
  private var window: UnsafeMutableRawPointer?
  private var background: BackgroundMonitor?
  private var isBackgroundWatched = false

  /// - Parameters:
  ///   - placement: of the picture-in-picture window; nil takes the one that was remembered.
  ///   - placementPath: where it is remembered; nil remembers nothing.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public convenience init(
    layout: Layout = .grid, placement: WindowPlacement? = nil,
    placementPath: String? = WindowPlacement.defaultPath
  ) throws(PipSinkError) {
    try self.init(
      container: layout.makeContainer(), placement: placement, placementPath: placementPath, makesViewsWhenShown: false)
  }

  /// - Parameter makesViewsWhenShown: whether a stream that is shown in picture-in-picture from its beginning on gets
  ///   its view when it comes to the app.
  init(
    container: any StreamViewContainer, placement: WindowPlacement?, placementPath: String?, makesViewsWhenShown: Bool
  ) throws(PipSinkError) {
    kind = try GTKDisplay.open().rawValue
    self.container = container
    if let placement, let placementPath { placement.save(to: placementPath) }
    pictureInPictureWindow = try PictureInPictureWindow(placementPath: placementPath)
    self.makesViewsWhenShown = makesViewsWhenShown
    pictureInPictureWindow.keyPressed = { [weak self] in self?.press($0) ?? false }
  }

  /// The widget, for the app's layout. The display owns it.
  public var unsafeGtkWidget: UnsafeMutableRawPointer { container.unsafeGtkWidget }

  /// Says which window of the app has the widget in it: the one that is watched for the background and presented.
  ///
  /// - Parameter window: a GtkWindow that lives as long as the display.
  public func setWindow(_ window: UnsafeMutableRawPointer) {
    self.window = window
    watchBackground(isBackgroundWatched)
  }

  /// - Returns: whether the key is one that the session hears of.
  func press(_ keyval: UInt32) -> Bool {
    // A keyval below 128 is its ASCII character.
    guard keyval < 128, let key = Unicode.Scalar(keyval).map(Character.init), reportedKeys?.contains(key) ?? true else {
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
    let view = try RemoteVideoView(streamID: streamID, layer: layer)
    view.isMicrophoneOff = microphonesOff.contains(streamID)
    views[streamID] = view
    view.view.pointerHandler = { [weak self, weak view] event in
      if let size = view?.view.renderSize { self?.pointerHandler?(streamID, event, size) }
    }
    if pictureInPictureWindow.unsupportedReason == nil {
      view.pictureInPictureToggled = { [weak self] in self?.eventHandler?(.pictureInPictureToggled(streamID)) }
    }
    container.add(view)
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
    guard let split = container as? SplitVideoView, let remote = split.remote?.streamID else { return }
    split.showsRemote = placeholders[remote] != .inPictureInPicture && placeholders[remote] != .ended
  }

  // MARK: - The app's window

  public func show() {}

  public func hide() {}

  public var canPresent: Bool { window != nil }

  public func present() {
    if let window { GTKDisplay.present(window.assumingMemoryBound(to: GtkWidget.self)) }
  }

  public func watchBackground(_ isWatched: Bool) {
    isBackgroundWatched = isWatched
    guard isWatched, let window else {
      background = nil
      return
    }
    if background == nil {
      background = BackgroundMonitor(gtkWindow: window) { [weak self] in self?.eventHandler?(.background($0)) }
    }
  }

  public func perform(_ action: SessionDisplayAction) {}

  // MARK: - What is shown

  public var convertedFrameCount: UInt64? {
    views.values.reduce(pictureInPictureWindow.convertedFrameCount) { $0 + $1.view.convertedFrameCount }
  }

  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] {
    let inApp = views.keys.sorted().map { id in ("inApp-\(id)", views[id]?.view.image()) }
    let pip = pictureInPictureStreamID.map { [("pip-\($0)", pictureInPictureWindow.image())] } ?? []
    return (inApp + pip).compactMap { name, image in image.map { (name, $0) } }
  }
}
