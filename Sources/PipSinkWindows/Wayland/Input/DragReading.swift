/// Interprets the pointer's positions in a Wayland surface that moves while a button is held.
///
/// Positions are in the surface's coordinates. Some compositors (KWin) measure them from where the surface is at that
/// moment, others (sway 1.7) from where it was when the button was pressed. No protocol tells which, so the first drag
/// finds out. Once the pointer has moved far enough, the window is moved after it and then left there. After the
/// compositor has shown that, the pointer's next position either continues its movement, or jumps back by the distance
/// that the window was moved.
struct DragReading {
  /// What the compositor measures positions from.
  enum Origin {
    /// The surface's position when the button was pressed.
    case press
    /// The surface's current position.
    case surface
  }

  typealias Vector = SIMD2<Double>

  /// How far the pointer moves before the window is moved for the first time, in units. It is so far that no hand goes
  /// back by as much between two events.
  static let trialDistance = 24.0
  /// How many times nearer the pointer must be to what one origin predicts than to what the other one does.
  private static let certainty = 2.0

  /// The origin, or nil while it is not known.
  private(set) var origin: Origin?
  /// Whether ``origin`` is beyond doubt, so that later drags need not find it out.
  private(set) var isCertain: Bool
  /// Whether the compositor has shown the window where it was moved to.
  private var isShown = false
  private var hasBegun = false

  private let pressed: Vector
  private var last: Vector
  private var step = Vector.zero

  /// Starts reading a drag.
  ///
  /// - Parameters:
  ///   - pressed: the pointer's position when the button was pressed.
  ///   - origin: the origin that an earlier drag has found out; nil when it is not known.
  init(pressed: Vector, known origin: Origin?) {
    self.pressed = pressed
    self.origin = origin
    isCertain = origin != nil
    last = pressed
  }

  /// Records that the compositor has shown the window where it was first moved to.
  mutating func noteShown() { isShown = true }

  /// Returns how far the pointer has moved since the button was pressed.
  ///
  /// - Parameters:
  ///   - place: the pointer's position in the surface, as the compositor reports it.
  ///   - shift: how far the window has been moved since the press.
  /// - Returns: nil when the window should stay as it is for now.
  mutating func distance(at place: Vector, shift: Vector) -> Vector? {
    if origin == nil { compare(place, shift) }
    switch origin {
    case .press: return place - pressed
    case .surface: return place - pressed + shift
    case nil:
      hasBegun = hasBegun || (place - pressed).length >= Self.trialDistance
      return shift == .zero && hasBegun ? place - pressed : nil
    }
  }

  /// Returns how far the pointer has moved while the compositor has not shown the window elsewhere. The origin does not
  /// matter until then.
  func distanceBeforeMoving(at place: Vector) -> Vector { place - pressed }

  /// Compares the pointer's position with what each origin predicts, and sets ``origin`` if that is decisive.
  private mutating func compare(_ place: Vector, _ shift: Vector) {
    let new = place - last
    defer { (last, step) = (place, new) }
    guard shift != .zero else { return }
    // The prediction is that the hand continues with the same step as before.
    let fromPress = (new - step).length
    let fromSurface = (new + shift - step).length
    if fromSurface * Self.certainty <= fromPress {
      (origin, isCertain) = (.surface, true)
    } else if isShown {
      origin = fromPress <= fromSurface ? .press : .surface
      isCertain = fromPress * Self.certainty <= fromSurface
    }
  }
}

extension SIMD2<Double> {
  /// The length of the vector.
  var length: Double { (self * self).sum().squareRoot() }
  /// The components rounded to whole numbers.
  var nearest: (x: Int, y: Int) { (Int(x.rounded()), Int(y.rounded())) }
}
