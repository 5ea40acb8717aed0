import PipSink

/// The controls over a picture-in-picture window: they come with the pointer or a touch, and fade when it rests or leaves.
@MainActor
final class OverlayControls {
  /// Pixels for each unit.
  var scale = 1
  private let changed: @MainActor () -> Void
  private var opacity = 0.0
  private var bars: ControlBars?
  private var hovered: PictureInPictureAction?
  private var pressed: PictureInPictureAction?
  private var images: [(bar: ControlBars.Bar, look: Look, image: OverlayImage)] = []
  private let fading = Animation()
  private var hiding: Task<Void, Never>?
  private static let resting = Duration.seconds(2.5)

  private struct Look: Equatable {
    let isPaused: Bool
    let isMuted: Bool
    let hovered: PictureInPictureAction?
    let scale: Int
  }

  /// - Parameter changed: called when they are to be drawn anew.
  init(_ changed: @escaping @MainActor () -> Void) {
    self.changed = changed
  }

  isolated deinit { hiding?.cancel() }

  private var isShown: Bool { opacity > 0 }

  /// - Parameter size: the window's, in units.
  func layers(_ presentation: PictureInPicturePresentation, size: PictureSize) -> [WindowOverlay.Layer] {
    let bars = ControlBars(presentation.actions, in: size)
    self.bars = bars
    guard isShown else { return [] }
    images = bars.bars.map { bar in
      let look = Look(
        isPaused: presentation.isPaused, isMuted: presentation.isMuted,
        hovered: hovered.flatMap { bar.actions.contains($0) ? $0 : nil }, scale: scale)
      let kept = images.first { $0.bar == bar && $0.look == look }
      return kept ?? (bar, look, OverlayDrawing.bar(bar, presentation, hovered: look.hovered, scale: scale))
    }
    return images.map { bar, _, image in
      WindowOverlay.Layer(image: image, origin: (bar.frame.x * scale, bar.frame.y * scale), opacity: opacity)
    }
  }

  /// The control at a place, in units; nil where there is none, and while they are not shown.
  func action(x: Int, y: Int) -> PictureInPictureAction? { isShown ? bars?.action(x: x, y: y) : nil }

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

  func show() {
    fade(to: 1)
    hiding?.cancel()
    hiding = Task { [weak self] in
      guard (try? await Task.sleep(for: Self.resting)) != nil else { return }
      self?.fade(to: 0)
    }
  }

  /// The pointer has left.
  func leave() {
    hovered = nil
    hiding?.cancel()
    fade(to: 0)
  }

  func hideAtOnce() {
    hiding?.cancel()
    fading.stop()
    (opacity, hovered, pressed, target) = (0, nil, nil, 0)
  }

  private var target = 0.0

  private func fade(to opacity: Double) {
    guard target != opacity else { return }
    target = opacity
    fading.run(from: self.opacity, to: opacity) { [weak self] in
      self?.opacity = $0
      self?.changed()
    }
  }
}
