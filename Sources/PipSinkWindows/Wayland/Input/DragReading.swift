/// What a Wayland compositor means by the pointer's place in a surface that moves while a button is held.
///
/// A surface hears of the pointer in its own coordinates. Some compositors count from where the surface is at that
/// moment (KWin), others from where it was when the button was pressed (sway). Nothing in the protocols tells which, so
/// the first drag finds out: once the pointer has come some way, the window is moved after it and then left there. When
/// the compositor has shown that, the next place of the pointer lies where the pointer was going, or is back by as much
/// as the window has moved.
struct DragReading {
  enum Origin {
    /// Places count from where the surface was when the button was pressed.
    case press
    /// Places count from where the surface is.
    case surface
  }

  typealias Vector = SIMD2<Double>

  /// In units: far enough that a hand does not come back by as much between two events.
  static let trialDistance = 24.0
  /// How many times nearer the pointer has to be to what one reading expects than to what the other does.
  private static let certainty = 2.0

  private(set) var origin: Origin?
  /// Whether ``origin`` is beyond doubt, so that later drags need not find it out.
  private(set) var isCertain: Bool
  /// Whether the compositor has shown the window where it was moved to.
  private var isShown = false
  private var hasBegun = false

  private let pressed: Vector
  private var last: Vector
  private var step = Vector.zero

  init(pressed: Vector, known origin: Origin?) {
    self.pressed = pressed
    self.origin = origin
    isCertain = origin != nil
    last = pressed
  }

  /// The compositor has shown the window where it was first moved to.
  mutating func noteShown() { isShown = true }

  /// How far the pointer has come since it was pressed.
  ///
  /// - Parameters:
  ///   - place: the pointer's place in the surface, as the compositor tells it.
  ///   - shift: how far the window has been moved since the press.
  /// - Returns: nil where the window is to stay as it is for now.
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

  /// The same, while the compositor has not shown the window elsewhere: both readings agree until then.
  func distanceBeforeMoving(at place: Vector) -> Vector { place - pressed }

  private mutating func compare(_ place: Vector, _ shift: Vector) {
    let new = place - last
    defer { (last, step) = (place, new) }
    guard shift != .zero else { return }
    // A hand goes on as it went.
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
  var length: Double { (self * self).sum().squareRoot() }
  /// To whole pixels.
  var nearest: (x: Int, y: Int) { (Int(x.rounded()), Int(y.rounded())) }
}
