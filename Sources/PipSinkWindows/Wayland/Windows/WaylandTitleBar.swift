import CWindows
import PipSink

/// A title bar with buttons, for compositors that draw none, such as GNOME's. It is a subsurface above the upper edge
/// of the window's surface.
@MainActor
final class WaylandTitleBar {
  /// The parts of the title bar.
  enum Part: CaseIterable, Sendable {
    /// Everything except the buttons.
    case title
    case minimise
    case maximise
    case close
  }

  /// The title bar's height, in units.
  static let height = 32
  private static let buttonWidth = 40

  private let surface: WaylandObject<WLSurface>
  private let subsurface: WaylandObject<WLSubsurface>
  private let viewport: WaylandObject<WPViewport>?
  private let globals: WaylandGlobals
  private var images: [WaylandImage] = []
  private var shown: Look?
  private(set) var width = 0
  private(set) var hovered: Part?

  /// Everything that the title bar's image depends on.
  private struct Look: Equatable {
    let title: String
    let width: Int
    let scale: Double
    let hovered: Part?
    let isActive: Bool
  }

  /// - Parameters:
  ///   - globals: the compositor's objects.
  ///   - parent: the window's surface. Its next commit adds the title bar.
  ///   - input: gets the user's input on the title bar.
  /// - Returns: nil when the compositor has gone or libwayland cannot allocate memory.
  init?(_ globals: WaylandGlobals, over parent: WaylandObject<WLSurface>, input: WaylandInput) {
    guard let surface = SurfaceGate.shared.make({ globals.compositor?.createSurface() }),
      let subsurface = globals.subcompositor?.getSubsurface(surface.reference, parent.reference)
    else { return nil }
    (self.globals, self.surface, self.subsurface) = (globals, surface, subsurface)
    viewport = globals.viewporter?.getViewport(surface.reference)
    subsurface.setPosition(0, -Self.height)
    subsurface.setDesync()
    globals.setInput(input, of: surface.reference)
  }

  isolated deinit {
    globals.setInput(nil, of: surface.reference)
    for object: WaylandProxy? in [viewport, subsurface, surface] { object?.destroy() }
  }

  /// Returns the part at a position in the title bar, in units.
  func part(x: Double, y: Double) -> Part {
    let fromRight = (Double(width) - x) / Double(Self.buttonWidth)
    switch fromRight {
    case ..<0: return .title
    case ..<1: return .close
    case ..<2: return .maximise
    case ..<3: return .minimise
    default: return .title
    }
  }

  /// Draws the title bar, if it would look different from before.
  ///
  /// - Parameters:
  ///   - title: the window's title.
  ///   - width: the window's width, in units.
  ///   - scale: the number of pixels in a unit.
  ///   - hovered: the part that the pointer is on; nil for none.
  ///   - isActive: whether the window has the focus.
  func draw(_ title: String, width: Int, scale: Double, hovered: Part?, isActive: Bool) {
    let look = Look(title: title, width: width, scale: scale, hovered: hovered, isActive: isActive)
    guard look != shown, width > 0, let memory = globals.sharedMemory else { return }
    let factor = viewport == nil ? 1 : scale
    let size = PictureSize(width: width, height: Self.height).scaled(by: factor)
    images = images.filter { $0.size == size }
    guard let image = images.first(where: { !$0.isBusy }) ?? WaylandImage(memory, size: size) else { return }
    if !images.contains(where: { $0 === image }) { images.append(image) }
    (shown, self.width, self.hovered) = (look, width, hovered)
    paint(look, on: image, factor)
    image.attach(to: surface)
    viewport?.setDestination(width, Self.height)
    surface.commit()
  }

  private func paint(_ look: Look, on image: WaylandImage, _ factor: Double) {
    let target = cairo_image_surface_create_for_data(
      image.pixels, CAIRO_FORMAT_RGB24, Int32(image.size.width), Int32(image.size.height), Int32(image.stride))
    guard let context = cairo_create(target) else { return }
    defer {
      cairo_destroy(context)
      cairo_surface_finish(target)
      cairo_surface_destroy(target)
    }
    cairo_scale(context, factor, factor)
    let shade = look.isActive ? 0.19 : 0.14
    cairo_set_source_rgb(context, shade, shade, shade)
    cairo_paint(context)
    let buttons: [Part] = [.minimise, .maximise, .close]
    for (index, part) in buttons.enumerated() {
      let x = Double(look.width - (buttons.count - index) * Self.buttonWidth)
      if part == look.hovered {
        cairo_set_source_rgba(context, 1, 1, 1, 0.15)
        cairo_rectangle(context, x, 0, Double(Self.buttonWidth), Double(Self.height))
        cairo_fill(context)
      }
      paint(part, on: context, x: x + Double(Self.buttonWidth) / 2, y: Double(Self.height) / 2)
    }
    paintTitle(on: context, look)
  }

  private func paint(_ part: Part, on context: OpaquePointer, x: Double, y: Double) {
    cairo_set_source_rgb(context, 0.9, 0.9, 0.9)
    cairo_set_line_width(context, 1.5)
    switch part {
    case .title: return
    case .minimise:
      cairo_move_to(context, x - 5, y + 4)
      cairo_line_to(context, x + 5, y + 4)
    case .maximise: cairo_rectangle(context, x - 5, y - 5, 10, 10)
    case .close:
      cairo_move_to(context, x - 5, y - 5)
      cairo_line_to(context, x + 5, y + 5)
      cairo_move_to(context, x + 5, y - 5)
      cairo_line_to(context, x - 5, y + 5)
    }
    cairo_stroke(context)
  }

  private func paintTitle(on context: OpaquePointer, _ look: Look) {
    let layout = pango_cairo_create_layout(context)
    defer { g_object_unref(UnsafeMutableRawPointer(layout)) }
    let font = pango_font_description_from_string("Sans Bold 10")
    defer { pango_font_description_free(font) }
    pango_layout_set_font_description(layout, font)
    pango_layout_set_text(layout, look.title, -1)
    // A long title ends with an ellipsis, so that it is in the middle and leaves the buttons free.
    let free = max(0, look.width - 6 * Self.buttonWidth)
    pango_layout_set_width(layout, Int32(clamping: free) * PANGO_SCALE)
    pango_layout_set_alignment(layout, PANGO_ALIGN_CENTER)
    pango_layout_set_ellipsize(layout, PANGO_ELLIPSIZE_END)
    var height: Int32 = 0
    pango_layout_get_pixel_size(layout, nil, &height)
    cairo_set_source_rgb(context, 0.9, 0.9, 0.9)
    cairo_move_to(context, Double(look.width - free) / 2, Double(Self.height - Int(height)) / 2)
    pango_cairo_show_layout(context, layout)
  }
}
