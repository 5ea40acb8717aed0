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
  /// Whether the window lets presses through, except for a button.
  private var hasHandle = false
  private var hovered: PictureInPictureAction?
  private var pressed: PictureInPictureAction?
  private var images: [(look: Look, image: OverlayImage)] = []
  private var faces = ControlFaces()
  /// The bar for seeking; nil for none.
  private var seekBar: SeekBar?
  private var seekBarImage: (look: SeekBar.Look, image: OverlayImage)?
  /// The time to which the user drags the knob; nil while it is not dragged.
  private var draggedTime: MediaTime?

  /// Everything that the image of a row of controls depends on.
  private struct Look: Equatable {
    let bar: ControlBars.Bar
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
    let handle = presentation.isClickThrough ? presentation.controls.first { $0.action == .clickThrough } : nil
    let bars =
      handle.map { ControlBars(handle: $0) }
      ?? ControlBars(presentation.controls, in: units) { [scale] in faces.width(of: $0, scale: scale) }
    (self.bars, hasHandle) = (bars, handle != nil)
    guard opacity > 0 else { return [] }
    images = bars.bars.map { bar in
      let isHovered = bar.controls.contains { $0.action == hovered }
      let look = Look(bar: bar, hovered: isHovered ? hovered : nil, scale: scale)
      return images.first { $0.look == look }
        ?? (look, OverlayDrawing.bar(bar, &faces, hovered: look.hovered, scale: scale))
    }
    return images.map { part($1, at: $0.bar.rectangle) } + seekBarParts(presentation.progress, in: bars.seekBar)
  }

  private func part(_ image: OverlayImage, at place: PictureRect) -> WindowOverlay.Part {
    WindowOverlay.Part(
      image: image, origin: (Int(nearest: Double(place.x) * scale), Int(nearest: Double(place.y) * scale)),
      opacity: opacity)
  }

  /// The button of a window that lets presses through does not fade.
  private var opacity: Double { hasHandle ? 1 : fading.opacity }

  private func seekBarParts(_ progress: PlaybackProgress?, in rectangle: PictureRect?) -> [WindowOverlay.Part] {
    guard var progress, let rectangle else {
      (seekBar, seekBarImage, draggedTime) = (nil, nil, nil)
      return []
    }
    if let draggedTime { progress.position = draggedTime }
    let bar = SeekBar(rectangle, progress, scale: scale)
    seekBar = bar
    if seekBarImage?.look != bar.look { seekBarImage = (bar.look, bar.image()) }
    return seekBarImage.map { [part($0.image, at: rectangle)] } ?? []
  }

  // MARK: - Seeking

  /// Whether the user drags the knob of the bar for seeking.
  var isSeeking: Bool { draggedTime != nil }

  /// Moves the knob to the pointer, whose position is in units.
  func seek(toX x: Double) {
    guard let seekBar else { return }
    show()
    draggedTime = seekBar.time(atX: x)
    changed()
  }

  /// Ends the dragging of the knob.
  ///
  /// - Returns: the time to seek to.
  func endSeeking() -> MediaTime? {
    defer { draggedTime = nil }
    return draggedTime
  }

  /// Returns the control at a position in units. It is nil where there is none, and while the controls are neither
  /// visible nor about to be.
  func action(x: Int, y: Int) -> PictureInPictureAction? {
    fading.isShown || hasHandle ? bars?.action(x: x, y: y) : nil
  }

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
    (hovered, pressed, draggedTime) = (nil, nil, nil)
  }
}
