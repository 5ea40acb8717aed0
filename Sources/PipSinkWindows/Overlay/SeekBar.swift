import CWindows
import PipSink

/// A bar that shows how far a stream has come, and on which the user seeks: the time, a track with a knob, and the
/// duration. Lengths are in units.
struct SeekBar: Equatable {
  /// The bar's rectangle in the window.
  let rectangle: PictureRect
  let progress: PlaybackProgress
  /// Whether the keyboard uses the bar.
  let isFocused: Bool
  /// The opacity of the black ground.
  let ground: Double
  /// The number of pixels in a unit.
  let scale: Double
  /// The width of each of the two times.
  private let timeWidth: Int

  private static let padding = 8
  private static let knobRadius = 5.0

  init(
    _ rectangle: PictureRect, _ progress: PlaybackProgress, isFocused: Bool = false,
    ground: Double = DesktopLook().controlsGround, scale: Double
  ) {
    (self.rectangle, self.progress, self.isFocused) = (rectangle, progress, isFocused)
    (self.ground, self.scale) = (ground, scale)
    // All times are as wide as the longest one, so that the track does not move.
    let widest = String(Self.text(of: progress.duration).map { $0 == ":" ? ":" : "0" })
    timeWidth = OverlayDrawing.width(of: widest, scale: scale)
  }

  /// The left and right ends of the track, from the bar's left edge.
  var track: (start: Double, end: Double) {
    let side = Double(2 * Self.padding + timeWidth)
    return (side, max(side + 1, Double(rectangle.width) - side))
  }

  /// Where the knob is on the track, from 0 to 1.
  private var part: Double {
    let (position, duration) = (progress.position.seconds, progress.duration.seconds)
    return duration > 0 ? max(0, min(position / duration, 1)) : 0
  }

  /// The time that belongs to a place on the bar.
  ///
  /// - Parameter x: the place in the window.
  func time(atX x: Double) -> MediaTime {
    let (start, end) = track
    let part = max(0, min((x - Double(rectangle.x) - start) / (end - start), 1))
    return MediaTime(seconds: progress.duration.seconds * part)
  }

  /// What the bar's image depends on: the times as they are written, and the knob's place in pixels.
  struct Look: Equatable {
    let rectangle: PictureRect
    let scale: Double
    let times: [String]
    let knob: Int
    let isFocused: Bool
    let ground: Double
  }

  var look: Look {
    let (start, end) = track
    return Look(
      rectangle: rectangle, scale: scale, times: [progress.position, progress.duration].map { Self.text(of: $0) },
      knob: Int(nearest: (start + (end - start) * part) * scale), isFocused: isFocused, ground: ground)
  }

  /// A time as people write it: "3:07", or "1:03:07".
  static func text(of time: MediaTime) -> String {
    let seconds = Int(max(0, min(time.isNumeric ? time.seconds : 0, 359_999)))
    func twoDigits(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60)
    return (hours > 0 ? "\(hours):\(twoDigits(minutes))" : "\(minutes)") + ":\(twoDigits(seconds % 60))"
  }

  func image() -> OverlayImage {
    let size = PictureSize(width: rectangle.width, height: rectangle.height)
    return OverlayImage(size.scaled(by: scale), scale: scale) { context in
      guard let context else { return }
      let (width, middle) = (Double(size.width), Double(size.height) / 2)
      cairo_set_source_rgba(context, 0, 0, 0, ground)
      OverlayDrawing.fillRounded(context, 0, 0, width, Double(size.height), radius: 6)
      let (padding, room) = (Double(Self.padding), Double(timeWidth))
      for (text, x) in zip(look.times, [padding, width - padding - room]) {
        OverlayDrawing.draw(text, x: x, width: room, height: Double(size.height), on: context)
      }
      let (start, end) = track
      let knob = start + (end - start) * part
      for (edge, gray) in [(end, 0.5), (knob, 1.0)] {
        cairo_set_source_rgb(context, gray, gray, gray)
        OverlayDrawing.fillRounded(context, start - 2, middle - 2, edge - start + 4, 4, radius: 2)
      }
      cairo_arc(context, knob, middle, Self.knobRadius, 0, 2 * .pi)
      cairo_fill(context)
      if isFocused { OverlayDrawing.drawFocus(context, width: width, height: Double(size.height)) }
    }
  }
}
