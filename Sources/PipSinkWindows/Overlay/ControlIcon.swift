import CWindows
import PipSink

/// The icons on the buttons over streams, and those of the marks.
///
/// They are drawn by this code, because icon themes may be missing.
package enum ControlIcon {
  case play, pause, pictureInPicture, backToApp, close, sound, muted, hideCaptions, showCaptions, previous, next, back,
    forward, layout, fullscreen, leaveFullscreen, changeSize, letPointerThrough, takePointer, microphoneOff,
    turnMicrophoneOff, turnMicrophoneOn, turnCameraOff, turnCameraOn, hangUp, raiseHand, lowerHand, connectionFair,
    connectionPoor

  /// Chooses the icon of a picture-in-picture control in its current state; nil for a control of the app's.
  package init?(_ control: PictureInPictureControl) {
    let isOff = control.isOn == false
    switch control.action {
    case .playPause: self = isOff ? .play : .pause
    case .backToApp: self = .backToApp
    case .close: self = .close
    case .mute: self = control.isOn == true ? .muted : .sound
    case .captions: self = isOff ? .showCaptions : .hideCaptions
    case .previousStream: self = .previous
    case .nextStream: self = .next
    case .skipBackward: self = .back
    case .skipForward: self = .forward
    case .changeLayout: self = .layout
    case .fullscreen: self = control.isOn == true ? .leaveFullscreen : .fullscreen
    case .changeSize: self = .changeSize
    case .clickThrough: self = control.isOn == true ? .takePointer : .letPointerThrough
    case .microphone: self = isOff ? .turnMicrophoneOn : .turnMicrophoneOff
    case .camera: self = isOff ? .turnCameraOn : .turnCameraOff
    case .hangUp: self = .hangUp
    case .raiseHand: self = control.isOn == true ? .lowerHand : .raiseHand
    case .seek, .custom: return nil
    }
  }

  /// Draws the icon in white into a square of 16 by 16 units whose upper left corner is at the origin. What is off is
  /// crossed out in red. A connection has a bar for each step of its quality, and the others are gray.
  ///
  /// - Parameter context: a `cairo_t`.
  package func draw(_ context: OpaquePointer) {
    cairo_set_source_rgb(context, 1, 1, 1)
    cairo_set_line_width(context, 2)
    cairo_set_line_cap(context, CAIRO_LINE_CAP_ROUND)
    switch self {
    case .play: fill(context, [(4, 2), (14, 8), (4, 14)])
    case .pause:
      fill(context, [(3, 2), (7, 2), (7, 14), (3, 14)])
      fill(context, [(9, 2), (13, 2), (13, 14), (9, 14)])
    case .close:
      stroke(context, [(3, 3), (13, 13)])
      stroke(context, [(13, 3), (3, 13)])
    case .pictureInPicture:
      stroke(context, [(6, 13), (1, 13), (1, 3), (15, 3), (15, 7)])
      fill(context, [(8, 9), (15, 9), (15, 14), (8, 14)])
    case .backToApp:
      stroke(context, [(8, 14), (2, 14), (2, 2), (14, 2), (14, 8)])
      fill(context, [(8, 8), (15, 9), (9, 15)])
      stroke(context, [(6, 6), (11, 11)])
    case .sound, .muted:
      fill(context, [(1, 6), (4, 6), (8, 2), (8, 14), (4, 10), (1, 10)])
      if self == .muted {
        stroke(context, [(11, 6), (15, 10)])
        stroke(context, [(15, 6), (11, 10)])
      } else {
        stroke(context, [(11, 5), (12, 8), (11, 11)])
        stroke(context, [(14, 3), (15, 8), (14, 13)])
      }
    case .hideCaptions, .showCaptions:
      cairo_set_line_width(context, 1.5)
      stroke(context, [(1, 3), (15, 3), (15, 13), (1, 13), (1, 3)])
      stroke(context, [(4, 7.5), (12, 7.5)])
      stroke(context, [(4, 10.5), (9, 10.5)])
      if self == .showCaptions { crossOut(context) }
    case .previous:
      fill(context, [(14, 2), (5, 8), (14, 14)])
      stroke(context, [(3, 3), (3, 13)])
    case .next:
      fill(context, [(2, 2), (11, 8), (2, 14)])
      stroke(context, [(13, 3), (13, 13)])
    case .back:
      fill(context, [(8, 3), (1, 8), (8, 13)])
      fill(context, [(15, 3), (8, 8), (15, 13)])
    case .forward:
      fill(context, [(1, 3), (8, 8), (1, 13)])
      fill(context, [(8, 3), (15, 8), (8, 13)])
    case .layout:
      for (x, y) in [(1.0, 2.0), (9, 2), (1, 9), (9, 9)] {
        fill(context, [(x, y), (x + 6, y), (x + 6, y + 5), (x, y + 5)])
      }
    case .fullscreen:
      stroke(context, [(2, 6), (2, 2), (6, 2)])
      stroke(context, [(10, 2), (14, 2), (14, 6)])
      stroke(context, [(14, 10), (14, 14), (10, 14)])
      stroke(context, [(6, 14), (2, 14), (2, 10)])
    case .leaveFullscreen:
      stroke(context, [(6, 2), (6, 6), (2, 6)])
      stroke(context, [(10, 2), (10, 6), (14, 6)])
      stroke(context, [(14, 10), (10, 10), (10, 14)])
      stroke(context, [(6, 14), (6, 10), (2, 10)])
    case .changeSize:
      cairo_set_line_width(context, 1.5)
      stroke(context, [(2, 2), (14, 2), (14, 14), (2, 14), (2, 2)])
      fill(context, [(2, 8), (8, 8), (8, 14), (2, 14)])
    case .letPointerThrough, .takePointer:
      // An arrow as that of a pointer.
      fill(context, [(4, 1), (13, 9.5), (9, 10), (11.5, 14.5), (9.5, 15.5), (7, 11), (4, 13.5)])
      if self == .takePointer { crossOut(context) }
    case .microphoneOff, .turnMicrophoneOff, .turnMicrophoneOn:
      fill(context, [(6, 2), (7, 1), (9, 1), (10, 2), (10, 8), (9, 9), (7, 9), (6, 8)])
      cairo_set_line_width(context, 1.5)
      stroke(context, [(3.5, 7), (4, 9.5), (6, 11.5), (10, 11.5), (12, 9.5), (12.5, 7)])
      stroke(context, [(8, 11.5), (8, 15)])
      if self != .turnMicrophoneOff { crossOut(context) }
    case .turnCameraOff, .turnCameraOn:
      fill(context, [(1, 4), (10, 4), (10, 12), (1, 12)])
      fill(context, [(11, 7), (15, 4), (15, 12), (11, 9)])
      if self == .turnCameraOn { crossOut(context) }
    case .hangUp:
      // A handset that lies on its hook.
      cairo_new_path(context)
      cairo_arc(context, 8, 14, 8, 1.17 * .pi, 1.83 * .pi)
      cairo_set_line_width(context, 3)
      cairo_stroke(context)
      fill(context, [(0, 8.5), (4, 7.5), (5, 11), (1, 12)])
      fill(context, [(16, 8.5), (12, 7.5), (11, 11), (15, 12)])
    case .raiseHand, .lowerHand:
      fill(context, [(4, 8), (12, 8), (12, 12), (10, 15), (6, 15), (4, 12)])
      cairo_set_line_width(context, 1.7)
      for (x, top) in [(4.85, 3.5), (6.95, 1.5), (9.05, 1.5), (11.15, 3.5)] {
        stroke(context, [(x, top), (x, 9)])
      }
      stroke(context, [(1.5, 8), (5, 12)])
    case .connectionFair: drawBars(context, 2, red: 1, green: 0.75, blue: 0.2)
    case .connectionPoor: drawBars(context, 1, red: 0.95, green: 0.25, blue: 0.25)
    }
  }

  private func crossOut(_ context: OpaquePointer) {
    cairo_set_source_rgb(context, 0.95, 0.25, 0.25)
    cairo_set_line_width(context, 2)
    stroke(context, [(2, 2), (14, 14)])
  }

  private func drawBars(_ context: OpaquePointer, _ count: Int, red: Double, green: Double, blue: Double) {
    for bar in 0..<3 {
      let (x, top) = (Double(1 + 5 * bar), Double(10 - 4 * bar))
      if bar < count {
        cairo_set_source_rgb(context, red, green, blue)
      } else {
        cairo_set_source_rgb(context, 0.45, 0.45, 0.45)
      }
      fill(context, [(x, top), (x + 4, top), (x + 4, 14), (x, 14)])
    }
  }

  private func path(_ context: OpaquePointer, _ points: [(Double, Double)]) {
    cairo_new_path(context)
    for point in points { cairo_line_to(context, point.0, point.1) }
  }

  private func fill(_ context: OpaquePointer, _ points: [(Double, Double)]) {
    path(context, points)
    cairo_close_path(context)
    cairo_fill(context)
  }

  private func stroke(_ context: OpaquePointer, _ points: [(Double, Double)]) {
    path(context, points)
    cairo_stroke(context)
  }
}
