import CLibYUV
import CWindows
import PipSink
import Synchronization

/// The images that are shown over a window's video. They are drawn once and then blended over every frame.
package final class WindowOverlay: PictureDecoration {
  /// One image or colour at a position in the window.
  struct Part: Sendable {
    enum Content: Sendable {
      case image(OverlayImage)
      /// A single colour whose components are between 0 and 1.
      case color(red: Double, green: Double, blue: Double)
    }

    let content: Content
    /// The part's rectangle in the window, in pixels.
    let rectangle: PictureRect
    var opacity = 1.0
    /// Whether the part covers everything below it when its opacity is 1.
    var isOpaque = false

    /// - Parameter origin: the position of the image's upper left corner in the window, in pixels.
    init(image: OverlayImage, origin: (x: Int, y: Int), opacity: Double = 1) {
      content = .image(image)
      rectangle = PictureRect(x: origin.x, y: origin.y, width: image.size.width, height: image.size.height)
      self.opacity = opacity
    }

    /// Fills a rectangle of the window, in pixels, with one shade of gray.
    init(gray: Double, in rectangle: PictureRect, opacity: Double = 1) {
      self.init(color: (gray, gray, gray), in: rectangle, opacity: opacity)
    }

    /// Fills a rectangle of the window, in pixels, with a colour whose components are between 0 and 1.
    init(color: (red: Double, green: Double, blue: Double), in rectangle: PictureRect, opacity: Double = 1) {
      content = .color(red: color.red, green: color.green, blue: color.blue)
      self.rectangle = rectangle
      self.opacity = opacity
      isOpaque = true
    }

    /// Whether the part covers everything below it.
    fileprivate var isCover: Bool { isOpaque && opacity >= 1 }

    /// Whether it can be drawn without a cairo context.
    fileprivate var isSimple: Bool {
      guard opacity >= 1 else { return false }
      return if case .image(let image) = content { image.hasPixels } else { true }
    }

    /// Draws a part that is simple.
    ///
    /// - Parameters:
    ///   - pixels: the picture's BGRx pixels, with `stride` bytes in each row.
    ///   - area: the picture's rectangle in the window, in pixels.
    fileprivate func draw(on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect) {
      switch content {
      case .image(let image): image.blend(on: pixels, stride: stride, in: area, x: rectangle.x, y: rectangle.y)
      case .color(let red, let green, let blue):
        guard let shown = area.intersection(rectangle) else { return }
        let color = [red, green, blue].reduce(UInt32(255)) { $0 << 8 | UInt32(max(0, min(1, $1)) * 255 + 0.5) }
        ARGBRect(
          pixels, Int32(stride), Int32(shown.x - area.x), Int32(shown.y - area.y), Int32(shown.width),
          Int32(shown.height), color)
      }
    }

    /// - Parameter origin: the position in the window of the picture that is drawn on, in pixels.
    func paint(on context: OpaquePointer?, from origin: (x: Int, y: Int)) {
      let (x, y) = (rectangle.x - origin.x, rectangle.y - origin.y)
      switch content {
      case .image(let image): image.paint(on: context, x: x, y: y, opacity)
      case .color(let red, let green, let blue):
        cairo_set_source_rgba(context, red, green, blue, opacity)
        cairo_rectangle(context, Double(x), Double(y), Double(rectangle.width), Double(rectangle.height))
        cairo_fill(context)
      }
    }
  }

  private let parts = Locked<[Part]>([])
  /// Whether there are parts at all, and parts that can hide a picture. Where there are none, a frame takes no lock.
  private let hasParts = Atomic(false)
  private let hasCovers = Atomic(false)
  private let setCount = Atomic(UInt64(0))

  /// Replaces all parts. The first one is the lowest.
  func set(_ parts: [Part]) {
    let visible = parts.filter { $0.opacity > 0 }
    self.parts.withLock { parts in
      parts = visible
      hasParts.store(!visible.isEmpty, ordering: .releasing)
      hasCovers.store(visible.contains(where: \.isCover), ordering: .releasing)
      setCount.add(1, ordering: .releasing)
    }
  }

  /// Replaces all parts and redraws the pictures in `places`.
  ///
  /// A picture that was covered and is not any more is requested from its display layer, which has kept it: a stream
  /// that is paused delivers no other.
  func set(_ parts: [Part], over places: [ExchangeableRenderer]) {
    let hidden = places.filter { $0.tile?.rectangle.map(hides) == true }
    set(parts)
    for place in places { place.tile?.redraw() }
    for place in hidden where place.tile?.rectangle.map(hides) == false { place.askForPicture() }
  }

  package func isShown(in area: PictureRect) -> Bool {
    hasParts.load(ordering: .acquiring) && parts.withLock { $0.contains { $0.rectangle.intersects(area) } }
  }

  package var revision: UInt64 { setCount.load(ordering: .acquiring) }

  package func hides(_ area: PictureRect) -> Bool {
    hasCovers.load(ordering: .acquiring)
      && parts.withLock { $0.contains { $0.isCover && $0.rectangle.contains(area) } }
  }

  package func draw(
    on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void
  ) {
    guard hasParts.load(ordering: .acquiring) else { return }
    let parts = parts.withLock { $0.filter { $0.rectangle.intersects(area) } }
    guard !parts.isEmpty else { return }
    for part in parts {
      let rectangle = part.rectangle
      willDraw(
        PictureRect(x: rectangle.x - area.x, y: rectangle.y - area.y, width: rectangle.width, height: rectangle.height))
    }
    // For a name and a mark, setting up cairo for every frame takes longer than drawing.
    if parts.allSatisfy(\.isSimple) {
      for part in parts { part.draw(on: pixels, stride: stride, in: area) }
      return
    }
    let surface = cairo_image_surface_create_for_data(
      pixels, CAIRO_FORMAT_RGB24, Int32(area.width), Int32(area.height), Int32(stride))
    let context = cairo_create(surface)
    for part in parts { part.paint(on: context, from: (area.x, area.y)) }
    cairo_destroy(context)
    cairo_surface_finish(surface)
    cairo_surface_destroy(surface)
  }
}

extension PictureRect {
  /// Whether a point is in the rectangle.
  func contains(x: Int, y: Int) -> Bool {
    x >= self.x && y >= self.y && x < self.x + width && y < self.y + height
  }

  /// Whether another rectangle is completely in this one.
  func contains(_ other: PictureRect) -> Bool {
    other.x >= x && other.y >= y && other.x + other.width <= x + width && other.y + other.height <= y + height
  }

  /// The smallest rectangle that contains both.
  func union(_ other: PictureRect) -> PictureRect {
    let (left, top) = (min(x, other.x), min(y, other.y))
    return PictureRect(
      x: left, y: top, width: max(x + width, other.x + other.width) - left,
      height: max(y + height, other.y + other.height) - top)
  }

  /// Whether two rectangles have at least one point in common.
  func intersects(_ other: PictureRect) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }
}

extension PictureSize {
  /// Returns the size multiplied by a factor and rounded to whole pixels, at least 1 by 1.
  func scaled(by factor: Double) -> PictureSize {
    PictureSize(
      width: max(1, Int(nearest: Double(width) * factor)), height: max(1, Int(nearest: Double(height) * factor)))
  }
}
