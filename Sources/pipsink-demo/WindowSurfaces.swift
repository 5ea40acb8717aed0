import PipSink
import PipSinkGTK

/// Windows on X11 or Wayland: one for the app with a tile for each stream, and the picture-in-picture one.
final class WindowSurfaces: Surfaces {
  /// What the user wants, by a key or by closing a window.
  enum Wish: Sendable {
    case key(Character)
    case quit
    /// The app's window can be seen no more, or again.
    case background(Bool)
  }

  /// What fills the app's window.
  private enum Content {
    case grid(GridVideoView)
    case split(SplitVideoView)
  }

  let kind: String
  private let window: VideoWindow
  private let content: Content
  private let pictureInPicture: PictureInPictureWindow
  /// Only where it is wanted: on Wayland watching costs wake-ups.
  private let background: BackgroundMonitor?
  private let gravity: VideoGravity
  private var views: [StreamID: RemoteVideoView] = [:]
  private var states: [StreamID: StreamState] = [:]
  /// The stream in picture-in-picture.
  private var pictureInPictureStreamID: StreamID?
  private let help: String

  /// - Parameters:
  ///   - placement: of the picture-in-picture window; nil takes the remembered one.
  ///   - wish: called on the main actor.
  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  init(
    size: PictureSize, layout: PlayCommand.Layout, placement: WindowPlacement?, gravity: VideoGravity,
    watchesBackground: Bool, help: String, wish: @escaping @MainActor (Wish) -> Void
  ) throws(PipSinkError) {
    kind = try GTKDisplay.open().rawValue
    self.gravity = gravity
    self.help = help
    switch layout {
    case .grid:
      let grid = try GridVideoView()
      content = .grid(grid)
      window = try VideoWindow(content: grid, size: size)
    case .split:
      let split = try SplitVideoView()
      content = .split(split)
      window = try VideoWindow(content: split, size: size)
    }
    if let placement { placement.save(to: WindowPlacement.defaultPath) }
    pictureInPicture = try PictureInPictureWindow()
    background = watchesBackground ? BackgroundMonitor(window) { wish(.background($0)) } : nil
    window.didRequestClose = { wish(.quit) }
    let key = { (keyval: UInt32) in
      // A keyval below 128 is its ASCII character.
      guard keyval < 128, let scalar = Unicode.Scalar(keyval) else { return false }
      wish(.key(Character(scalar)))
      return true
    }
    window.keyPressed = key
    pictureInPicture.keyPressed = key
  }

  var pictureInPictureWindow: any PictureInPictureHost { pictureInPicture }

  func inAppLayer(for id: StreamID) throws(PipSinkError) -> SampleBufferDisplayLayer? {
    if let view = views[id] { return view.layer }
    let view = try RemoteVideoView(streamID: id, videoGravity: gravity)
    views[id] = view
    switch content {
    case .grid(let grid): grid.add(view)
    case .split(let split) where split.local == nil: split.local = view
    case .split(let split) where split.remote == nil: split.remote = view
    // There are two places.
    case .split: break
    }
    showOrHideRemote()
    return view.layer
  }

  func removeStream(_ id: StreamID) {
    guard let view = views.removeValue(forKey: id) else { return }
    states[id] = nil
    switch content {
    case .grid(let grid): grid.remove(view)
    case .split(let split) where split.local === view: split.local = nil
    case .split(let split) where split.remote === view: split.remote = nil
    case .split: break
    }
    showOrHideRemote()
  }

  func show() {
    window.show()
  }

  /// Calls `handler` when the display server has gone; see ``GTKDisplay/onLoss(_:)``.
  func onLoss(_ handler: @escaping @MainActor () -> Void) { GTKDisplay.onLoss(handler) }

  /// Brings the app's window back.
  func present() { window.present() }

  func toggleFullscreen() { window.toggleFullscreen() }
  func toggleHelp() { window.toggleHelp(help) }

  func pictureInPictureDidChange(to id: StreamID?) {
    pictureInPictureStreamID = id
    for streamID in views.keys { showPlaceholder(of: streamID) }
    showOrHideRemote()
  }

  func streamDidChange(_ id: StreamID, to state: StreamState) {
    states[id] = state
    showPlaceholder(of: id)
    showOrHideRemote()
  }

  /// In the split layout the own picture has the whole width while the other is not there.
  private func showOrHideRemote() {
    guard case .split(let split) = content, let remote = split.remote?.streamID else { return }
    split.showsRemote = remote != pictureInPictureStreamID && states[remote] != .ended
  }

  private func showPlaceholder(of id: StreamID) {
    views[id]?.placeholder = (states[id] ?? .waiting).placeholder(
      isInPictureInPicture: id == pictureInPictureStreamID)
  }

  var convertedFrameCount: UInt64? {
    views.values.reduce(pictureInPicture.view.convertedFrameCount) { $0 + $1.view.convertedFrameCount }
  }

  func images(pipStream: StreamID?) -> [(name: String, image: BGRAImage)] {
    let shown =
      views.keys.sorted().compactMap { id in views[id].map { ("inApp-\(id)", $0.view) } }
      + (pipStream.map { [("pip-\($0)", pictureInPicture.view)] } ?? [])
    return shown.compactMap { name, view in view.image().map { (name, $0) } }
  }
}

extension StreamState {
  /// What a stream's place in the app shows over its picture; nil shows the picture.
  func placeholder(isInPictureInPicture: Bool) -> RemoteVideoView.Placeholder? {
    switch self {
    case .waiting: .waiting
    case .playing: isInPictureInPicture ? .inPictureInPicture : nil
    case .reconnecting: .reconnecting
    case .ended: .ended
    case .failed(let reason): .failed(reason)
    }
  }
}
