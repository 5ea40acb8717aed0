import PipSink

/// What is drawn over the pictures: a text that covers them, the microphone, what the app draws, the controls.
extension PictureInPictureWindow {
  func draw() {
    guard isOpen, let presentation, let scale = native?.scale, size.isValid else { return }
    let controls = controls.parts(presentation, size: size)
    let above = (content?.parts(in: size, scale: scale) ?? []) + controls
    let controlsTop = controls.map(\.rectangle.y).filter { $0 > size.height / 2 }.min()
    for place in presentation.places {
      guard rectangles.count > place.slot, let picture = rectangles[place.slot] else { continue }
      var signs = signs(of: place, in: picture, presentation)
      signs.controlsTop = controlsTop
      var parts = signs.parts(&labels, scale: scale)
      if presentation.overflowCount > 0, place == presentation.places.last {
        let count = labels[.name("+\(presentation.overflowCount)", width: picture.width), scale]
        parts.append(.init(image: count, origin: (picture.x + picture.width - count.size.width, picture.y)))
      }
      overlays[place.slot].set(parts + above, over: [slots[place.slot]])
    }
    gaps.draw(above)
    labels.forgetUnused()
  }

  /// What is drawn over one picture.
  private func signs(
    of place: PictureInPicturePlace, in picture: PictureRect, _ presentation: PictureInPicturePresentation
  ) -> PlaceSigns {
    let isAmongOthers = presentation.places.count > 1
    var signs = PlaceSigns(rectangle: picture, participant: place.participant)
    signs.showsName = presentation.layout == .grid && isAmongOthers
    signs.cover = place.placeholder.map { .init($0, text: signs.showsName ? nil : place.coverText) }
    signs.marksSpeakers = isAmongOthers
    // The small picture may cover the large one's usual corner.
    signs.isCornerCovered =
      presentation.layout == .speaker && isAmongOthers && place.slot == 0 && smallCorner == .bottomRight
    return signs
  }
}

extension PictureInPicturePlace {
  /// The text that is shown instead of the picture where the name is nowhere else; nil where the picture is shown.
  package var coverText: String? {
    let name = participant.name
    switch placeholder {
    case .cameraOff, .audioOnly, .ended, .failed:
      return placeholder.map { name.isEmpty ? $0.text : "\(name)\n\($0.text)" }
    case nil, .waiting, .reconnecting, .inPictureInPicture: return placeholder?.text
    }
  }
}
