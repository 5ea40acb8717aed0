/// How streams are arranged in a picture-in-picture window.
public enum PictureInPictureLayout: String, CaseIterable, Sendable {
  /// One stream has the whole window.
  case single
  /// Two streams have one half each.
  case split
  /// One stream has the whole window, and another one, by default the user's own picture, a corner of it.
  case speaker
  /// Up to nine streams are in rows and columns. Those whose cameras are off keep their places.
  case grid

  /// The largest number of streams in a window.
  package static let maximumPlaceCount = 9

  /// The number of places in the window.
  package var placeCount: Int {
    switch self {
    case .single: 1
    case .split, .speaker: 2
    case .grid: Self.maximumPlaceCount
    }
  }

  /// The rectangles of places.
  ///
  /// - Parameters:
  ///   - count: the number of places that are shown, from 1.
  ///   - size: the window's size, in pixels.
  ///   - isLeft: whether the small picture of the `speaker` layout is on the left side.
  ///   - isTop: whether it is at the top.
  /// - Returns: `count` rectangles, in pixels. Where two overlap, the later one is above.
  package func rectangles(
    count: Int, in size: PictureSize, isLeft: Bool = false, isTop: Bool = false
  ) -> [PictureRect] {
    let whole = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    guard count > 1 else { return [whole] }
    switch self {
    case .single: return [whole]
    case .split:
      let places = SplitLayout.rectangles(in: size, showsRemote: true)
      return [places.local] + (places.remote.map { [$0] } ?? [])
    case .speaker: return [whole, CornerLayout.rectangle(in: size, isLeft: isLeft, isTop: isTop)]
    case .grid: return GridLayout.rectangles(columns: Self.columns(count), count: count, in: size)
    }
  }

  /// By how much wider than one of its pictures, in comparison with the height, the window is.
  ///
  /// - Parameter count: the number of places that are shown.
  func widening(count: Int) -> Double {
    switch self {
    case .single, .speaker: return 1
    case .split: return Double(min(count, 2))
    case .grid:
      let columns = Self.columns(count)
      return Double(columns) / Double((count + columns - 1) / columns)
    }
  }

  /// The columns of a grid that is as wide as it is high, in places, or one wider.
  private static func columns(_ count: Int) -> Int { (1...count).first { $0 * $0 >= count } ?? 1 }
}
