import PipSink

/// What lies over the pictures of a window: controls, texts, marks. Called on the presenting threads of its pictures.
package protocol PictureDecoration: AnyObject, Sendable {
  /// - Parameter area: where a picture is in the window, in pixels, as in what follows.
  func isShown(in area: PictureRect) -> Bool

  /// Whether nothing can be seen of a picture.
  func hides(_ area: PictureRect) -> Bool

  /// Draws on a picture.
  ///
  /// - Parameters:
  ///   - pixels: BGRx, `stride` bytes a row.
  ///   - willDraw: called before anything is drawn with each rectangle of the picture that is drawn on.
  func draw(
    on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void)
}

/// What lies over a window, for pictures whose place is told from the corner of their part of it.
final class OffsetDecoration: PictureDecoration {
  private let decoration: any PictureDecoration
  private let origin: @Sendable () -> (x: Int, y: Int)

  /// - Parameter origin: says where the part is in the window, in pixels.
  init(_ decoration: any PictureDecoration, origin: @escaping @Sendable () -> (x: Int, y: Int)) {
    (self.decoration, self.origin) = (decoration, origin)
  }

  private func inWindow(_ area: PictureRect) -> PictureRect {
    let origin = origin()
    return PictureRect(x: area.x + origin.x, y: area.y + origin.y, width: area.width, height: area.height)
  }

  func isShown(in area: PictureRect) -> Bool { decoration.isShown(in: inWindow(area)) }
  func hides(_ area: PictureRect) -> Bool { decoration.hides(inWindow(area)) }

  func draw(
    on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void
  ) {
    decoration.draw(on: pixels, stride: stride, in: inWindow(area), willDraw: willDraw)
  }
}
