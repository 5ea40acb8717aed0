import PipSink

/// The controls over a picture-in-picture window: they come with the pointer or a touch, and fade when it rests or
/// leaves.
@MainActor
final class OverlayControls {
  /// Pixels for each unit.
  var scale = 1.0
  private let changed: @MainActor () -> Void
  private let fading = FadingOpacity()
  private var bars: ControlBars?
  private var hovered: PictureInPictureAction?
  private var pressed: PictureInPictureAction?
  private var images: [(bar: ControlBars.Bar, look: Look, image: OverlayImage)] = []

  private struct Look: Equatable {
    let isPaused: Bool
    let isMuted: Bool
    let hovered: PictureInPictureAction?
    let scale: Double
  }

  /// - Parameter changed: called when they are to be drawn anew.
  init(_ changed: @escaping @MainActor () -> Void) {
    self.changed = changed
    fading.changed = changed
  }

  /// - Parameter size: the window's, in pixels.
  func layers(_ presentation: PictureInPicturePresentation, size: PictureSize) -> [WindowOverlay.Layer] {
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
      WindowOverlay.Layer(
        image: image, origin: (Int(nearest: Double(bar.frame.x) * scale), Int(nearest: Double(bar.frame.y) * scale)),
        opacity: fading.opacity)
    }
  }

  /// The control at a place, in units; nil where there is none, and while they are not shown and not about to be.
  func action(x: Int, y: Int) -> PictureInPictureAction? { fading.isShown ? bars?.action(x: x, y: y) : nil }

  /// The pointer has moved.
  func move(x: Int, y: Int) {
    show()
    let action = bars?.action(x: x, y: y)
    guard action != hovered else { return }
    hovered = action
    changed()
  }

  func press(_ action: PictureInPictureAction) { pressed = action }

  /// - Returns: what was pressed, if it was let go there, too.
  @discardableResult
  func release(on action: PictureInPictureAction?) -> PictureInPictureAction? {
    defer { pressed = nil }
    return pressed != nil && pressed == action ? action : nil
  }

  func show() { fading.show() }

  /// The pointer has left.
  func leave() {
    hovered = nil
    fading.hide()
  }

  func hideAtOnce() {
    fading.hideAtOnce()
    (hovered, pressed) = (nil, nil)
  }
}
