/// The conditions under which an app's window counts as being in the background. A window that is hidden, minimised or
/// on another workspace always does.
public struct BackgroundOptions: Hashable, Sendable {
  /// Whether a window without the keyboard focus counts as being in the background. It is false by default.
  public var isUnfocusedCounted = false
  /// Whether a window that other windows cover completely counts as being in the background. It is false by default,
  /// and has an effect on X11 only.
  public var isObscuredCounted = false

  /// Creates options under which only windows that are hidden, minimised or on another workspace are in the background.
  public init() {}
}

/// What is known about whether the user can see a window.
package struct BackgroundSigns {
  /// Whether the window has been shown and not hidden since.
  package var isMapped = false
  /// Whether the window is minimised.
  package var isMinimized = false
  /// Whether other windows cover it completely (X11).
  package var isObscured = false
  /// Whether it has the keyboard focus.
  package var isFocused = true
  /// Whether the compositor requests no frames from the window, or says that it is suspended (Wayland).
  package var isFrameMissing = false
  /// The number of the window's workspace, and of the one that is shown (X11).
  package var desktop: (own: UInt32, shown: UInt32)?

  /// Creates the signs of a window that has not been shown yet.
  package init() {}

  /// Whether the window counts as being in the background under these options.
  package func isInBackground(_ options: BackgroundOptions) -> Bool {
    let isHidden = !isMapped || isMinimized || isFrameMissing || isOnOtherDesktop
    return isHidden || (options.isObscuredCounted && isObscured) || (options.isUnfocusedCounted && !isFocused)
  }

  private var isOnOtherDesktop: Bool {
    guard let desktop else { return false }
    // A number with all bits set means every desktop (EWMH, _NET_WM_DESKTOP).
    return desktop.own != .max && desktop.own != desktop.shown
  }
}
