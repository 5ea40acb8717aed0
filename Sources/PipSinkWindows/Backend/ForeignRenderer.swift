import PipSink

/// A renderer that shows frames in a window of another owner, in a tile of its own.
package protocol ForeignRenderer: ScreenRenderer {
  /// The part of the window in which pictures are shown, in the units in which its owner measures it.
  var renderRectangle: PictureRect? { get set }
  /// The text that is shown instead of the picture; nil shows the picture. It can be set on any thread, and may wait for
  /// the server.
  var text: String? { get set }

  /// Stops using the window, so that its owner may destroy it.
  ///
  /// - Returns: false when a request to the server may still be in progress.
  @discardableResult
  func leaveWindow() -> Bool
}
