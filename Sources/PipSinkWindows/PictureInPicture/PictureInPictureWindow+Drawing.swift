import PipSink

/// What is drawn over the pictures: a text that covers them, the microphone, the controls.
extension PictureInPictureWindow {
  /// Something that is drawn over a picture, with all that its image depends on.
  enum Label: Hashable {
    /// A text that covers a picture of this width, in pixels.
    case cover(String, width: Int)
    /// A name in a corner of a picture of this width, in pixels.
    case name(String, width: Int)
    case microphoneOff
  }

  func draw() {
    guard isOpen, let presentation, let scale = native?.scale, size.isValid else { return }
    var used: [Label: OverlayImage] = [:]
    let image = { [labels] (label: Label) in
      let image = labels[label] ?? OverlayDrawing.image(of: label, scale: scale)
      used[label] = image
      return image
    }
    let controls = controls.parts(presentation, size: size)
    for place in presentation.places {
      guard rectangles.count > place.slot, let picture = rectangles[place.slot] else { continue }
      let isLast = place == presentation.places.last
      let parts = parts(of: place, in: picture, presentation, overflow: isLast ? presentation.overflowCount : 0, image)
      overlays[place.slot].set(parts + controls, over: [slots[place.slot]])
    }
    labels = used
  }

  /// What is drawn over one picture.
  private func parts(
    of place: PictureInPicturePlace, in picture: PictureRect, _ presentation: PictureInPicturePresentation,
    overflow: Int, _ image: (Label) -> OverlayImage
  ) -> [WindowOverlay.Part] {
    var parts: [WindowOverlay.Part] = []
    let (right, bottom) = (picture.x + picture.width, picture.y + picture.height)
    if let text = place.coverText {
      parts += OverlayDrawing.coverParts(image(.cover(text, width: picture.width)), in: picture)
    } else if presentation.layout == .grid, presentation.places.count > 1, !place.name.isEmpty {
      let name = image(.name(place.name, width: picture.width))
      parts.append(.init(image: name, origin: (picture.x, bottom - name.size.height)))
    }
    if place.isMicrophoneOff {
      let mark = image(.microphoneOff)
      // The small picture may cover the large one's usual corner.
      let isCovered = presentation.layout == .speaker && place.slot == 0 && smallCorner == .bottomRight
      let x = isCovered && presentation.places.count > 1 ? picture.x : right - mark.size.width
      parts.append(.init(image: mark, origin: (x, bottom - mark.size.height)))
    }
    if overflow > 0 {
      let count = image(.name("+\(overflow)", width: picture.width))
      parts.append(.init(image: count, origin: (right - count.size.width, picture.y)))
    }
    return parts
  }
}

extension OverlayDrawing {
  fileprivate static func image(of label: PictureInPictureWindow.Label, scale: Double) -> OverlayImage {
    switch label {
    case .cover(let text, let width): cover(text, width: width, scale: scale)
    case .name(let name, let width): self.name(name, width: width, scale: scale)
    case .microphoneOff: microphone(scale: scale)
    }
  }
}

extension PictureInPicturePlace {
  /// The text that is shown instead of the picture, or nil where the picture is shown.
  package var coverText: String? {
    switch placeholder {
    case .cameraOff, .audioOnly, .ended, .failed: placeholder.map { name.isEmpty ? $0.text : "\(name)\n\($0.text)" }
    case nil, .waiting, .reconnecting, .inPictureInPicture: placeholder?.text
    }
  }
}
