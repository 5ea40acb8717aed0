import PipSink

/// An app's window: its streams' pictures, and a help text. It needs no toolkit, and no main loop but the main actor.
@MainActor
public final class VideoWindow {
  public static let title = "PipSink"
  /// The role (X11) by which window managers know it.
  public static let role = "in-app"

  public let content: VideoContainer
  /// Which display server has the window.
  public let system: WindowSystem
  /// The user closed the window.
  public var didRequestClose: (() -> Void)?
  /// The window has gone with its display server, or was killed. ``show()`` makes it anew where there is a server again.
  public var didLoseWindow: ((PipSinkError) -> Void)?
  /// A key was pressed; says whether it meant something.
  public var keyPressed: ((_ keysym: UInt32) -> Bool)?
  /// Told after each change of ``isInBackground``. While this is nil, nobody looks.
  public var backgroundChanged: ((_ isInBackground: Bool) -> Void)? {
    didSet {
      native?.isBackgroundWatched = backgroundChanged != nil
      noteBackground()
    }
  }
  public private(set) var isInBackground = false

  private let size: PictureSize
  private let options: BackgroundOptions
  private var native: (any NativeAppWindow)?
  /// Of a window that is gone, for the next one.
  private var wasFullscreen = false

  /// Connects to the display server; ``show()`` shows the window.
  ///
  /// - Parameters:
  ///   - content: fills it.
  ///   - size: in the desktop's pixels, which a scale factor makes several of the screen's.
  ///   - backgroundOptions: when the window counts as being in the background.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  public init(
    content: VideoContainer, size: PictureSize, backgroundOptions: BackgroundOptions = BackgroundOptions()
  ) throws(PipSinkError) {
    system = try WindowSystem.current()
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
    try content.show(in: native)
    native.isBackgroundWatched = backgroundChanged != nil
    native.setFullscreen(wasFullscreen)
    self.native = native
  }

  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)`` where the window had gone, and cannot be made again.
  public func show() throws(PipSinkError) {
    try connect()
    native?.show()
  }

  public func hide() { native?.hide() }

  /// The monitor that it is on; nil while it is on none, and where the display server does not say.
  var monitor: WindowMonitor? { native?.monitor }

  /// Shows it again where it was minimised, covered, or on another workspace.
  public func present() { native?.present() }

  public func toggleFullscreen() {
    guard let native else { return }
    native.setFullscreen(!native.isFullscreen)
  }

  /// Shows a text over everything, or takes it away.
  public func toggleHelp(_ text: String) { content.toggleHelp(text) }

  private func handle(_ event: WindowEvent) {
    guard native != nil else { return }
    if content.handle(event) { return }
    switch event {
    case .closeRequested: didRequestClose?()
    case .key(let keysym): _ = keyPressed?(keysym)
    case .stateChanged, .screenChanged: noteBackground()
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
