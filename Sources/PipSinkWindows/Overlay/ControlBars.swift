import PipSink

/// Where the controls of a picture-in-picture window lie, in units that a scale makes pixels: close at the upper left,
/// back to the app at the upper right, the others in the middle of the lower edge.
struct ControlBars: Equatable {
  struct Bar: Equatable {
    let frame: PictureRect
    let actions: [PictureInPictureAction]
  }

  static let margin = 6
  static let side = 28
  static let spacing = 2
  private static let order: [PictureInPictureAction] = [
    .previousStream, .skipBackward, .playPause, .skipForward, .nextStream, .mute,
  ]
  /// Which of them are left out first where the window is too narrow for all.
  private static let dispensable: [PictureInPictureAction] = [
    .previousStream, .skipBackward, .skipForward, .nextStream, .mute, .playPause,
  ]

  let bars: [Bar]

  /// - Parameters:
  ///   - actions: those that make sense now.
  ///   - size: the window's.
  init(_ actions: Set<PictureInPictureAction>, in size: PictureSize) {
    var middle = Self.order.filter { actions.contains($0) }
    for action in Self.dispensable where Self.width(middle.count) > size.width - 2 * Self.margin {
      middle.removeAll { $0 == action }
    }
    let right = size.width - Self.margin - Self.side
    let bottom = size.height - Self.margin - Self.side
    let places: [([PictureInPictureAction], x: Int, y: Int)] = [
      ([.close], Self.margin, Self.margin), ([.backToApp], right, Self.margin),
      (middle, (size.width - Self.width(middle.count)) / 2, bottom),
    ]
    bars = places.compactMap { wanted, x, y in
      let offered = wanted.filter { actions.contains($0) }
      guard !offered.isEmpty else { return nil }
      return Bar(
        frame: PictureRect(x: x, y: y, width: Self.width(offered.count), height: Self.side), actions: offered)
    }
  }

  private static func width(_ count: Int) -> Int { count * side + max(0, count - 1) * spacing }

  /// The control at a place; nil where there is none.
  func action(x: Int, y: Int) -> PictureInPictureAction? {
    for bar in bars where bar.frame.contains(x: x, y: y) {
      let index = (x - bar.frame.x) / (Self.side + Self.spacing)
      if (x - bar.frame.x) % (Self.side + Self.spacing) < Self.side { return bar.actions[index] }
    }
    return nil
  }
}
