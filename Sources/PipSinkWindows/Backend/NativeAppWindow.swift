import PipSink

/// The back-end of an app's window.
@MainActor
package protocol NativeAppWindow: NativeWindow {
  /// The monitor that shows most of the window. It is nil while the window is on no monitor, and where the display
  /// server does not say.
  var monitor: WindowMonitor? { get }

  /// Sets the window's title. It is called before the window is shown for the first time.
  func setTitle(_ title: String)

  /// Shows the window.
  func show()

  /// Hides the window. ``show()`` shows it again.
  func hide()

  /// Brings the window to the user when it is minimised, covered or on another workspace. The user's last action in one
  /// of the program's windows is given to the desktop as the reason. It returns when the desktop has been asked.
  func present() async

  /// Whether the window is fullscreen or about to be. The desktop's own shortcuts change it as well.
  var isFullscreen: Bool { get }

  /// Makes the window fullscreen or ends that. For a hidden window this takes effect when it is shown.
  func setFullscreen(_ isFullscreen: Bool)

  /// Whether the user cannot see the window. Changes are announced by ``WindowEvent/stateChanged``.
  var isInBackground: Bool { get }

  /// Whether the caller needs ``isInBackground``. While it is false, the back-end may spare the work of finding out.
  var isBackgroundWatched: Bool { get set }
}
