import PipSink

/// The controls over a picture-in-picture window. They fade in with the pointer or a touch, and fade out when the
/// pointer rests or leaves. While the keyboard uses one, they stay.
@MainActor
final class OverlayControls {
  /// The number of pixels in a unit of the controls, which is larger where the user wants large texts.
  var scale = 1.0
  /// The opacity of the ground.
  var ground = DesktopLook().controlsGround
  private let changed: @MainActor () -> Void
  private let focusChanged: @MainActor () -> Void
  private let fading = FadingOpacity()
  private var bars: ControlBars?
  /// Whether the window lets presses through, except for a button.
  private var hasHandle = false
  private var hovered: PictureInPictureAction?
  /// The control that the keyboard uses; nil while the keyboard uses none. The controls do not fade meanwhile.
  private(set) var focused: PictureInPictureAction? { didSet { if focused != oldValue { focusChanged() } } }
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
    let focused: PictureInPictureAction?
    let ground: Double
    let scale: Double
  }

  /// - Parameters:
  ///   - changed: called when the controls need to be drawn again.
  ///   - focusChanged: called when the keyboard uses another control.
  init(_ changed: @escaping @MainActor () -> Void, focusChanged: @escaping @MainActor () -> Void = {}) {
    (self.changed, self.focusChanged) = (changed, focusChanged)
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
    // The control that the keyboard has used may not be offered any more.
    if let focused, !bars.has(focused) { self.focused = bars.firstForKeyboard }
    guard opacity > 0 else { return [] }
    images = bars.bars.map { bar in
      let own = { (action: PictureInPictureAction?) in bar.controls.first { $0.action == action }?.action }
      let look = Look(bar: bar, hovered: own(hovered), focused: own(focused), ground: ground, scale: scale)
      return images.first { $0.look == look }
        ?? (
          look,
          OverlayDrawing.bar(
            bar, &faces, hovered: look.hovered, focused: look.focused, ground: ground, scale: scale)
        )
    }
    return images.map { part($1, at: $0.bar.rectangle) } + seekBarParts(presentation.progress, in: bars.seekBar)
  }

  private func part(_ image: OverlayImage, at place: PictureRect) -> WindowOverlay.Part {
    WindowOverlay.Part(
      image: image, origin: (Int(nearest: Double(place.x) * scale), Int(nearest: Double(place.y) * scale)),
      opacity: opacity)
  }

  /// The button of a window that lets presses through does not fade.
  private var opacity: Double { staysVisible ? 1 : fading.opacity }

  private var staysVisible: Bool { hasHandle || focused != nil }

  private func seekBarParts(_ progress: PlaybackProgress?, in rectangle: PictureRect?) -> [WindowOverlay.Part] {
    guard var progress, let rectangle else {
      (seekBar, seekBarImage, draggedTime) = (nil, nil, nil)
      return []
    }
    if let draggedTime { progress.position = draggedTime }
    let bar = SeekBar(rectangle, progress, isFocused: focused == .seek, ground: ground, scale: scale)
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
    fading.isShown || staysVisible ? bars?.action(x: x, y: y) : nil
  }

  // MARK: - Keyboard

  /// Has the keyboard use the first control.
  func focusFirst() { focus { $0.firstForKeyboard } }

  /// Has the keyboard use the next control, or the previous one. It is the first one where it has used none.
  func moveFocus(isAfter: Bool) {
    focus { [focused] bars in focused.map { bars.neighbour(of: $0, isAfter: isAfter) } ?? bars.firstForKeyboard }
  }

  /// Has the keyboard use the control in a direction.
  func moveFocus(x: Int, y: Int) { focus { [focused] bars in focused.flatMap { bars.neighbour(of: $0, x: x, y: y) } } }

  private func focus(_ choose: (ControlBars) -> PictureInPictureAction?) {
    guard let new = bars.flatMap(choose), new != focused else { return }
    focused = new
    changed()
  }

  /// Ends that the keyboard uses a control. The controls fade out.
  func endFocus() {
    guard focused != nil else { return }
    focused = nil
    fading.show()
    changed()
  }

  // MARK: - Pointer

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
    (hovered, focused, pressed, draggedTime) = (nil, nil, nil, nil)
  }
}
