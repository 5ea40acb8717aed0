/// What is known of a window that tells whether the user can see it.
struct BackgroundSigns {
  var isMapped = false
  var isMinimized = false
  /// Whether others cover it fully.
  var isObscured = false
  var isFocused = true
  /// Whether the compositor asks for no frames of it (Wayland).
  var isFrameMissing = false
  /// The number of the window's workspace, and of the one that is shown (X11).
  var desktop: (own: UInt32, shown: UInt32)?

  func isInBackground(_ options: BackgroundMonitor.Options) -> Bool {
    let isHidden = !isMapped || isMinimized || isFrameMissing || isOnOtherDesktop
    return isHidden || (options.isObscuredCounted && isObscured) || (options.isUnfocusedCounted && !isFocused)
  }

  private var isOnOtherDesktop: Bool {
    guard let desktop else { return false }
    // All ones is every desktop.
    return desktop.own != .max && desktop.own != desktop.shown
  }
}
