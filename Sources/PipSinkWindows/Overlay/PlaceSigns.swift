import PipSink

/// What is drawn over the picture of a place, in the app and in picture-in-picture: a text or portrait that covers it,
/// the name, the marks and the caption.
struct PlaceSigns {
  /// The picture's rectangle in the window, in pixels.
  var rectangle: PictureRect
  var participant: Participant
  /// What stands in place of the picture; nil while it is shown.
  var cover: Cover?
  var showsName = true
  /// Whether several people are shown, so that a ring says which of them speaks.
  var marksSpeakers = false
  /// Whether something covers the corner in which the marks are, so that they are in the other one, without the name.
  var isCornerCovered = false
  /// The row of the window above which a caption ends, since there are controls from there on; nil for none.
  var controlsTop: Int?

  /// What stands in place of the picture.
  struct Cover {
    var text: String
    /// Whether the person's image or initials stand above the text.
    var hasPortrait = false
    var opacity = 1.0

    /// - Parameter placeholder: what the text says.
    init(_ placeholder: StreamPlaceholder, text: String? = nil) {
      self.text = text ?? placeholder.text
      switch placeholder {
      case .cameraOff, .audioOnly: hasPortrait = true
      case .waiting, .reconnecting, .inPictureInPicture, .ended, .failed: break
      }
    }
  }

  /// - Parameters:
  ///   - images: the images that were drawn before.
  ///   - scale: the number of pixels in a unit.
  /// - Returns: the parts, the lowest first.
  func parts(_ images: inout LabelImages, scale: Double) -> [WindowOverlay.Part] {
    var parts: [WindowOverlay.Part] = []
    let (right, bottom) = (rectangle.x + rectangle.width, rectangle.y + rectangle.height)
    if let cover {
      let label = LabelImages.Label.cover(
        cover.text, cover.hasPortrait ? Portrait(participant) : nil, rectangle.size)
      parts += OverlayDrawing.coverParts(images[label, scale], in: rectangle, opacity: cover.opacity)
    }
    if showsName, !participant.name.isEmpty, !isCornerCovered {
      let name = images[.name(participant.name, width: rectangle.width), scale]
      parts.append(.init(image: name, origin: (rectangle.x, bottom - name.size.height)))
    }
    var marks: [LabelImages.Label] = participant.isMicrophoneOff ? [.mark(.microphoneOff)] : []
    if let icon = participant.connectionQuality.icon { marks.append(.mark(icon)) }
    var end = isCornerCovered ? rectangle.x + marks.reduce(0) { $0 + images[$1, scale].size.width } : right
    for mark in marks {
      let image = images[mark, scale]
      end -= image.size.width
      parts.append(.init(image: image, origin: (end, bottom - image.size.height)))
    }
    // A stream that is shown elsewhere, or not at all, has no caption here.
    if !participant.caption.isEmpty, cover?.hasPortrait ?? true {
      // It stands above the name and the marks, whether or not there are any, so that it does not jump.
      let style = CaptionStyle.current
      let image = images[.caption(participant.caption, rectangle.size, style), scale]
      let margin = Int(nearest: Double(OverlayDrawing.markSide) * scale * images.look.textScale)
      let end = min(bottom - margin, controlsTop ?? .max)
      let top = style.isAtTop ? rectangle.y + margin / 2 : max(rectangle.y, end - image.size.height)
      parts.append(.init(image: image, origin: (rectangle.x + (rectangle.width - image.size.width) / 2, top)))
    }
    if participant.isSpeaking, marksSpeakers { parts += ring(width: max(1, Int(nearest: 3 * scale))) }
    return parts
  }

  /// A ring along the edges of the picture.
  ///
  /// - Parameter width: in pixels.
  private func ring(width: Int) -> [WindowOverlay.Part] {
    let (x, y, right, bottom) = (
      rectangle.x, rectangle.y, rectangle.x + rectangle.width, rectangle.y + rectangle.height
    )
    guard rectangle.width > 2 * width, rectangle.height > 2 * width else { return [] }
    return [
      PictureRect(x: x, y: y, width: rectangle.width, height: width),
      PictureRect(x: x, y: bottom - width, width: rectangle.width, height: width),
      PictureRect(x: x, y: y + width, width: width, height: rectangle.height - 2 * width),
      PictureRect(x: right - width, y: y + width, width: width, height: rectangle.height - 2 * width),
    ].map { .init(color: OverlayDrawing.ringColor, in: $0) }
  }
}

/// The images of texts and marks, which stay the same from one drawing to the next.
struct LabelImages {
  /// How the user wants them to look.
  var look = DesktopLook() { didSet { if look != oldValue { images = [:] } } }
  /// What an image depends on, apart from the scale. Sizes are in pixels.
  enum Label: Hashable {
    /// What stands in place of a picture.
    case cover(String, Portrait?, PictureSize)
    /// A name in a corner of a picture.
    case name(String, width: Int)
    case mark(ControlIcon)
    /// A caption over a picture.
    case caption(String, PictureSize, CaptionStyle)
  }

  private(set) var images: [Label: OverlayImage] = [:]
  private var scale = 1.0
  private var used: Set<Label> = []

  /// The image of a label.
  ///
  /// - Parameter scale: the number of pixels in a unit, where texts have their usual size.
  subscript(label: Label, scale: Double) -> OverlayImage {
    mutating get {
      if scale != self.scale { (images, self.scale) = ([:], scale) }
      used.insert(label)
      if let image = images[label] { return image }
      // The font of a caption follows the picture's height in units.
      let large = scale * look.textScale
      let image =
        switch label {
        case .cover(let text, let portrait, let size):
          OverlayDrawing.cover(text, portrait, size: size, scale: large)
        case .name(let name, let width): OverlayDrawing.name(name, width: width, scale: large)
        case .caption(let text, let size, let style):
          OverlayDrawing.caption(text, size: size, style, look, scale: scale)
        case .mark(let icon): OverlayDrawing.mark(icon, scale: large)
        }
      images[label] = image
      return image
    }
  }

  /// Forgets the images that nothing has used since the last call.
  mutating func forgetUnused() {
    images = images.filter { used.contains($0.key) }
    used = []
  }
}

extension ConnectionQuality {
  /// The mark that says so; nil where there is none.
  fileprivate var icon: ControlIcon? {
    switch self {
    case .unknown, .good: nil
    case .fair: .connectionFair
    case .poor: .connectionPoor
    }
  }
}
