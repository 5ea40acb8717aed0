import PipSink

/// A stream's place in a window: its picture or what stands there instead, its name, whether its microphone is off, and
/// a button for picture-in-picture.
///
/// It owns one display layer, which follows its bounds, and which can be exchanged while frames flow. A
/// ``VideoContainer`` gives it its bounds, and may be in a window of PipSink's (``VideoWindow``) or in a widget of a
/// toolkit's.
@MainActor
public final class RemoteVideoView {
  public let streamID: StreamID
  /// What is shown here. Another layer has the view's place, size and placeholder at once, and shows its newest frame
  /// there, or black until it has one. The one before leaves first: nothing of it is seen any more, and it can be shown
  /// elsewhere.
  public var layer: SampleBufferDisplayLayer {
    // The surface goes from the one layer to the other by itself.
    didSet { layer.attach(to: place) }
  }
  /// What a display layer is attached to. Usable from every thread, also when the view has gone.
  public var renderer: any VideoRenderer { place }

  let place = ExchangeableRenderer()
  /// Tells the container that something is to be drawn anew.
  var changed: (() -> Void)?
  private let fade = Animation()
  private let controls: FadingOpacity

  public convenience init(streamID: StreamID, videoGravity: VideoGravity = .resizeAspect) {
    self.init(
      streamID: streamID, layer: SampleBufferDisplayLayer(name: streamID.rawValue, videoGravity: videoGravity))
  }

  /// - Parameter layer: shown here from now on.
  public init(streamID: StreamID, layer: SampleBufferDisplayLayer) {
    self.streamID = streamID
    self.layer = layer
    controls = FadingOpacity()
    placeholder = .waiting
    cover = Cover(text: StreamPlaceholder.waiting.text)
    layer.attach(to: place)
    controls.changed = { [weak self] in self?.changed?() }
  }

  /// What is shown instead of the picture, all of which it hides; nil shows the picture.
  ///
  /// The picture of a stream that goes to picture-in-picture fades into the placeholder, and comes back so, unless the
  /// user wants no animations. Every other placeholder is there at once, so that nothing is seen of a camera that is
  /// off.
  public var placeholder: StreamPlaceholder? {
    didSet {
      guard placeholder != oldValue else { return }
      // One text after another is no move of the picture's.
      let isMove = (oldValue ?? placeholder) == .inPictureInPicture && (oldValue == nil) != (placeholder == nil)
      showCover(placeholder?.text, fades: isMove && animates)
    }
  }

  /// Called when the user presses the button that takes the stream to picture-in-picture or, while that is its
  /// placeholder, back. The button is there while the pointer moves over the view, and not at all while this is nil.
  public var pictureInPictureToggled: (@MainActor () -> Void)?

  /// What the pointer does on the view, for apps; the size is the view's, in pixels.
  public var pointerHandler: (@MainActor (PointerEvent, PictureSize) -> Void)?

  /// Whether a crossed microphone is shown in the lower right corner, also beside a placeholder.
  public var isMicrophoneOff = false {
    didSet { if isMicrophoneOff != oldValue { changed?() } }
  }

  /// Whether the stream's name is shown.
  public var showsName = true {
    didSet { if showsName != oldValue { changed?() } }
  }

  /// In pixels; nil while it has no place in a window.
  public var renderSize: PictureSize? { frame?.size }

  /// Frames that were converted for this view so far: none while nobody can see it.
  public var convertedFrameCount: UInt64 { place.tile?.convertedFrameCount ?? 0 }

  /// A copy of the picture that is shown, in pixels of the screen; nil when none is.
  public func image() -> BGRAImage? { place.tile?.image() }

  // MARK: - In a container

  /// Whether the user wants animations.
  var animates = true

  /// In the window, in pixels; nil while it is hidden.
  var frame: PictureRect? {
    didSet {
      guard frame != oldValue else { return }
      place.tile?.frame = frame
      place.isShown = frame != nil
    }
  }

  /// What the view shows pictures in; nil while it is in no window.
  var tile: (any WindowTile)? {
    get { place.tile }
    set {
      newValue?.frame = frame
      place.tile = newValue
      place.isShown = frame != nil
    }
  }

  // MARK: - What lies over the picture

  /// The text over the picture, and how much of it is seen.
  private struct Cover {
    var text: String
    var opacity = 1.0
  }

  private var cover: Cover?
  private var coverImage: (text: String, scale: Double, width: Int, image: OverlayImage)?
  private var nameImage: (scale: Double, image: OverlayImage)?
  private var hovers = false
  private var isPressed = false

  private func showCover(_ text: String?, fades: Bool) {
    let first = cover?.opacity ?? 0
    if let text {
      cover = Cover(text: text, opacity: fades ? first : 1)
      if fades {
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

  /// - Parameter scale: pixels for each unit.
  func overlayLayers(scale: Double) -> [WindowOverlay.Layer] {
    guard let frame else { return [] }
    var layers: [WindowOverlay.Layer] = []
    if let cover {
      if coverImage?.text != cover.text || coverImage?.scale != scale || coverImage?.width != frame.width {
        let image = OverlayDrawing.cover(cover.text, width: frame.width, scale: scale)
        coverImage = (cover.text, scale, frame.width, image)
      }
      if let image = coverImage?.image {
        layers += OverlayDrawing.coverLayers(image, in: frame, opacity: cover.opacity)
      }
    } else {
      coverImage = nil
    }
    if showsName {
      let image =
        nameImage.flatMap { $0.scale == scale ? $0.image : nil } ?? OverlayDrawing.name(streamID.rawValue, scale: scale)
      nameImage = (scale, image)
      layers.append(.init(image: image, origin: (frame.x, frame.y + frame.height - image.size.height)))
    }
    if isMicrophoneOff {
      let image = OverlayDrawing.microphone(scale: scale)
      layers.append(
        .init(
          image: image,
          origin: (frame.x + frame.width - image.size.width, frame.y + frame.height - image.size.height)))
    }
    if pictureInPictureToggled != nil, controls.opacity > 0 {
      let button = buttonFrame(scale: scale)
      let image = OverlayDrawing.button(
        placeholder == .inPictureInPicture ? .backToApp : .pictureInPicture, isHovered: hovers, scale: scale)
      layers.append(
        .init(image: image, origin: (frame.x + button.x, frame.y + button.y), opacity: controls.opacity))
    }
    return layers
  }

  /// In the view, in pixels.
  private func buttonFrame(scale: Double) -> PictureRect {
    let side = Int(nearest: Double(ControlBars.side) * scale)
    let margin = Int(nearest: Double(ControlBars.margin) * scale)
    return PictureRect(x: (frame?.width ?? 0) - margin - side, y: margin, width: side, height: side)
  }

  // MARK: - The pointer

  /// The places of `event` are in the view, in pixels.
  ///
  /// - Returns: whether it was for the button.
  func handle(_ event: PointerEvent, scale: Double) -> Bool {
    guard pictureInPictureToggled != nil else { return false }
    let button = buttonFrame(scale: scale)
    switch event {
    case .moved(let x, let y):
      set(hovers: button.contains(x: Int(x), y: Int(y)))
      controls.show()
      return false
    case .pressed(1, let x, let y):
      isPressed = button.contains(x: Int(x), y: Int(y)) && controls.opacity > 0
      // A finger presses without having come.
      controls.show()
      return isPressed
    case .released(1, let x, let y):
      guard isPressed else { return false }
      isPressed = false
      if button.contains(x: Int(x), y: Int(y)) { pictureInPictureToggled?() }
      return true
    case .pressed, .released, .scrolled: return false
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

/// What the pointer does on a stream's place. Places are in pixels, from its upper left.
public enum PointerEvent: Sendable {
  case moved(x: Double, y: Double)
  /// Buttons are counted from 1, the left one.
  case pressed(button: Int, x: Double, y: Double)
  case released(button: Int, x: Double, y: Double)
  /// By the wheel, in its steps: right and down are positive.
  case scrolled(x: Double, y: Double, deltaX: Double, deltaY: Double)
}
