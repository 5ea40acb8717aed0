import PipSink

/// What is drawn over the pictures: a text that covers them, the microphone, the controls.
extension PictureInPictureWindow {
  func draw() {
    guard isOpen, let presentation, let scale = native?.scale, size.isValid else { return }
    var parts: [WindowOverlay.Part] = []
    let window = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    for (place, tile) in zip(presentation.places, [first.tile, second.tile]) {
      guard let text = place.coverText else { continue }
      let picture = tile?.rectangle ?? window
      if cover?.text != text || cover?.width != picture.width || cover?.scale != scale {
        cover = (text, picture.width, scale, OverlayDrawing.cover(text, width: picture.width, scale: scale))
      }
      if let cover { parts += OverlayDrawing.coverParts(cover.image, in: picture) }
    }
    let picture = first.tile?.rectangle ?? window
    if presentation.isMicrophoneOff {
      let side = Int(nearest: Double(OverlayDrawing.microphoneSide) * scale)
      parts.append(
        .init(
          image: OverlayDrawing.microphone(scale: scale),
          origin: (picture.x + picture.width - side, picture.y + picture.height - side)))
    }
    parts += controls.parts(presentation, size: size)
    overlay.set(parts, over: presentation.secondStreamID == nil ? [first] : [first, second])
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
