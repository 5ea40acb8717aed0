import CWindows
import PipSink

/// Pictures that lie over a window's video: they are drawn once, and put over every frame.
package final class WindowOverlay: PictureDecoration {
  struct Layer: Sendable {
    enum Content: Sendable {
      case image(OverlayImage)
      /// One colour; its parts are from 0 to 1.
      case color(red: Double, green: Double, blue: Double)
    }

    let content: Content
    /// In the window, in pixels.
    let frame: PictureRect
    var opacity = 1.0
    /// Whether nothing is seen of what it lies over where it is not faded.
    var isOpaque = false

    /// - Parameter origin: in the window, in pixels.
    init(image: OverlayImage, origin: (x: Int, y: Int), opacity: Double = 1) {
      content = .image(image)
      frame = PictureRect(x: origin.x, y: origin.y, width: image.size.width, height: image.size.height)
      self.opacity = opacity
    }

    /// One colour all over.
    init(gray: Double, in frame: PictureRect, opacity: Double = 1) {
      content = .color(red: gray, green: gray, blue: gray)
      self.frame = frame
      self.opacity = opacity
      isOpaque = true
    }

    /// Its image, where that is not faded.
    fileprivate var wholeImage: OverlayImage? {
      guard case .image(let image) = content, opacity >= 1, image.hasPixels else { return nil }
      return image
    }

    /// - Parameter origin: of the picture that is drawn on.
    func paint(on context: OpaquePointer?, from origin: (x: Int, y: Int)) {
      let (x, y) = (frame.x - origin.x, frame.y - origin.y)
      switch content {
      case .image(let image): image.paint(on: context, x: x, y: y, opacity)
      case .color(let red, let green, let blue):
        cairo_set_source_rgba(context, red, green, blue, opacity)
        cairo_rectangle(context, Double(x), Double(y), Double(frame.width), Double(frame.height))
        cairo_fill(context)
      }
    }
  }

  private let layers = Locked<[Layer]>([])

  /// The lowest first.
  func set(_ layers: [Layer]) { self.layers.withLock { $0 = layers.filter { $0.opacity > 0 } } }

  /// The same, and draws the pictures in `places` anew. One that nothing hides any more is asked for: its layer has
  /// kept it, and a stream that stands still brings no other.
  func set(_ layers: [Layer], over places: [ExchangeableRenderer]) {
    let hidden = places.filter { $0.tile?.frame.map(hides) == true }
    set(layers)
    for place in places { place.tile?.redraw() }
    for place in hidden where place.tile?.frame.map(hides) == false { place.askForPicture() }
  }

  package func isShown(in area: PictureRect) -> Bool { layers.withLock { $0.contains { $0.frame.intersects(area) } } }

  package func hides(_ area: PictureRect) -> Bool {
    layers.withLock { $0.contains { $0.isOpaque && $0.opacity >= 1 && $0.frame.contains(area) } }
  }

  package func draw(
    on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect, willDraw: (PictureRect) -> Void
  ) {
    let layers = layers.withLock { $0.filter { $0.frame.intersects(area) } }
    guard !layers.isEmpty else { return }
    for layer in layers {
      let frame = layer.frame
      willDraw(PictureRect(x: frame.x - area.x, y: frame.y - area.y, width: frame.width, height: frame.height))
    }
    // For a name and a mark, Cairo takes longer to get ready than to draw, and does so for every frame.
    let images = layers.compactMap(\.wholeImage)
    if images.count == layers.count {
      for (image, layer) in zip(images, layers) {
        image.blend(on: pixels, stride: stride, in: area, x: layer.frame.x, y: layer.frame.y)
      }
      return
    }
    let surface = cairo_image_surface_create_for_data(
      pixels, CAIRO_FORMAT_RGB24, Int32(area.width), Int32(area.height), Int32(stride))
    let context = cairo_create(surface)
    for layer in layers { layer.paint(on: context, from: (area.x, area.y)) }
    cairo_destroy(context)
    cairo_surface_finish(surface)
    cairo_surface_destroy(surface)
  }
}

extension PictureRect {
  func contains(x: Int, y: Int) -> Bool {
    x >= self.x && y >= self.y && x < self.x + width && y < self.y + height
  }

  func contains(_ other: PictureRect) -> Bool {
    other.x >= x && other.y >= y && other.x + other.width <= x + width && other.y + other.height <= y + height
  }

  func intersects(_ other: PictureRect) -> Bool {
    x < other.x + other.width && other.x < x + width && y < other.y + other.height && other.y < y + height
  }
}

extension PictureSize {
  /// To whole pixels.
  func scaled(by factor: Double) -> PictureSize {
    PictureSize(
      width: max(1, Int(nearest: Double(width) * factor)), height: max(1, Int(nearest: Double(height) * factor)))
  }
}
