/// Interprets the pointer's positions in a Wayland surface that moves while a button is held.
///
/// Positions are in the surface's coordinates. Some compositors (KWin) measure them from where the surface is at that
/// moment, others (sway 1.7) from where it was when the button was pressed. No protocol tells which, so the first drag
/// finds out. Once the pointer has moved far enough, the window is moved after it and then left there. After the
/// compositor has shown that, the pointer's next position either continues its movement, or jumps back by the distance
/// that the window was moved.
///
/// The pointer's movement is what relative pointers tell, if they told the truth before the window was moved, which not
/// all do. Without them it is taken to be the same as one event earlier.
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
  private var lastTravel: Vector?
  /// Whether relative pointers told the movements of the pointer's position while the window stood still; nil before
  /// the pointer moved.
  private var tellsTravel: Bool?
  private var step = Vector.zero

  /// Starts reading a drag.
  ///
  /// - Parameters:
  ///   - pressed: the pointer's position when the button was pressed.
  ///   - travel: the sum of the pointer's movements until then, in units; nil without relative pointers.
  ///   - origin: the origin that an earlier drag has found out; nil when it is not known.
  init(pressed: Vector, travel: Vector? = nil, known origin: Origin?) {
    self.pressed = pressed
    self.origin = origin
    isCertain = origin != nil
    (last, lastTravel) = (pressed, travel)
  }

  /// Records that the compositor has shown the window where it was first moved to.
  mutating func noteShown() { isShown = true }

  /// Returns how far the pointer has moved since the button was pressed.
  ///
  /// - Parameters:
  ///   - place: the pointer's position in the surface, as the compositor reports it.
  ///   - travel: the sum of the pointer's movements until now, in units; nil without relative pointers.
  ///   - shift: how far the window has been moved since the press.
  /// - Returns: nil when the window should stay as it is for now.
  mutating func distance(at place: Vector, travel: Vector? = nil, shift: Vector) -> Vector? {
    if origin == nil { compare(place, travel, shift) }
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
  private mutating func compare(_ place: Vector, _ travel: Vector?, _ shift: Vector) {
    let new = place - last
    let known = travel.flatMap { travel in lastTravel.map { travel - $0 } }
    defer { (last, lastTravel, step) = (place, travel, new) }
    guard shift != .zero else {
      if new != .zero { tellsTravel = tellsTravel != false && known.map { ($0 - new).length <= 1 } ?? false }
      return
    }
    // Without relative pointers, the prediction is that the hand continues with the same step as before.
    let expected = if let known, tellsTravel == true { known } else { step }
    let fromPress = (new - expected).length
    let fromSurface = (new + shift - expected).length
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
