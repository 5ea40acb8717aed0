import PipSink

/// A rectangle in a window in which a stream's pictures are shown.
package protocol WindowTile: ScreenRenderer {
  /// The tile's rectangle in the window, in pixels; nil hides the tile. A picture that is already shown follows at
  /// once.
  var rectangle: PictureRect? { get set }

  /// Draws the current decoration over the picture that is shown. It can be called on any thread, and may wait for the
  /// server.
  func redraw()

  /// A copy of the picture that is shown, without the decoration over it, or nil when no picture is shown.
  func image() -> BGRAImage?

  /// The number of frames that have been converted for this tile.
  var convertedFrameCount: UInt64 { get }

  /// Stops using the window, so that no frame is shown in it any more. It can be called on any thread.
  ///
  /// - Returns: false when a request to the server may still be in progress.
  @discardableResult
  func leaveWindow() -> Bool
}

/// Creates tiles in a window, which may belong to a toolkit.
@MainActor
package protocol WindowTileMaker {
  /// Whether the display server has gone or has destroyed the window. No tile can be created then.
  var isBroken: Bool { get }
  /// Creates a tile in the window, which lasts as long as the window. It is hidden until it gets a frame.
  ///
  /// - Parameters:
  ///   - decoration: what is drawn over the pictures, in pixels of the window.
  ///   - renderer: who draws frames.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server has gone.
  func makeTile(decoration: WindowOverlay, renderer: WindowRenderer) throws(PipSinkError) -> any WindowTile
  /// Removes a tile from the window.
  func remove(_ tile: any WindowTile)
  /// Sends all pending requests to the server.
  func flush()
}
