import PipSink

/// What is drawn over the pictures: a text that covers them, the microphone, the controls.
extension PictureInPictureWindow {
  func draw() {
    guard isOpen, let presentation, let scale = native?.scale, size.isValid else { return }
    var layers: [WindowOverlay.Layer] = []
    let picture = first.tile?.frame ?? PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    if let text = presentation.content.coverText {
      if cover?.text != text || cover?.width != picture.width || cover?.scale != scale {
        let image = OverlayDrawing.cover(text, width: picture.width, scale: scale)
        cover = (text, picture.width, scale, image)
      }
      if let cover { layers += OverlayDrawing.coverLayers(cover.image, in: picture) }
    } else {
      cover = nil
    }
    if presentation.isMicrophoneOff {
      let side = Int(nearest: Double(OverlayDrawing.microphoneSide) * scale)
      layers.append(
        .init(
          image: OverlayDrawing.microphone(scale: scale),
          origin: (picture.x + picture.width - side, picture.y + picture.height - side)))
    }
    layers += controls.layers(presentation, size: size)
    overlay.set(layers, over: presentation.secondStreamID == nil ? [first] : [first, second])
  }
}

extension PictureInPictureContent {
  /// The text that is shown instead of the picture, or nil where the picture is shown.
  package var coverText: String? {
    switch self {
    case .video, .screenShare: nil
    case .cameraOff(let name): "\(name)\nCamera is off"
    case .reconnecting: "Reconnecting"
    case .ended(let name): "\(name)\nThe stream has ended"
    case .inactive: "No video"
    }
  }
}
