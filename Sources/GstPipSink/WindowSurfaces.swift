import PipSink
import PipSinkGTK

/// Windows on X11 or Wayland: one for the streams in the app, opened when there is one, and the picture-in-picture
/// window. A stream whose application has a window for it is shown there.
final class WindowSurfaces: SessionSurfaces {
  private let grid: GridVideoView
  private let window: VideoWindow
  private let pictureInPicture: PictureInPictureWindow
  private var views: [StreamID: RemoteVideoView] = [:]
  /// Those in the window.
  private var shown: [SessionMember] = []
  private var foreign: [StreamID: X11WindowRenderer] = [:]
  private var background: BackgroundMonitor?
  private var isShown = false

  /// - Parameter didClose: called when the user closes the app's window.
  /// - Throws: ``PipSinkError/displayUnavailable(reason:)``.
  init(didClose: @escaping @MainActor () -> Void) throws(PipSinkError) {
    grid = try GridVideoView()
    window = try VideoWindow(content: grid, size: PictureSize(width: 960, height: 540))
    pictureInPicture = try PictureInPictureWindow()
    window.didRequestClose = didClose
    window.keyPressed = { [weak self] key in
      guard let self else { return false }
      for member in shown { ElementNavigation.send(key: key, to: member) }
      return !shown.isEmpty
    }
  }

  var pictureInPictureWindow: any PictureInPictureHost { pictureInPicture }

  func show(_ member: SessionMember, isInPictureInPicture: Bool) throws(PipSinkError) {
    let settings = member.settings
    // On Wayland a window of another connection's cannot be drawn in.
    guard settings.windowHandle == 0 || GTKDisplay.kind != .x11 else { return try show(member, in: settings) }
    if foreign.removeValue(forKey: member.streamID) != nil { member.layer.detach() }
    if !isInPictureInPicture, views[member.streamID] == nil {
      let view = try RemoteVideoView(streamID: member.streamID, layer: member.layer)
      view.view.pointerHandler = { [weak view] event in
        if let size = view?.view.renderSize { ElementNavigation.send(event, on: size, to: member) }
      }
      views[member.streamID] = view
      shown.append(member)
      grid.add(view)
    }
    let hasPicture = (member.statistics?.received ?? 0) > 0
    views[member.streamID]?.placeholder = isInPictureInPicture ? .inPictureInPicture : hasPicture ? nil : .waiting
    guard !isInPictureInPicture, !isShown else { return }
    isShown = true
    window.show()
  }

  /// In the application's own window.
  private func show(_ member: SessionMember, in settings: ElementSettings) throws(PipSinkError) {
    removeView(of: member)
    if let known = foreign[member.streamID], known.windowID == settings.windowHandle, known.mayUseWindow {
      known.renderRectangle = settings.renderRectangle
    } else {
      // Otherwise the application has taken it back meanwhile, and what it wants now is on its way.
      guard let access = member.accessToWindow(settings.windowHandle) else { return }
      // The window may be of GTK's, and new.
      GTKDisplay.synchronize()
      let renderer = try X11WindowRenderer(windowID: settings.windowHandle, access: access)
      renderer.renderRectangle = settings.renderRectangle
      foreign[member.streamID] = renderer
      member.layer.attach(to: renderer)
    }
  }

  func remove(_ member: SessionMember) {
    removeView(of: member)
    foreign[member.streamID] = nil
    member.layer.detach()
  }

  private func removeView(of member: SessionMember) {
    if let view = views.removeValue(forKey: member.streamID) { grid.remove(view) }
    shown.removeAll { $0 === member }
  }

  func present() {
    if isShown { window.present() }
  }

  func watchBackground(_ changed: ((Bool) -> Void)?) {
    background = changed.map { BackgroundMonitor(window, changed: $0) }
  }
}
