/// Arranges any number of streams in a grid whose rows and columns show them as large as possible.
package enum GridLayout {
  /// The places of the tiles.
  ///
  /// - Parameters:
  ///   - count: the number of tiles.
  ///   - size: the size of the whole area, in pixels.
  ///   - aspectRatio: width divided by height of what the tiles show.
  /// - Returns: `count` rectangles, row by row from the upper left. A last row that is not full is centred.
  package static func rectangles(count: Int, in size: PictureSize, aspectRatio: Double = 16.0 / 9) -> [PictureRect] {
    guard count > 0, size.width > 0, size.height > 0 else { return [] }
    // If two are equally good, the one with more columns wins: side by side rather than one above the other.
    let columns = (1...count).reversed().max {
      area(columns: $0, count, size, aspectRatio) < area(columns: $1, count, size, aspectRatio)
    }
    return rectangles(columns: columns ?? 1, count: count, in: size)
  }

  /// The largest number of rectangles that tiles leave free.
  package static let maximumGapCount = 2

  /// The rectangles that tiles leave free: those on both sides of a last row that is not full, and the whole area where
  /// there are no tiles.
  ///
  /// - Parameters:
  ///   - tiles: the places of the tiles, in any order.
  ///   - size: the size of the whole area, in pixels.
  package static func gaps(beside tiles: [PictureRect], in size: PictureSize) -> [PictureRect] {
    guard let lowest = tiles.max(by: { $0.y < $1.y }) else {
      return [PictureRect(x: 0, y: 0, width: size.width, height: size.height)]
    }
    let row = tiles.filter { $0.y == lowest.y }
    let (start, end) = (row.map(\.x).min() ?? 0, row.map { $0.x + $0.width }.max() ?? 0)
    return [
      PictureRect(x: 0, y: lowest.y, width: start, height: lowest.height),
      PictureRect(x: end, y: lowest.y, width: size.width - end, height: lowest.height),
    ].filter { $0.width > 0 }
  }

  /// The total area of the pictures in a grid with this many columns.
  private static func area(columns: Int, _ count: Int, _ size: PictureSize, _ aspectRatio: Double) -> Double {
    let rows = (count + columns - 1) / columns
    let width = Double(size.width) / Double(columns)
    let height = Double(size.height) / Double(rows)
    let fitted = min(width, height * aspectRatio)
    return fitted * fitted / aspectRatio * Double(count)
  }

  /// The places of the tiles in a grid with this many columns.
  package static func rectangles(columns: Int, count: Int, in size: PictureSize) -> [PictureRect] {
    let rows = (count + columns - 1) / columns
    return (0..<count).map { index in
      let (row, column) = (index / columns, index % columns)
      let inRow = row == rows - 1 ? count - row * columns : columns
      // The row is indented by half a tile for each tile that it lacks.
      let offset = (columns - inRow) * size.width / (2 * columns)
      let (left, right) = (column * size.width / columns, (column + 1) * size.width / columns)
      let (top, bottom) = (row * size.height / rows, (row + 1) * size.height / rows)
      return PictureRect(x: left + offset, y: top, width: right - left, height: bottom - top)
    }
  }
}

/// Arranges the local picture beside the remote one: the local one has the whole width alone, and half of it beside the
/// remote one.
package enum SplitLayout {
  /// The places of the local and the remote picture.
  ///
  /// - Parameters:
  ///   - size: the size of the whole area, in pixels.
  ///   - showsRemote: whether the remote picture is shown.
  /// - Returns: the two places; nil for the remote picture when it is not shown.
  package static func rectangles(in size: PictureSize, showsRemote: Bool) -> (local: PictureRect, remote: PictureRect?)
  {
    guard showsRemote else { return (PictureRect(x: 0, y: 0, width: size.width, height: size.height), nil) }
    let half = size.width / 2
    return (
      PictureRect(x: 0, y: 0, width: half, height: size.height),
      PictureRect(x: half, y: 0, width: size.width - half, height: size.height)
    )
  }
}

/// Puts a small picture into a corner of a large one.
package enum CornerLayout {
  /// The place of the small picture: a quarter of the width and of the height, with a small gap to the edges.
  ///
  /// - Parameters:
  ///   - size: the size of the large picture, in pixels.
  ///   - isLeft: whether the corner is on the left side.
  ///   - isTop: whether the corner is at the top.
  package static func rectangle(in size: PictureSize, isLeft: Bool, isTop: Bool) -> PictureRect {
    let (width, height) = (size.width / 4, size.height / 4)
    let gap = min(size.width, size.height) / 30
    return PictureRect(
      x: isLeft ? gap : size.width - width - gap, y: isTop ? gap : size.height - height - gap, width: width,
      height: height)
  }
}
