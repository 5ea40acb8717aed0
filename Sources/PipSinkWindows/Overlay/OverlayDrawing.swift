import CWindows
import PipSink

/// Draws the controls, marks and texts that are shown over pictures. Lengths are in units, and each `scale` is the
/// number of pixels in a unit.
enum OverlayDrawing {
  /// Draws a row of controls.
  ///
  /// - Parameter ground: the opacity of the black ground.
  static func bar(
    _ bar: ControlBars.Bar, _ faces: inout ControlFaces, hovered: PictureInPictureAction?,
    focused: PictureInPictureAction? = nil, ground: Double = DesktopLook().controlsGround, scale: Double
  ) -> OverlayImage {
    let (width, height) = (bar.rectangle.width, bar.rectangle.height)
    return OverlayImage(PictureSize(width: width, height: height).scaled(by: scale), scale: scale) { context in
      guard let context else { return }
      cairo_set_source_rgba(context, 0, 0, 0, ground)
      fillRounded(context, 0, 0, Double(width), Double(height), radius: 6)
      for (control, x, width) in bar.places {
        cairo_save(context)
        cairo_translate(context, Double(x), 0)
        let fill = { (red, green, blue, alpha) in
          cairo_set_source_rgba(context, red, green, blue, alpha)
          fillRounded(context, 0, 0, Double(width), Double(height), radius: 6)
        }
        // White on these has a contrast of at least 4.5 to 1.
        if control.action == .hangUp { fill(0xc0 / 255, 0x1c / 255, 0x28 / 255, 1) }
        if control.showsState { fill(0x1a / 255, 0x5f / 255, 0xb4 / 255, 1) }
        if control.action == hovered { fill(1, 1, 1, 0.25) }
        if control.action == focused { drawFocus(context, width: Double(width), height: Double(height)) }
        let padding = Double(ControlBars.side - 16) / 2
        cairo_translate(context, padding, padding)
        switch faces[control] {
        case .icon(let icon): icon.draw(context)
        case .image(let image): image.draw(context, side: 16)
        case .text(let text): draw(text, width: Double(width) - 2 * padding, height: 16, on: context)
        }
        cairo_restore(context)
      }
    }
  }

  /// Draws the frame around what the keyboard uses, at the inner edge of a rectangle whose upper left corner is at 0. White
  /// on the controls' ground has a contrast of at least 4.5 to 1 over any picture.
  static func drawFocus(_ context: OpaquePointer, width: Double, height: Double) {
    cairo_set_source_rgb(context, 1, 1, 1)
    cairo_set_line_width(context, 2)
    addRounded(context, 1, 1, width - 2, height - 2, radius: 5)
    cairo_stroke(context)
  }

  /// Draws the text of a control into a rectangle whose upper edge is at 0. A text that is too wide ends with an ellipsis.
  static func draw(_ text: String, x: Double = 0, width: Double, height: Double, on context: OpaquePointer) {
    withText(text, font: "sans", size: 12, on: context) { layout in
      pango_layout_set_single_paragraph_mode(layout, 1)
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
      pango_layout_set_width(layout, Int32(width.rounded(.up)) * PANGO_SCALE)
      var size: (width: Int32, height: Int32) = (0, 0)
      pango_layout_get_pixel_size(layout, &size.width, &size.height)
      cairo_set_source_rgb(context, 1, 1, 1)
      cairo_move_to(context, x, (height - Double(size.height)) / 2)
      pango_cairo_show_layout(context, layout)
    }
  }

  /// The width of the text of a control, in units.
  static func width(of text: String, scale: Double) -> Int {
    Int(extents(of: text, font: "sans", size: 12, scale: scale) { pango_layout_set_single_paragraph_mode($0, 1) }.width)
  }

  /// Draws a button that is shown over a stream's view.
  static func button(_ icon: ControlIcon, isHovered: Bool, _ look: DesktopLook, scale: Double) -> OverlayImage {
    let side = Double(ControlBars.side)
    return OverlayImage(
      PictureSize(width: ControlBars.side, height: ControlBars.side).scaled(by: scale), scale: scale
    ) { context in
      guard let context else { return }
      cairo_set_source_rgba(context, 0, 0, 0, look.controlsGround)
      fillRounded(context, 0, 0, side, side, radius: 6)
      if isHovered {
        cairo_set_source_rgba(context, 1, 1, 1, 0.25)
        fillRounded(context, 0, 0, side, side, radius: 6)
      }
      cairo_translate(context, (side - 16) / 2, (side - 16) / 2)
      icon.draw(context)
    }
  }

  /// Draws a stream's name on an opaque background. A name that is too wide ends with an ellipsis.
  ///
  /// - Parameter width: the width of the picture that the name belongs to, in pixels.
  static func name(_ name: String, width: Int, scale: Double) -> OverlayImage {
    label(
      name, font: "sans", size: 12, padding: (8, 2), width: max(1, Int(Double(width) / scale)), scale: scale,
      ground: (coverGray, coverGray, coverGray, 1))
  }

  /// Draws a caption on a dark ground. White on it has a contrast of at least 4.5 to 1 over any picture.
  ///
  /// - Parameter size: the size of the picture that it is over, in pixels.
  static func caption(
    _ text: String, size: PictureSize, _ style: CaptionStyle, _ look: DesktopLook = .init(), scale: Double
  ) -> OverlayImage {
    let (width, height) = (Double(size.width) / scale, Double(size.height) / scale)
    let fontSize = style.fontSize(inHeight: height) * look.textScale
    let (paddingX, paddingY) = ((fontSize * 0.4).rounded(), (fontSize * 0.15).rounded())
    let layOut = { (layout: OpaquePointer) in
      pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER)
      pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
      // Lines below a third of the picture's height are left out, except for the first one of each paragraph.
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
      pango_layout_set_height(layout, Int32(max(1, height / 3) * Double(PANGO_SCALE)))
      pango_layout_set_width(layout, Int32(max(1, width * 0.9 - 2 * paddingX) * Double(PANGO_SCALE)))
    }
    let extents = extents(of: text, font: "sans", size: fontSize, scale: scale, layOut)
    let extent = PictureSize(
      width: Int((Double(extents.width) + 2 * paddingX).rounded(.up)),
      // There may be many paragraphs.
      height: Int(min(height, Double(extents.height) + 2 * paddingY).rounded(.up)))
    return OverlayImage(extent.scaled(by: scale), scale: scale) { context in
      guard let context else { return }
      cairo_set_source_rgba(context, 0, 0, 0, look.captionGround)
      fillRounded(context, 0, 0, Double(extent.width), Double(extent.height), radius: fontSize * 0.25)
      withText(text, font: "sans", size: fontSize, on: context) { layout in
        layOut(layout)
        cairo_set_source_rgb(context, 1, 1, 1)
        cairo_move_to(context, paddingX - Double(extents.x), paddingY)
        pango_cairo_show_layout(context, layout)
      }
    }
  }

  /// Draws a help text of several lines in a monospaced font.
  static func help(_ text: String, scale: Double) -> OverlayImage {
    label(text, font: "monospace", size: 13, padding: (16, 16), scale: scale, ground: (0, 0, 0, 0.8))
  }

  /// - Parameter width: the largest width of the label, in units; nil for that of the text.
  private static func label(
    _ text: String, font name: String, size: Double, padding: (x: Double, y: Double), width limit: Int? = nil,
    scale: Double, ground: (red: Double, green: Double, blue: Double, alpha: Double)
  ) -> OverlayImage {
    let fit = { (layout: OpaquePointer) in
      guard let limit else { return }
      var width: Int32 = 0
      pango_layout_get_pixel_size(layout, &width, nil)
      let room = max(1, limit - 2 * Int(padding.x))
      guard width > room else { return }
      pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
      pango_layout_set_width(layout, Int32(room) * PANGO_SCALE)
    }
    let inside = extents(of: text, font: name, size: size, scale: scale, fit)
    let extent = PictureSize(
      width: Int(inside.width) + 2 * Int(padding.x), height: Int(inside.height) + 2 * Int(padding.y))
    return OverlayImage(extent.scaled(by: scale), scale: scale) { context in
      guard let context else { return }
      cairo_set_source_rgba(context, ground.red, ground.green, ground.blue, ground.alpha)
      cairo_paint(context)
      withText(text, font: name, size: size, on: context) { layout in
        fit(layout)
        cairo_set_source_rgb(context, 1, 1, 1)
        cairo_move_to(context, padding.x, padding.y)
        pango_cairo_show_layout(context, layout)
      }
    }
  }

  /// The rectangle of a text as it is laid out, in units. It is measured on a picture of one pixel.
  private static func extents(
    of text: String, font name: String, size: Double, scale: Double, _ layOut: (OpaquePointer) -> Void
  ) -> PangoRectangle {
    var extents = PangoRectangle()
    _ = OverlayImage(PictureSize(width: 1, height: 1), scale: scale) { context in
      withText(text, font: name, size: size, on: context) { layout in
        layOut(layout)
        pango_layout_get_pixel_extents(layout, nil, &extents)
      }
    }
    return extents
  }

  static func withText(
    _ text: String, font name: String, size: Double, on context: OpaquePointer?, _ body: (OpaquePointer) -> Void
  ) {
    guard let context, let layout = pango_cairo_create_layout(context) else { return }
    defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
    let font = pango_font_description_from_string(name)
    pango_font_description_set_absolute_size(font, size * Double(PANGO_SCALE))
    pango_layout_set_font_description(layout, font)
    pango_font_description_free(font)
    pango_layout_set_text(layout, text, -1)
    body(layout)
  }

  /// The brightness of the background behind a text that replaces a picture, from 0 to 1.
  static let coverGray = 28 / 255.0

  /// Draws what replaces a picture, without its background: a text, and the person's portrait above it. In a picture that
  /// is too low for both, the portrait is alone.
  ///
  /// - Parameter size: the size of the picture that it replaces, in pixels.
  static func cover(
    _ text: String, _ portrait: Portrait? = nil, size: PictureSize, scale: Double
  ) -> OverlayImage {
    let width = max(1, Int(Double(size.width) / scale))
    let room = Double(min(size.width, size.height)) / scale
    let layOut = { (layout: OpaquePointer) in
      pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER)
      // URLs and paths have no spaces, so lines may also break within a word.
      pango_layout_set_wrap(layout, PANGO_WRAP_WORD_CHAR)
      pango_layout_set_width(layout, Int32(width) * PANGO_SCALE)
    }
    let height = extents(of: text, font: "sans", size: 15, scale: scale, layOut).height
    var disc = portrait == nil ? 0 : min(96, room * 0.4)
    let showsText = disc + Double(height) + discGap <= Double(size.height) / scale || portrait == nil
    if !showsText { disc = min(96, room * 0.6) }
    let top = disc == 0 ? 0 : disc + (showsText ? discGap : 0)
    let whole = PictureSize(width: width, height: Int((top + (showsText ? Double(height) : 0)).rounded(.up)))
    return OverlayImage(whole.scaled(by: scale), scale: scale) { context in
      guard let context else { return }
      portrait?.draw(diameter: disc, x: Double(width) / 2, y: disc / 2, on: context)
      guard showsText else { return }
      withText(text, font: "sans", size: 15, on: context) { layout in
        layOut(layout)
        cairo_set_source_rgb(context, 0xdd / 255, 0xdd / 255, 0xdd / 255)
        cairo_move_to(context, 0, top)
        pango_cairo_show_layout(context, layout)
      }
    }
  }

  /// The distance between the portrait and the text below it, in units.
  private static let discGap = 8.0

  /// The colour of the ring around a picture whose person speaks.
  static let ringColor = (red: 52 / 255.0, green: 199 / 255.0, blue: 89 / 255.0)

  /// Returns the parts for a text that replaces a picture: the background and the text in its middle.
  ///
  /// - Parameters:
  ///   - text: an image from ``cover(_:_:size:scale:)``.
  ///   - rectangle: the picture's rectangle in the window, in pixels.
  static func coverParts(_ text: OverlayImage, in rectangle: PictureRect, opacity: Double = 1) -> [WindowOverlay.Part] {
    [
      .init(gray: coverGray, in: rectangle, opacity: opacity),
      .init(
        image: text,
        origin: (
          rectangle.x + (rectangle.width - text.size.width) / 2, rectangle.y + (rectangle.height - text.size.height) / 2
        ),
        opacity: opacity),
    ]
  }

  /// The width and height of a mark, in units.
  static let markSide = 24

  /// Draws a mark in a corner of a picture.
  static func mark(_ icon: ControlIcon, scale: Double) -> OverlayImage {
    let side = markSide
    return OverlayImage(PictureSize(width: side, height: side).scaled(by: scale), scale: scale) { context in
      guard let context else { return }
      cairo_set_source_rgb(context, coverGray, coverGray, coverGray)
      cairo_paint(context)
      cairo_translate(context, 4, 4)
      icon.draw(context)
    }
  }

  static func fillRounded(
    _ context: OpaquePointer, _ x: Double, _ y: Double, _ width: Double, _ height: Double, radius: Double
  ) {
    addRounded(context, x, y, width, height, radius: radius)
    cairo_fill(context)
  }

  private static func addRounded(
    _ context: OpaquePointer, _ x: Double, _ y: Double, _ width: Double, _ height: Double, radius: Double
  ) {
    cairo_new_sub_path(context)
    cairo_arc(context, x + width - radius, y + radius, radius, -.pi / 2, 0)
    cairo_arc(context, x + width - radius, y + height - radius, radius, 0, .pi / 2)
    cairo_arc(context, x + radius, y + height - radius, radius, .pi / 2, .pi)
    cairo_arc(context, x + radius, y + radius, radius, .pi, 3 * .pi / 2)
    cairo_close_path(context)
  }
}

extension DesktopLook {
  /// The opacity of the black ground of controls.
  var controlsGround: Double { hasHighContrast ? 1 : 0.6 }
  /// The opacity of the black ground of a caption.
  var captionGround: Double { hasHighContrast ? 1 : 0.75 }
}
