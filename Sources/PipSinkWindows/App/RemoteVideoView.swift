import PipSink

/// One stream's view in a window: its picture or a placeholder, its name, a mark when its microphone is off, and a
/// button for picture-in-picture.
///
/// A view owns one display layer, which follows the view's bounds and can be exchanged while frames arrive. A
/// ``VideoContainer`` sets the bounds; it is shown in a ``VideoWindow`` or in a toolkit's widget.
@MainActor
public final class RemoteVideoView {
  /// The stream that the view shows.
  public let streamID: StreamID
  /// The layer that is shown in the view.
  ///
  /// A new layer takes over the view's position, size and placeholder at once. It shows its newest frame, or black
  /// until it has one. The old layer is detached first, so its picture disappears and it can be shown elsewhere.
  public var layer: SampleBufferDisplayLayer {
    // Attaching the new layer to the renderer detaches the old one.
    didSet { layer.attach(to: place) }
  }
  /// The renderer that the view's layer is attached to. It can be used on any thread, and outlives the view.
  public var renderer: any VideoRenderer { place }

  let place = ExchangeableRenderer()
  /// Called when the view needs to be drawn again; set by the container.
  var changed: (() -> Void)?
  private let fade = Animation()
  private let controls: FadingOpacity

  /// Creates a view with a new layer.
  ///
  /// - Parameters:
  ///   - streamID: the stream that the view shows.
  ///   - videoGravity: how the layer fits pictures into the view.
  public convenience init(streamID: StreamID, videoGravity: VideoGravity = .resizeAspect) {
    self.init(
      streamID: streamID, layer: SampleBufferDisplayLayer(name: streamID.rawValue, videoGravity: videoGravity))
  }

  /// Creates a view that shows an existing layer.
  ///
  /// - Parameters:
  ///   - streamID: the stream that the view shows.
  ///   - layer: the layer that gets the stream's frames. It is attached to the view, and leaves where it was shown
  ///     before.
  public init(streamID: StreamID, layer: SampleBufferDisplayLayer) {
    self.streamID = streamID
    participant = Participant(name: streamID.rawValue)
    self.layer = layer
    controls = FadingOpacity()
    placeholder = .waiting
    cover = .init(.waiting)
    layer.attach(to: place)
    controls.changed = { [weak self] in self?.changed?() }
  }

  /// The placeholder that covers the picture completely; nil shows the picture. A new view has the placeholder
  /// ``PipSink/StreamPlaceholder/waiting``.
  ///
  /// When the stream goes to picture-in-picture or comes back, the placeholder fades in or out, unless the user has
  /// turned animations off. Every other placeholder appears at once, so that no picture of a camera that is off stays
  /// visible.
  public var placeholder: StreamPlaceholder? {
    didSet {
      guard placeholder != oldValue else { return }
      // The picture has not moved when one text only replaces another.
      let isMove = (oldValue ?? placeholder) == .inPictureInPicture && (oldValue == nil) != (placeholder == nil)
      showCover(placeholder.map { .init($0) }, fades: isMove && look.animates)
    }
  }

  /// Called when the user clicks the button that takes the stream to picture-in-picture, or back while it is there.
  ///
  /// The button appears while the pointer moves over the view. While this property is nil, there is no button.
  public var pictureInPictureToggled: (@MainActor () -> Void)?

  /// Called when the pointer does something in the view that is not meant for the view's button. The size is the
  /// view's, in pixels.
  public var pointerHandler: (@MainActor (PointerEvent, PictureSize) -> Void)?

  /// What is shown of the person in the stream, also over a placeholder: the name in the lower left corner, and marks in
  /// the lower right one. A name that is wider than the view ends with an ellipsis. At first it is that of the stream's
  /// ID.
  public var participant: Participant {
    didSet { if participant != oldValue { changed?() } }
  }

  /// Whether the stream's name is shown in the lower left corner. It is true by default.
  public var showsName = true {
    didSet { if showsName != oldValue { changed?() } }
  }

  /// The view's size in pixels, or nil while the view is not shown in a window.
  public var renderSize: PictureSize? { rectangle?.size }

  /// The number of frames that have been converted for this view since its window was created. No frames are converted
  /// while the view is not visible.
  public var convertedFrameCount: UInt64 { place.tile?.convertedFrameCount ?? 0 }

  /// Returns a copy of the picture as it is shown, at the view's size in pixels, or nil when no picture is shown.
  public func image() -> BGRAImage? { place.tile?.image() }

  // MARK: - In a container

  /// How the user wants the view to look.
  var look = DesktopLook() { didSet { labels.look = look } }

  /// The view's rectangle in the window, in pixels; nil while the view is hidden.
  var rectangle: PictureRect? {
    didSet {
      guard rectangle != oldValue else { return }
      place.tile?.rectangle = rectangle
      place.isShown = rectangle != nil
    }
  }

  /// The tile in which the view shows pictures; nil while the view is not in a window.
  var tile: (any WindowTile)? {
    get { place.tile }
    set {
      newValue?.rectangle = rectangle
      place.tile = newValue
      place.isShown = rectangle != nil
    }
  }

  // MARK: - Drawing over the picture

  private var cover: PlaceSigns.Cover?
  private var labels = LabelImages()
  private var hovers = false
  private var isPressed = false

  private func showCover(_ new: PlaceSigns.Cover?, fades: Bool) {
    let first = cover?.opacity ?? 0
    if let new {
      cover = new
      if fades {
        cover?.opacity = first
        fade.run(from: first, to: 1) { [weak self] in self?.setCoverOpacity($0) }
      } else {
        fade.stop()
      }
    } else if fades, cover != nil {
      fade.run(from: first, to: 0) { [weak self] in self?.setCoverOpacity($0) }
    } else {
      fade.stop()
      cover = nil
    }
    changed?()
  }

  private func setCoverOpacity(_ opacity: Double) {
    cover?.opacity = opacity
    if opacity <= 0 { cover = nil }
    changed?()
  }

  /// Returns what is drawn over the view's picture.
  ///
  /// - Parameters:
  ///   - scale: the number of pixels in a unit.
  ///   - isAmongOthers: whether there are other views beside it.
  func overlayParts(scale: Double, isAmongOthers: Bool) -> [WindowOverlay.Part] {
    guard let rectangle else { return [] }
    let signs = PlaceSigns(
      rectangle: rectangle, participant: participant, cover: cover, showsName: showsName, marksSpeakers: isAmongOthers)
    var parts = signs.parts(&labels, scale: scale)
    labels.forgetUnused()
    if pictureInPictureToggled != nil, controls.opacity > 0 {
      let button = buttonRectangle(scale: scale)
      let image = OverlayDrawing.button(
        placeholder == .inPictureInPicture ? .backToApp : .pictureInPicture, isHovered: hovers, look,
        scale: scale * look.textScale)
      parts.append(
        .init(image: image, origin: (rectangle.x + button.x, rectangle.y + button.y), opacity: controls.opacity))
    }
    return parts
  }

  /// The rectangle of the button in the view, in pixels.
  private func buttonRectangle(scale: Double) -> PictureRect {
    let scale = scale * look.textScale
    let side = Int(nearest: Double(ControlBars.side) * scale)
    let margin = Int(nearest: Double(ControlBars.margin) * scale)
    return PictureRect(x: (rectangle?.width ?? 0) - margin - side, y: margin, width: side, height: side)
  }

  // MARK: - The pointer

  /// Handles an event of the pointer, whose position is in the view, in pixels.
  ///
  /// - Returns: whether the event was meant for the button.
  func handle(_ event: PointerEvent, scale: Double) -> Bool {
    guard pictureInPictureToggled != nil else { return false }
    let button = buttonRectangle(scale: scale)
    switch event {
    case .moved(let x, let y):
      set(hovers: button.contains(x: Int(x), y: Int(y)))
      controls.show()
      return false
    case .pressed(1, let x, let y):
      isPressed = button.contains(x: Int(x), y: Int(y)) && controls.opacity > 0
      // A finger presses without having moved over the view before.
      controls.show()
      return isPressed
    case .released(1, let x, let y):
      guard isPressed else { return false }
      isPressed = false
      if button.contains(x: Int(x), y: Int(y)) { pictureInPictureToggled?() }
      return true
    case .pressed, .released, .scrolled, .left: return false
    }
  }

  func pointerDidLeave() {
    set(hovers: false)
    controls.hide()
  }

  private func set(hovers: Bool) {
    guard hovers != self.hovers else { return }
    self.hovers = hovers
    changed?()
  }
}

/// Something that the pointer did in a stream's view. Positions are in pixels from the view's upper left corner.
public enum PointerEvent: Sendable {
  /// The pointer moved.
  case moved(x: Double, y: Double)
  /// A button was pressed. Button 1 is the left one; a finger on a touch screen counts as that.
  case pressed(button: Int, x: Double, y: Double)
  /// A button was released. Button 1 is the left one.
  case released(button: Int, x: Double, y: Double)
  /// The wheel was turned. `deltaX` and `deltaY` are in steps of the wheel; right and down are positive.
  case scrolled(x: Double, y: Double, deltaX: Double, deltaY: Double)
  /// The pointer has left.
  case left

  /// Where it happened; nil where the pointer has left.
  package var position: (x: Double, y: Double)? {
    switch self {
    case .moved(let x, let y), .pressed(_, let x, let y), .released(_, let x, let y), .scrolled(let x, let y, _, _):
      (x, y)
    case .left: nil
    }
  }
}
