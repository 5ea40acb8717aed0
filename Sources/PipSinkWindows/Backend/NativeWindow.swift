import PipSink

/// A window on one kind of display server. The X11 and the Wayland back-end implement it, each in its own folder;
/// ``VideoWindow`` and ``PictureInPictureWindow`` define how windows behave on both.
///
/// Positions and sizes of windows are in units. A unit is a logical pixel on Wayland, and as many pixels as the
/// desktop's scale factor says on X11. Sizes of pictures are in pixels.
@MainActor
package protocol NativeWindow: AnyObject {
  /// The number of pixels in a unit, for instance 1.5.
  var scale: Double { get }

  /// The window's size in pixels, as the server has reported it. It is 0 by 0 until then.
  var size: PictureSize { get }

  /// Whether the server has gone or has destroyed the window. A broken window cannot be used any more.
  var isBroken: Bool { get }

  /// Whether the user wants animations.
  var animates: Bool { get }

  /// Creates a place for pictures in the window. It is hidden until it gets a frame, and lasts as long as the window.
  ///
  /// - Parameter decoration: what is drawn over the pictures, in pixels of the window.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server has gone.
  func makeTile(decoration: WindowOverlay) throws(PipSinkError) -> any WindowTile

  /// Removes a place for pictures from the window.
  func remove(_ tile: any WindowTile)

  /// Sends all pending requests to the server.
  func flush()

  /// Keeps the screen on while the window can be seen, or lets it go off again. It does nothing where windows cannot ask
  /// for that, as on X11.
  func keepScreenOn(_ isKeptOn: Bool)
}

extension NativeWindow {
  package func keepScreenOn(_ isKeptOn: Bool) {}
}
