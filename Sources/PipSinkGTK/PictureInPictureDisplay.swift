import CGTK
import PipSink

/// The X11 connection that picture-in-picture windows have for themselves.
///
/// A user who ends a window with xkill ends the connection that it was made on. With one of their own, it takes the
/// picture-in-picture windows with it and nothing else. Those that are opened after that are on the app's connection.
@MainActor
enum PictureInPictureDisplay {
  private static var display: OpaquePointer?
  /// Xlib's name for it, for its error handlers, which may run on any thread.
  private nonisolated static let connection = Locked<UInt?>(nil)
  /// Those that live.
  private static var windows: [ObjectIdentifier: () -> PictureInPictureWindow?] = [:]

  /// Opens it beside the app's.
  static func open() {
    guard let opened = gdk_display_open(nil), let xDisplay = gdk_x11_display_get_xdisplay(opened) else { return }
    display = opened
    connection.withLock { $0 = UInt(bitPattern: xDisplay) }
    DisplayWatch.watch(xDisplay) { display, _ in
      PictureInPictureDisplay.noteLoss()
      DisplayWatch.silence(display)
    }
  }

  /// The screen to make windows on; nil for the app's own.
  static var screen: OpaquePointer? { display.flatMap { gdk_display_get_default_screen($0) } }

  /// Whether a connection is this one, also after its end. From any thread.
  nonisolated static func isOwn(_ xDisplay: OpaquePointer?) -> Bool {
    xDisplay != nil && connection.withLock { $0 } == UInt(bitPattern: xDisplay)
  }

  static func register(_ window: PictureInPictureWindow) {
    windows = windows.filter { $0.value() != nil }
    windows[ObjectIdentifier(window)] = { [weak window] in window }
  }

  /// In the middle of a call of Xlib's: what follows is done when that has returned.
  private nonisolated static func noteLoss() { IdleCall(priority: G_PRIORITY_HIGH) { lose() }.request() }

  private static func lose() {
    guard let dead = display, !GTKDisplay.isLost else { return }
    display = nil
    for window in windows.values { window()?.displayDied() }
    windows = [:]
    gdk_display_close(dead)
  }
}
