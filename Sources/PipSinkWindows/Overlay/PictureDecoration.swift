import PipSink

/// What is drawn over the pictures of a window: controls, texts and marks. It is called on the threads that present the
/// pictures. All rectangles are in pixels of the window.
package protocol PictureDecoration: AnyObject, Sendable {
  /// Whether anything is drawn over the picture in the rectangle `area`.
  func isShown(in area: PictureRect) -> Bool

  /// Whether the decoration covers the picture in the rectangle `area` completely.
  func hides(_ area: PictureRect) -> Bool

  /// A number that is another one when something else is drawn.
  var revision: UInt64 { get }

  /// Draws the decoration on a picture.
  ///
  /// - Parameters:
  ///   - pixels: the picture's BGRx pixels, with `stride` bytes in each row.
  ///   - area: the picture's rectangle in the window.
  ///   - willDraw: called before anything is drawn, with each rectangle of the picture that will be drawn on, in pixels
  ///     from the picture's upper left corner.
  func draw(
    on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void)
}
