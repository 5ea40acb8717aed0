import PipSink

/// A text that replaces the pictures of a tile in a window of another owner.
final class CoverDecoration: PictureDecoration {
  private struct State {
    var text: String?
    var scale = 1.0
  }

  private let state = Locked(State())

  /// The text; nil shows the picture.
  var text: String? {
    get { state.withLock { $0.text } }
    set { state.withLock { $0.text = newValue } }
  }

  /// Sets the number of pixels in a unit of the text.
  func setScale(_ scale: Double) { state.withLock { $0.scale = scale } }

  func isShown(in area: PictureRect) -> Bool { text != nil }
  func hides(_ area: PictureRect) -> Bool { text != nil }
  /// It replaces pictures, and is not drawn over any.
  var revision: UInt64 { 0 }

  func draw(
    on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void
  ) {
    let (text, scale) = state.withLock { ($0.text, $0.scale) }
    guard let text else { return }
    willDraw(PictureRect(x: 0, y: 0, width: area.width, height: area.height))
    PlaceholderPicture.draw(text, on: pixels, stride: stride, size: area.size, scale: scale)
  }
}
