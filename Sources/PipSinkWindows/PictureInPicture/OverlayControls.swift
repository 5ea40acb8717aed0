import PipSink

/// The controls over a picture-in-picture window. They fade in with the pointer or a touch, and fade out when the
/// pointer rests or leaves.
@MainActor
final class OverlayControls {
  /// The number of pixels in a unit.
  var scale = 1.0
  private let changed: @MainActor () -> Void
  private let fading = FadingOpacity()
  private var bars: ControlBars?
  private var hovered: PictureInPictureAction?
  private var pressed: PictureInPictureAction?
  private var images: [(bar: ControlBars.Bar, look: Look, image: OverlayImage)] = []

  /// Everything that the image of a row of controls depends on.
  private struct Look: Equatable {
    let isPaused: Bool
    let isMuted: Bool
    let hovered: PictureInPictureAction?
    let scale: Double
  }

  /// - Parameter changed: called when the controls need to be drawn again.
  init(_ changed: @escaping @MainActor () -> Void) {
    self.changed = changed
    fading.changed = changed
  }

  /// Returns the parts of the controls as they look now.
  ///
  /// - Parameters:
  ///   - presentation: what the window shows, and the actions that are available.
  ///   - size: the window's size, in pixels.
  func parts(_ presentation: PictureInPicturePresentation, size: PictureSize) -> [WindowOverlay.Part] {
    let units = PictureSize(width: Int(Double(size.width) / scale), height: Int(Double(size.height) / scale))
    let bars = ControlBars(presentation.actions, in: units)
    self.bars = bars
    guard fading.opacity > 0 else { return [] }
    images = bars.bars.map { bar in
      let look = Look(
        isPaused: presentation.isPaused, isMuted: presentation.isMuted,
        hovered: hovered.flatMap { bar.actions.contains($0) ? $0 : nil }, scale: scale)
      let kept = images.first { $0.bar == bar && $0.look == look }
      return kept ?? (bar, look, OverlayDrawing.bar(bar, presentation, hovered: look.hovered, scale: scale))
    }
    return images.map { bar, _, image in
      WindowOverlay.Part(
        image: image,
        origin: (Int(nearest: Double(bar.rectangle.x) * scale), Int(nearest: Double(bar.rectangle.y) * scale)),
        opacity: fading.opacity)
    }
  }

  /// Returns the control at a position in units. It is nil where there is none, and while the controls are neither
  /// visible nor about to be.
  func action(x: Int, y: Int) -> PictureInPictureAction? { fading.isShown ? bars?.action(x: x, y: y) : nil }

  /// Called when the pointer has moved to a position in units.
  func move(x: Int, y: Int) {
    show()
    let action = bars?.action(x: x, y: y)
    guard action != hovered else { return }
    hovered = action
    changed()
  }

  /// Called when a button is pressed on a control.
  func press(_ action: PictureInPictureAction) { pressed = action }

  /// Called when the button is released.
  ///
  /// - Parameter action: the control under the pointer; nil for none.
  /// - Returns: the control that was pressed if the button was released on it, otherwise nil.
  @discardableResult
  func release(on action: PictureInPictureAction?) -> PictureInPictureAction? {
    defer { pressed = nil }
    return pressed != nil && pressed == action ? action : nil
  }

  func show() { fading.show() }

  /// Called when the pointer has left the window.
  func leave() {
    hovered = nil
    fading.hide()
  }

  func hideAtOnce() {
    fading.hideAtOnce()
    (hovered, pressed) = (nil, nil)
  }
}
