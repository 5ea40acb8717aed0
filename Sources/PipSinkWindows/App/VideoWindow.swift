import PipSink

/// An app's window on X11 or Wayland that shows a ``VideoContainer``. It needs no toolkit, and no main loop other than
/// the main actor.
@MainActor
public final class VideoWindow {
  /// The role of every app window on X11 (`WM_WINDOW_ROLE`) and its tag on Wayland (`xdg-toplevel-tag`). Window rules
  /// can match it.
  public static let role = "in-app"

  /// The window's title, which the desktop shows in title bars and lists of windows. It can change at any time.
  public var title: String { didSet { native?.setTitle(title) } }
  /// The container with the views that fill the window.
  public let content: VideoContainer
  /// The kind of display server that the window is on.
  public let system: WindowSystem
  /// Called when the user wants to close the window. The window stays open until ``hide()`` is called.
  public var didRequestClose: (() -> Void)?
  /// Called when the display server has gone or has destroyed the window. ``show()`` then creates the window again if a
  /// server can be reached.
  public var didLoseWindow: ((PipSinkError) -> Void)?
  /// Called when a key is pressed in the window without Control, Alt or Super, with the keysym that it has without Caps
  /// Lock and in a Latin layout. It returns whether the key had a meaning. Of a key that is held, only repetitions of
  /// keys that type no character are reported.
  public var keyPressed: ((_ keysym: UInt32) -> Bool)?
  /// Called with every key before ``keyPressed``. It returns whether it has handled the key.
  package var anyKeyPressed: ((WindowKey) -> Bool)?
  /// Called after each change of ``isInBackground``. While it is nil, changes are not watched.
  public var backgroundChanged: ((_ isInBackground: Bool) -> Void)? {
    didSet {
      native?.isBackgroundWatched = backgroundChanged != nil
      noteBackground()
    }
  }
  /// Whether the user cannot see the window. It is kept up to date only while ``backgroundChanged`` is set.
  public private(set) var isInBackground = false

  private let size: PictureSize
  private let options: BackgroundOptions
  private var native: (any NativeAppWindow)?
  /// Whether the last window was fullscreen when it was lost, so that the next one is as well.
  private var wasFullscreen = false
  /// Whether the window keeps the screen on while it can be seen.
  var isScreenKeptOn = false { didSet { native?.keepScreenOn(isScreenKeptOn) } }

  /// Creates a window that is hidden until ``show()`` is called. This connects to the display server.
  ///
  /// - Parameters:
  ///   - content: the container that fills the window.
  ///   - title: the window's title; nil for the application's name (`g_set_application_name`), or that of the program.
  ///   - size: the window's first size in logical pixels, which the desktop multiplies by its scale factor.
  ///   - backgroundOptions: when the window counts as being in the background.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when no display server can be reached.
  public init(
    content: VideoContainer, title: String? = nil, size: PictureSize,
    backgroundOptions: BackgroundOptions = BackgroundOptions()
  ) throws(PipSinkError) {
    system = try WindowSystem.current()
    self.title = title ?? WindowIdentity.applicationName
    self.content = content
    self.size = size
    options = backgroundOptions
    try connect()
  }

  isolated deinit {
    content.leaveWindow()
  }

  private func connect() throws(PipSinkError) {
    guard native == nil else { return }
    let native = try system.makeAppWindow(size: size, options) { [weak self] in self?.handle($0) }
    native.setTitle(title)
    try content.show(in: native)
    native.isBackgroundWatched = backgroundChanged != nil
    native.setFullscreen(wasFullscreen)
    native.keepScreenOn(isScreenKeptOn)
    self.native = native
  }

  /// Shows the window. If it has been lost, this creates it again.
  ///
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when a lost window cannot be created again.
  public func show() throws(PipSinkError) {
    try connect()
    native?.show()
  }

  /// Hides the window. ``show()`` shows it again.
  public func hide() { native?.hide() }

  /// The monitor that shows most of the window. It is nil while the window is on no monitor, and where the display
  /// server does not say.
  var monitor: WindowMonitor? { native?.monitor }

  /// Brings the window to the user when it is minimised, covered by others, or on another workspace. Desktops that do
  /// not let programs do that mark the window as needing attention instead. It does nothing while the window is hidden.
  ///
  /// The call returns once the display server has been asked, after at most a second. The window appears after that.
  public func present() async { await native?.present() }

  /// Makes the window fullscreen, or ends that.
  public func toggleFullscreen() {
    guard let native else { return }
    native.setFullscreen(!native.isFullscreen)
  }

  /// Shows a text over all views, or hides it when one is shown already.
  ///
  /// - Parameter text: the text, in lines that are shown in a monospaced font.
  public func toggleHelp(_ text: String) { content.toggleHelp(text) }

  private func handle(_ event: WindowEvent) {
    guard native != nil else { return }
    if content.handle(event) { return }
    switch event {
    case .closeRequested: didRequestClose?()
    case .key(let key):
      if anyKeyPressed?(key) != true, let command = key.command { _ = keyPressed?(command) }
    case .stateChanged, .screenChanged, .keyboard: noteBackground()
    case .lost: lose()
    case .resized, .exposed, .pressed, .released, .moved, .entered, .scrolled, .left, .dragLost: break
    }
  }

  private func noteBackground() {
    guard let native, backgroundChanged != nil, native.isInBackground != isInBackground else { return }
    isInBackground = native.isInBackground
    backgroundChanged?(isInBackground)
  }

  private func lose() {
    content.leaveWindow()
    wasFullscreen = native?.isFullscreen ?? wasFullscreen
    native = nil
    didLoseWindow?(.system(.displayUnavailable(reason: "the display server has gone, or the window was killed")))
  }
}

extension WindowSystem {
  /// Creates an app's window on this kind of display server.
  @MainActor
  func makeAppWindow(
    size: PictureSize, _ options: BackgroundOptions, handler: @escaping @MainActor @Sendable (WindowEvent) -> Void
  ) throws(PipSinkError) -> any NativeAppWindow {
    switch self {
    case .x11: try X11AppWindow(size: size, options, handler: handler)
    case .wayland: try WaylandAppWindow(size: size, options, handler: handler)
    }
  }
}
