import CWindows
import PipSink

/// What stands in a stream's place instead of its picture, as a picture of its own: for surfaces that are no part of a
/// window of PipSink's.
package enum PlaceholderPicture {
  /// Draws a text all over a picture, as BGRA without transparency. From any thread.
  ///
  /// - Parameters:
  ///   - text: ``StreamPlaceholder/text``, for instance.
  ///   - pixels: four times the width bytes a row, from the top; valid for the time of the call.
  ///   - scale: pixels for each unit that the text is measured in.
  package static func draw(
    _ text: String, on pixels: UnsafeMutablePointer<UInt8>, size: PictureSize, scale: Double
  ) {
    let area = PictureRect(x: 0, y: 0, width: size.width, height: size.height)
    let overlay = WindowOverlay()
    overlay.set(
      OverlayDrawing.coverLayers(
        OverlayDrawing.cover(text, width: size.width, scale: scale), in: area))
    overlay.draw(on: pixels, stride: size.width * 4, in: area) { _ in }
    // Cairo has drawn into a format whose fourth byte is nobody's.
    FrameCanvas.makeOpaque(pixels, stride: size.width * 4, size: size)
  }
}

extension StreamPlaceholder {
  package var text: String {
    switch self {
    case .waiting: "Waiting for video"
    case .cameraOff: "Camera is off"
    case .reconnecting: "Reconnecting"
    case .inPictureInPicture: "In picture-in-picture"
    case .ended: "The stream has ended"
    case .failed(let reason): "The stream has failed\n\(reason)"
    }
  }
}
