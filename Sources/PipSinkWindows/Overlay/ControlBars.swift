import PipSink

/// The layout of the controls in a picture-in-picture window, in units: close is at the upper left; fullscreen, the
/// layout and back to the app are at the upper right; and the others are in the middle of the lower edge.
struct ControlBars: Equatable {
  /// A row of controls on one background.
  struct Bar: Equatable {
    let rectangle: PictureRect
    let controls: [PictureInPictureControl]
    /// The widths of the controls.
    let widths: [Int]

    /// The controls with their left edges, from that of the row.
    var places: [(control: PictureInPictureControl, x: Int, width: Int)] {
      var x = 0
      return zip(controls, widths).map { control, width in
        defer { x += width + ControlBars.spacing }
        return (control, x, width)
      }
    }
  }

  static let margin = 6
  static let side = 28
  static let spacing = 2
  /// The height of the bar for seeking. It is left out of windows that are narrower or lower than the smallest size.
  static let seekBarHeight = 20
  private static let smallestSeekable = PictureSize(width: 200, height: 112)
  /// The order in which controls are left out where the window is too narrow for all of them. Those of the app, from the
  /// last one on, follow the first six of these.
  private static let dispensable: [PictureInPictureAction] = [
    .changeSize, .clickThrough, .previousStream, .skipBackward, .skipForward, .nextStream, .raiseHand, .camera,
    .captions, .mute, .playPause, .microphone, .hangUp,
  ]

  let bars: [Bar]
  /// The rectangle of the bar for seeking, above the controls in the middle; nil for none.
  let seekBar: PictureRect?

  /// - Parameters:
  ///   - controls: the controls that are offered now, in order.
  ///   - size: the window's size, in units.
  ///   - width: the width of a control.
  init(
    _ controls: [PictureInPictureControl], in size: PictureSize,
    width: (PictureInPictureControl) -> Int = { _ in Self.side }
  ) {
    func all(_ controls: [PictureInPictureControl]) -> Int {
      controls.reduce(0) { $0 + width($1) } + max(0, controls.count - 1) * Self.spacing
    }
    let corner: [PictureInPictureAction] = [.close, .fullscreen, .changeLayout, .backToApp]
    var middle = controls.filter { !corner.contains($0.action) && $0.action != .seek }
    let own = middle.map(\.action).filter { !Self.dispensable.contains($0) }
    for action in Self.dispensable.prefix(6) + own.reversed() + Self.dispensable.dropFirst(6)
    where all(middle) > size.width - 2 * Self.margin {
      middle.removeAll { $0.action == action }
    }
    let close = controls.filter { $0.action == .close }
    var right = corner.dropFirst().compactMap { action in controls.first { $0.action == action } }
    for action in [PictureInPictureAction.fullscreen, .changeLayout]
    where all(right + close) > size.width - 3 * Self.margin { right.removeAll { $0.action == action } }
    let bottom = size.height - Self.margin - Self.side
    let smallest = Self.smallestSeekable
    let hasSeekBar = controls.contains { $0.action == .seek } && size.width >= smallest.width
    seekBar =
      hasSeekBar && size.height >= smallest.height
      ? PictureRect(
        x: Self.margin, y: (middle.isEmpty ? size.height - Self.margin : bottom - Self.spacing) - Self.seekBarHeight,
        width: size.width - 2 * Self.margin, height: Self.seekBarHeight) : nil
    bars = [
      (close, Self.margin, Self.margin), (right, size.width - Self.margin - all(right), Self.margin),
      (middle, (size.width - all(middle)) / 2, bottom),
    ].compactMap { controls, x, y in
      guard !controls.isEmpty else { return nil }
      return Bar(
        rectangle: PictureRect(x: x, y: y, width: all(controls), height: Self.side), controls: controls,
        widths: controls.map(width))
    }
  }

  /// The rectangle of the button that remains of a window which lets presses through.
  static let handle = PictureRect(x: margin, y: margin, width: side, height: side)

  /// The layout in such a window.
  ///
  /// - Parameter control: what ends that presses go through the window.
  init(handle control: PictureInPictureControl) {
    bars = [Bar(rectangle: Self.handle, controls: [control], widths: [Self.side])]
    seekBar = nil
  }

  /// A control, or the bar for seeking, and its rectangle in the window.
  typealias Place = (action: PictureInPictureAction, rectangle: PictureRect)

  /// All places, from the upper left to the lower right.
  private var places: [Place] {
    let rows = bars.map { bar in
      bar.places.map { place -> Place in
        let (left, width) = (bar.rectangle.x + place.x, place.width)
        return (
          place.control.action, PictureRect(x: left, y: bar.rectangle.y, width: width, height: bar.rectangle.height)
        )
      }
    }
    let all = rows.flatMap(\.self) + (seekBar.map { [(.seek, $0)] } ?? [])
    return all.sorted { ($0.rectangle.y, $0.rectangle.x) < ($1.rectangle.y, $1.rectangle.x) }
  }

  /// Whether an action has a place.
  func has(_ action: PictureInPictureAction) -> Bool { places.contains { $0.action == action } }

  /// The place that the keyboard comes to first: the first one in the lowest row. Nil where there is none.
  var firstForKeyboard: PictureInPictureAction? {
    let places = places
    return places.first { $0.rectangle.y == places.last?.rectangle.y }?.action
  }

  /// The place after or before another one, in a circle.
  func neighbour(of action: PictureInPictureAction, isAfter: Bool) -> PictureInPictureAction? {
    let places = places
    guard let index = places.firstIndex(where: { $0.action == action }) else { return firstForKeyboard }
    return places[(index + (isAfter ? 1 : places.count - 1)) % places.count].action
  }

  /// The place beside another one in the same row, or the nearest one in the row above or below it.
  ///
  /// - Parameters:
  ///   - x: 1 for the right, and -1 for the left.
  ///   - y: 1 for the row below, and -1 for the row above.
  /// - Returns: the place itself where there is none.
  func neighbour(of action: PictureInPictureAction, x: Int, y: Int) -> PictureInPictureAction? {
    guard let own = places.first(where: { $0.action == action })?.rectangle else { return firstForKeyboard }
    func distance(_ other: PictureRect) -> (rows: Int, columns: Int) {
      (abs(other.y - own.y), abs(2 * other.x + other.width - 2 * own.x - own.width))
    }
    let others = places.filter { place in
      let (right, down) = ((place.rectangle.x - own.x).signum(), (place.rectangle.y - own.y).signum())
      return y == 0 ? down == 0 && right == x : down == y
    }
    return others.min { distance($0.rectangle) < distance($1.rectangle) }?.action ?? action
  }

  /// Returns the control at a position in units, or nil where there is none.
  func action(x: Int, y: Int) -> PictureInPictureAction? {
    if seekBar?.contains(x: x, y: y) == true { return .seek }
    for bar in bars where bar.rectangle.contains(x: x, y: y) {
      let place = bar.places.first { ($0.x..<$0.x + $0.width).contains(x - bar.rectangle.x) }
      if let place { return place.control.action }
    }
    return nil
  }
}
