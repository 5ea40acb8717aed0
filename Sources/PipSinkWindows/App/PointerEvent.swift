/// What the pointer does on a stream's place. Places are in pixels, from its upper left.
public enum PointerEvent: Sendable {
  case moved(x: Double, y: Double)
  /// Buttons are counted from 1, the left one.
  case pressed(button: Int, x: Double, y: Double)
  case released(button: Int, x: Double, y: Double)
  /// By the wheel, in its steps: right and down are positive.
  case scrolled(x: Double, y: Double, deltaX: Double, deltaY: Double)
}
