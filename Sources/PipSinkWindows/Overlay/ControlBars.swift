import PipSink

/// The layout of the controls in a picture-in-picture window, in units: close is at the upper left, the layout and back
/// to the app are at the upper right, and the others are in the middle of the lower edge.
struct ControlBars: Equatable {
  /// A row of controls on one background.
  struct Bar: Equatable {
    let rectangle: PictureRect
    let actions: [PictureInPictureAction]
  }

  static let margin = 6
  static let side = 28
  static let spacing = 2
  private static let order: [PictureInPictureAction] = [
    .previousStream, .skipBackward, .playPause, .skipForward, .nextStream, .mute,
  ]
  /// The order in which controls are left out where the window is too narrow for all of them.
  private static let dispensable: [PictureInPictureAction] = [
    .previousStream, .skipBackward, .skipForward, .nextStream, .mute, .playPause,
  ]

  let bars: [Bar]

  /// - Parameters:
  ///   - actions: the actions that are available now.
  ///   - size: the window's size, in units.
  init(_ actions: Set<PictureInPictureAction>, in size: PictureSize) {
    var middle = Self.order.filter { actions.contains($0) }
    for action in Self.dispensable where Self.width(middle.count) > size.width - 2 * Self.margin {
      middle.removeAll { $0 == action }
    }
    var right: [PictureInPictureAction] = [.changeLayout, .backToApp].filter { actions.contains($0) }
    if Self.width(right.count + 1) > size.width - 3 * Self.margin { right.removeAll { $0 == .changeLayout } }
    let bottom = size.height - Self.margin - Self.side
    let places: [([PictureInPictureAction], x: Int, y: Int)] = [
      ([.close], Self.margin, Self.margin), (right, size.width - Self.margin - Self.width(right.count), Self.margin),
      (middle, (size.width - Self.width(middle.count)) / 2, bottom),
    ]
    bars = places.compactMap { wanted, x, y in
      let offered = wanted.filter { actions.contains($0) }
      guard !offered.isEmpty else { return nil }
      return Bar(
        rectangle: PictureRect(x: x, y: y, width: Self.width(offered.count), height: Self.side), actions: offered)
    }
  }

  private static func width(_ count: Int) -> Int { count * side + max(0, count - 1) * spacing }

  /// Returns the control at a position in units, or nil where there is none.
  func action(x: Int, y: Int) -> PictureInPictureAction? {
    for bar in bars where bar.rectangle.contains(x: x, y: y) {
      let index = (x - bar.rectangle.x) / (Self.side + Self.spacing)
      if (x - bar.rectangle.x) % (Self.side + Self.spacing) < Self.side { return bar.actions[index] }
    }
    return nil
  }
}
