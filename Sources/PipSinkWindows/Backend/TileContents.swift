import PipSink

/// What a tile shows, as far as its pictures need to know it.
enum TileContents {
  /// Black, and a text at most.
  case black
  /// A picture, which is still in memory.
  case picture
  /// A text that replaces a picture. The picture's memory was released, and the display layer has the picture.
  case releasedPicture

  /// The contents when a text replaces them for long, so that their memory is released.
  var released: TileContents { self == .black ? .black : .releasedPicture }

  /// Whether the contents can be shown with another decoration. That is not possible at another size, where the next
  /// picture shows the decoration, or when the picture has been released and its display layer has been asked for it.
  ///
  /// - Parameters:
  ///   - hasSize: whether the picture has the size at which it would be shown.
  ///   - isHidden: whether the decoration covers the picture completely.
  func canRedraw(hasSize: Bool, isHidden: Bool) -> Bool {
    switch self {
    case .black: true
    case .picture: hasSize
    case .releasedPicture: isHidden
    }
  }
}
