import CWindows
import PipSink

/// What stands for a person without a picture: a disc with the app's image of the person, or with initials.
struct Portrait: Hashable {
  /// What is on the disc.
  private enum Content: Equatable {
    case initials(String)
    case image(BGRAImage)
  }

  private let content: Content
  /// The hue of the disc, from 0 to 1.
  private let hue: Double

  /// - Returns: nil for somebody without a name or an image.
  init?(_ participant: Participant) {
    guard participant.image != nil || !participant.initials.isEmpty else { return nil }
    content = participant.image.map { .image($0) } ?? .initials(participant.initials)
    hue = participant.hue
  }

  /// Hashes the hue alone, which two people seldom have in common; an image has many bytes.
  func hash(into hasher: inout Hasher) { hasher.combine(hue) }

  /// Draws the disc with its centre at a position.
  func draw(diameter: Double, x: Double, y: Double, on context: OpaquePointer) {
    let color = Self.discColor(hue: hue)
    cairo_set_source_rgb(context, color.red, color.green, color.blue)
    cairo_arc(context, x, y, diameter / 2, 0, 2 * .pi)
    switch content {
    case .image(let image):
      cairo_fill_preserve(context)
      cairo_save(context)
      cairo_clip(context)
      // The middle of the image, whose shorter side is as long as the disc is wide.
      let scale = diameter / Double(min(image.size.width, image.size.height))
      image.draw(
        on: context, x: x - Double(image.size.width) * scale / 2, y: y - Double(image.size.height) * scale / 2,
        scale: (scale, scale))
      cairo_restore(context)
    case .initials(let initials):
      cairo_fill(context)
      OverlayDrawing.withText(initials, font: "sans bold", size: diameter * 0.4, on: context) { layout in
        var (width, height): (Int32, Int32) = (0, 0)
        pango_layout_get_pixel_size(layout, &width, &height)
        cairo_set_source_rgb(context, 1, 1, 1)
        cairo_move_to(context, x - Double(width) / 2, y - Double(height) / 2)
        pango_cairo_show_layout(context, layout)
      }
    }
  }

  /// The colour of the disc behind initials. White on it has a contrast of at least 4.5 to 1 (WCAG 2).
  ///
  /// - Parameter hue: from 0 to 1.
  static func discColor(hue: Double) -> (red: Double, green: Double, blue: Double) {
    // HSL with a saturation of 0.5. Yellow and green look brighter than the other hues.
    func component(_ shift: Double) -> Double {
      let place = (shift + hue * 12).truncatingRemainder(dividingBy: 12)
      let lightness = 0.31
      return lightness - 0.5 * lightness * max(-1, min(place - 3, 9 - place, 1))
    }
    return (component(0), component(8), component(4))
  }
}
