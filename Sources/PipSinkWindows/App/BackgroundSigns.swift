/// When an app's window counts as being in the background.
public struct BackgroundOptions: Hashable, Sendable {
  /// Whether a window without the focus is in the background.
  public var isUnfocusedCounted = false
  /// Whether a window that is fully covered is in the background (X11).
  public var isObscuredCounted = false

  public init() {}
}

/// What is known of a window that tells whether the user can see it.
package struct BackgroundSigns {
  package var isMapped = false
  package var isMinimized = false
  /// Whether others cover it fully.
  package var isObscured = false
  package var isFocused = true
  /// Whether the compositor asks for no frames of it, or says that it is suspended (Wayland).
  package var isFrameMissing = false
  /// The number of the window's workspace, and of the one that is shown (X11).
  package var desktop: (own: UInt32, shown: UInt32)?

  package init() {}

  package func isInBackground(_ options: BackgroundOptions) -> Bool {
    let isHidden = !isMapped || isMinimized || isFrameMissing || isOnOtherDesktop
    return isHidden || (options.isObscuredCounted && isObscured) || (options.isUnfocusedCounted && !isFocused)
  }

  private var isOnOtherDesktop: Bool {
    guard let desktop else { return false }
    // All ones is every desktop.
    return desktop.own != .max && desktop.own != desktop.shown
  }
}
