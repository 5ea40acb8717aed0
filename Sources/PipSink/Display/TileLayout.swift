/// Tiles for any number of streams: as many rows and columns as show them largest.
public enum GridLayout {
  /// - Parameters:
  ///   - count: of tiles.
  ///   - size: of the surface, in pixels.
  ///   - aspectRatio: width divided by height of what the tiles show.
  /// - Returns: `count` rectangles, row by row from the upper left. A last row that is not full is in the middle.
  public static func frames(count: Int, in size: PictureSize, aspectRatio: Double = 16.0 / 9) -> [PictureRect] {
    guard count > 0, size.width > 0, size.height > 0 else { return [] }
    // Of two that are as good, the one with more columns: side by side rather than one above the other.
    let columns = (1...count).reversed().max {
      area(columns: $0, count, size, aspectRatio) < area(columns: $1, count, size, aspectRatio)
    }
    return frames(columns: columns ?? 1, count: count, in: size)
  }

  /// What the pictures cover together when there are so many columns.
  private static func area(columns: Int, _ count: Int, _ size: PictureSize, _ aspectRatio: Double) -> Double {
    let rows = (count + columns - 1) / columns
    let width = Double(size.width) / Double(columns)
    let height = Double(size.height) / Double(rows)
    let fitted = min(width, height * aspectRatio)
    return fitted * fitted / aspectRatio * Double(count)
  }

  private static func frames(columns: Int, count: Int, in size: PictureSize) -> [PictureRect] {
    let rows = (count + columns - 1) / columns
    return (0..<count).map { index in
      let (row, column) = (index / columns, index % columns)
      let inRow = row == rows - 1 ? count - row * columns : columns
      // Half a tile's width for each that the last row is short of.
      let offset = (columns - inRow) * size.width / (2 * columns)
      let (left, right) = (column * size.width / columns, (column + 1) * size.width / columns)
      let (top, bottom) = (row * size.height / rows, (row + 1) * size.height / rows)
      return PictureRect(x: left + offset, y: top, width: right - left, height: bottom - top)
    }
  }
}

/// The own picture beside the other side's: the whole width alone, half each with it.
public enum SplitLayout {
  /// - Parameter size: of the surface, in pixels.
  /// - Returns: where the local and the remote picture go; no place for the remote one that is not shown.
  public static func frames(in size: PictureSize, showsRemote: Bool) -> (local: PictureRect, remote: PictureRect?) {
    guard showsRemote else { return (PictureRect(x: 0, y: 0, width: size.width, height: size.height), nil) }
    let half = size.width / 2
    return (
      PictureRect(x: 0, y: 0, width: half, height: size.height),
      PictureRect(x: half, y: 0, width: size.width - half, height: size.height)
    )
  }
}
