import CWindows
import PipSink

/// Draws a placeholder text as a picture, for windows and widgets that do not draw over their pictures.
package enum PlaceholderPicture {
  /// Fills a picture with a text on its background, as opaque BGRA. It can be called on any thread.
  ///
  /// - Parameters:
  ///   - text: the text, for instance ``StreamPlaceholder/text``.
  ///   - pixels: the picture's memory, from the top row down, with four bytes for each pixel. It is used only during the
  ///     call.
  ///   - stride: the number of bytes from one row to the next.
  ///   - size: the picture's size, in pixels.
  ///   - scale: the number of pixels in a unit of the text.
  package static func draw(
    _ text: String, on pixels: UnsafeMutablePointer<UInt8>, stride: Int, size: PictureSize, scale: Double
  ) {
    let area = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    let overlay = WindowOverlay()
    overlay.set(
      OverlayDrawing.coverParts(
        OverlayDrawing.cover(text, size: size, scale: scale), in: area))
    overlay.draw(on: pixels, stride: stride, in: area) { _ in }
    // Cairo draws into a format that leaves the fourth byte undefined.
    FrameCanvas.makeOpaque(pixels, stride: stride, size: size)
  }
}
