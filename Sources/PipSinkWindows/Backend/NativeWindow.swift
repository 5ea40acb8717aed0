import PipSink

/// A window on one kind of display server. The X11 and the Wayland back-end implement it, each in its own folder;
/// ``VideoWindow`` and ``PictureInPictureWindow`` define how windows behave on both.
///
/// Positions and sizes of windows are in units. A unit is a logical pixel on Wayland, and as many pixels as the
/// desktop's scale factor says on X11. Sizes of pictures are in pixels.
@MainActor
package protocol NativeWindow: WindowTileMaker, AnyObject {
  /// The number of pixels in a unit, for instance 1.5.
  var scale: Double { get }

  /// The window's size in pixels, as the server has reported it. It is 0 by 0 until then.
  var size: PictureSize { get }

  /// How the user wants windows to look. It is read anew each time.
  var look: DesktopLook { get }

  /// Keeps the screen on while the window can be seen, or lets it go off again. It does nothing where windows cannot ask
  /// for that, as on X11.
  func keepScreenOn(_ isKeptOn: Bool)
}

extension NativeWindow {
  package func keepScreenOn(_ isKeptOn: Bool) {}
}
