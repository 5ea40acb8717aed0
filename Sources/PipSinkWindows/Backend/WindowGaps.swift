import PipSink

/// The parts of a window in which no stream is. What is drawn over the pictures is drawn there, too, on black.
@MainActor
final class WindowGaps {
  private let overlay = WindowOverlay()
  private var tiles: [any WindowTile] = []
  private var isEmpty = true

  /// Gives the gaps their rectangles in the window, in pixels.
  ///
  /// - Parameter rectangles: at most ``GridLayout/maximumGapCount``.
  func move(to rectangles: [PictureRect], in window: (any NativeWindow)?) {
    // A window that is lost meanwhile reports that.
    while tiles.count < rectangles.count,
      let tile = try? window?.makeTile(decoration: overlay, renderer: .processor)
    { tiles.append(tile) }
    for (index, tile) in tiles.enumerated() {
      tile.rectangle = index < rectangles.count ? rectangles[index] : nil
    }
  }

  /// Draws what is over the window. Without anything, the gaps are black.
  func draw(_ parts: [WindowOverlay.Part]) {
    let wasEmpty = isEmpty
    isEmpty = parts.isEmpty
    overlay.set(parts)
    guard !wasEmpty || !isEmpty else { return }
    for tile in tiles where tile.rectangle != nil { tile.redraw() }
  }

  /// Stops using the window.
  func leaveWindow() {
    for tile in tiles { tile.leaveWindow() }
    tiles = []
  }
}
