import CWindows
import PipSink

/// How controls, marks and texts over pictures look. In units that a scale makes pixels.
enum OverlayDrawing {
  static func bar(
    _ bar: ControlBars.Bar, _ presentation: PictureInPicturePresentation, hovered: PictureInPictureAction?, scale: Int
  ) -> OverlayImage {
    let (width, height) = (bar.frame.width, bar.frame.height)
    return OverlayImage(PictureSize(width: width * scale, height: height * scale), scale: scale) { context in
      guard let context else { return }
      cairo_set_source_rgba(context, 0, 0, 0, 0.6)
      fillRounded(context, 0, 0, Double(width), Double(height), radius: 6)
      for (index, action) in bar.actions.enumerated() {
        let x = Double(index * (ControlBars.side + ControlBars.spacing))
        if action == hovered {
          cairo_set_source_rgba(context, 1, 1, 1, 0.25)
          fillRounded(context, x, 0, Double(ControlBars.side), Double(ControlBars.side), radius: 6)
        }
        let padding = Double(ControlBars.side - 16) / 2
        cairo_save(context)
        cairo_translate(context, x + padding, padding)
        ControlIcon(action, isPaused: presentation.isPaused, isMuted: presentation.isMuted).draw(context)
        cairo_restore(context)
      }
    }
  }

  /// A text that stands instead of a picture.
  static func cover(_ text: String, size: PictureSize, scale: Int) -> OverlayImage {
    OverlayImage(size, scale: scale) { context in
      guard let context else { return }
      let (width, height) = (Double(size.width) / Double(scale), Double(size.height) / Double(scale))
      cairo_set_source_rgb(context, 28 / 255, 28 / 255, 28 / 255)
      cairo_paint(context)
      guard let layout = pango_cairo_create_layout(context) else { return }
      defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
      let font = pango_font_description_from_string("sans")
      pango_font_description_set_absolute_size(font, 15 * Double(PANGO_SCALE))
      pango_layout_set_font_description(layout, font)
      pango_font_description_free(font)
      pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER)
      // Addresses and paths have no spaces.
      pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
      pango_layout_set_width(layout, Int32(width) * PANGO_SCALE)
      pango_layout_set_text(layout, text, -1)
      var (_, textHeight): (Int32, Int32) = (0, 0)
      pango_layout_get_pixel_size(layout, nil, &textHeight)
      cairo_set_source_rgb(context, 0xdd / 255, 0xdd / 255, 0xdd / 255)
      cairo_move_to(context, 0, ((height - Double(textHeight)) / 2).rounded())
      pango_cairo_show_layout(context, layout)
    }
  }

  static let microphoneSide = 24

  static func microphone(scale: Int) -> OverlayImage {
    let side = microphoneSide
    return OverlayImage(PictureSize(width: side * scale, height: side * scale), scale: scale) { context in
      guard let context else { return }
      cairo_set_source_rgb(context, 28 / 255, 28 / 255, 28 / 255)
      cairo_paint(context)
      cairo_translate(context, 4, 4)
      ControlIcon.microphoneOff.draw(context)
    }
  }

  private static func fillRounded(
    _ context: OpaquePointer, _ x: Double, _ y: Double, _ width: Double, _ height: Double, radius: Double
  ) {
    cairo_new_sub_path(context)
    cairo_arc(context, x + width - radius, y + radius, radius, -.pi / 2, 0)
    cairo_arc(context, x + width - radius, y + height - radius, radius, 0, .pi / 2)
    cairo_arc(context, x + radius, y + height - radius, radius, .pi / 2, .pi)
    cairo_arc(context, x + radius, y + radius, radius, .pi, 3 * .pi / 2)
    cairo_close_path(context)
    cairo_fill(context)
  }
}
