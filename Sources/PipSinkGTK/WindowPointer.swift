import CGTK
import PipSink

/// What the pointer does with a picture-in-picture window: dragged anywhere, it moves; dragged at a corner, it changes
/// its size; let go, it snaps to the nearest corner.
@MainActor
final class WindowPointer {
  /// A place in the window and on the screen, in GTK's pixels. Wayland tells the former alone.
  struct Location {
    let x: Double
    let y: Double
    let rootX: Double
    let rootY: Double
  }

  private enum Action {
    case none
    /// The window's frame, and the pointer's place, when it began.
    case moving(PictureRect, Location)
    case resizing(PictureRect, Location, Grip)
  }

  /// What a window is taken by.
  enum Grip: Equatable {
    /// Anywhere else; it moves.
    case middle
    /// A corner, which resizes it.
    case corner(isLeft: Bool)

    /// How near to both edges a press has to be to resize.
    private static let edge = 8.0

    /// - Parameters:
    ///   - x: in the window, as `y`.
    ///   - size: the window's.
    init(x: Double, y: Double, size: PictureSize) {
      let isLeft = x < Self.edge
      let isAtSide = isLeft || x >= Double(size.width) - Self.edge
      let isAtEnd = y < Self.edge || y >= Double(size.height) - Self.edge
      self = isAtSide && isAtEnd ? .corner(isLeft: isLeft) : .middle
    }

    /// How wide the window is when it has been dragged so far to the right.
    func width(from width: Int, draggedBy x: Int) -> Int {
      switch self {
      case .middle: width
      case .corner(let isLeft): isLeft ? width - x : width + x
      }
    }
  }

  private unowned let window: PictureInPictureWindow
  private var action = Action.none
  /// On a layer: what the pointer's places mean in this drag.
  private var reading: DragReading?
  private var shown: WaylandFrameCallback?

  init(_ window: PictureInPictureWindow) {
    self.window = window
  }

  var isActive: Bool {
    if case .none = action { false } else { true }
  }

  /// Nothing comes of what was begun.
  func cancel() { finish() }

  private func finish() {
    action = .none
    (reading, shown) = (nil, nil)
  }

  func press(_ location: Location) {
    let frame = window.frame
    shown = nil
    reading = DragReading(pressed: .init(x: location.x, y: location.y), known: Self.origin)
    action =
      switch Grip(x: location.x, y: location.y, size: frame.size) {
      case .middle: .moving(frame, location)
      case let grip: .resizing(frame, location, grip)
      }
  }

  func move(_ location: Location) {
    switch action {
    case .none: break
    case .moving(let start, let pressed): move(location, from: start, pressed)
    case .resizing(let start, let pressed, let grip): resize(location, from: start, pressed, grip)
    }
  }

  private func move(_ location: Location, from start: PictureRect, _ pressed: Location) {
    guard let distance = distance(to: location, from: start, pressed) else { return }
    window.move(toX: start.x + distance.x, y: start.y + distance.y)
    findOutOrigin(from: start)
  }

  private func resize(_ location: Location, from start: PictureRect, _ pressed: Location, _ grip: Grip) {
    guard let distance = distance(to: location, from: start, pressed)?.x else { return }
    window.resize(toWidth: grip.width(from: start.width, draggedBy: distance))
    // The corner that the window is in stays where it is.
    window.snap(to: window.placement.corner)
    findOutOrigin(from: start)
  }

  /// How far the pointer has come since it was pressed.
  ///
  /// - Returns: nil where the window is to stay as it is for now.
  private func distance(
    to location: Location, from start: PictureRect, _ pressed: Location
  ) -> (x: Int, y: Int)? {
    guard window.isLayer else {
      return (Int((location.rootX - pressed.rootX).rounded()), Int((location.rootY - pressed.rootY).rounded()))
    }
    let known = reading?.origin
    let distance = reading?.distance(
      at: DragReading.Vector(x: location.x, y: location.y), shift: Self.shift(of: window.frame, from: start))
    if let reading, known == nil, reading.isCertain { Self.origin = reading.origin }
    return distance.map { (Int($0.x.rounded()), Int($0.y.rounded())) }
  }

  private static func shift(of frame: PictureRect, from start: PictureRect) -> DragReading.Vector {
    DragReading.Vector(x: Double(frame.x - start.x), y: Double(frame.y - start.y))
  }

  /// What the compositor's coordinates count from, once a drag has shown it.
  private static var origin: DragReading.Origin?

  /// After the window has been moved for the first time: has the reading told when the compositor shows it there.
  private func findOutOrigin(from start: PictureRect) {
    guard window.isLayer, let reading, reading.origin == nil, shown == nil,
      Self.shift(of: window.frame, from: start) != .zero
    else { return }
    awaitFrame()
  }

  private func awaitFrame() {
    guard let own = gtk_widget_get_window(window.window), let surface = gdk_wayland_window_get_wl_surface(own) else {
      return
    }
    // A new size takes effect after the compositor has agreed to it.
    let hasSize =
      (Int(gdk_window_get_width(own)), Int(gdk_window_get_height(own)))
      == (window.placement.width, window.placement.height)
    gtk_widget_queue_draw(window.window)
    shown = WaylandFrameCallback(surface) { [weak self] in
      guard let self, reading?.origin == nil else { return }
      if hasSize { reading?.noteShown() } else { awaitFrame() }
    }
  }

  func release(_ location: Location) {
    // A drag that ends before it is known what places mean ends before the compositor has shown the window elsewhere.
    if window.isLayer, reading?.origin == nil, case .moving(let start, _) = action {
      let distance = reading?.distanceBeforeMoving(at: DragReading.Vector(x: location.x, y: location.y)) ?? .zero
      window.move(toX: start.x + Int(distance.x.rounded()), y: start.y + Int(distance.y.rounded()))
    }
    defer { finish() }
    switch action {
    case .none: return
    case .resizing: window.snap(to: window.placement.corner)
    case .moving: window.snap(to: .nearest(to: window.frame, in: window.dragArea))
    }
    window.remember()
  }
}

extension PictureInPictureWindow {
  /// The area in whose coordinates ``frame`` is.
  var dragArea: PictureRect {
    let area = workArea
    return isLayer ? PictureRect(x: 0, y: 0, width: area.width, height: area.height) : area
  }
}
