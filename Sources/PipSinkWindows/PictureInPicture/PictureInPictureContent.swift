import CWindows
import PipSink

/// What an app draws itself in a picture-in-picture window: over the pictures, or instead of them. The window's controls
/// are above it.
///
/// It is drawn when it is new, when the window has another size, and after ``redraw()``. Frames in between are shown with
/// what was drawn last, without asking the app.
@MainActor
public final class PictureInPictureContent {
  /// Draws the content with cairo, whose functions are in the module `CWindows`.
  ///
  /// - Parameters:
  ///   - context: a `cairo_t`, valid during the call. Its coordinates are units from the window's upper left corner, of
  ///     which a desktop with a scale of 2 shows two pixels each. Nothing is drawn on it at first.
  ///   - size: the window's size, in units.
  public typealias Drawing = @MainActor (_ context: OpaquePointer, _ size: PictureSize) -> Void
  /// Called for what the pointer or a finger does in the window, apart from its controls. Positions are in units.
  ///
  /// - Returns: whether the event was meant for the content. A press that was not begins a drag of the window, and two of
  ///   them lead back to the app; a turn of the wheel that was not changes the window's size. What is returned for other
  ///   events has no effect, and those after a press that was meant for the content, up to the release, come in any case.
  public typealias PointerHandler = @MainActor (_ event: PointerEvent) -> Bool

  /// Whether the content is shown instead of the pictures. The streams' pictures are not drawn then, and count as hidden.
  public let hidesPictures: Bool
  private let drawing: Drawing
  private let pointerHandler: PointerHandler?
  /// Whether positions of the pointer are in pixels.
  private(set) var usesPixels = false
  /// Called when the content is to be drawn again.
  var changed: (() -> Void)?
  private var drawn: (parts: [WindowOverlay.Part], size: PictureSize, scale: Double)?

  /// Creates content that is drawn by the app. It can be in one window at a time.
  ///
  /// - Parameters:
  ///   - hidesPictures: whether it is shown instead of the pictures, on black.
  ///   - pointerHandler: called for events of the pointer; nil leaves all of them to the window.
  ///   - drawing: draws it.
  public init(hidesPictures: Bool = false, pointerHandler: PointerHandler? = nil, drawing: @escaping Drawing) {
    (self.hidesPictures, self.pointerHandler, self.drawing) = (hidesPictures, pointerHandler, drawing)
  }

  /// Creates content that is an image, as large as the window lets it be with its shape kept, in its middle.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - hidesPictures: whether it is shown instead of the pictures, on black.
  public convenience init(_ image: BGRAImage, hidesPictures: Bool = false) {
    self.init(hidesPictures: hidesPictures) { context, size in
      let scale = min(
        Double(size.width) / Double(image.size.width), Double(size.height) / Double(image.size.height))
      image.draw(
        on: context, x: (Double(size.width) - Double(image.size.width) * scale) / 2,
        y: (Double(size.height) - Double(image.size.height) * scale) / 2, scale: (scale, scale))
    }
  }

  /// Creates content that consists of images at places in the window, in pixels.
  ///
  /// - Parameter pointerHandler: called for each event of the pointer, whose positions are in pixels, and whether it is on
  ///   an image. It returns whether the event was meant for the content.
  package convenience init(
    _ images: [(image: BGRAImage, place: PictureRect)],
    pointerHandler: @escaping @MainActor (PointerEvent, _ isOnImage: Bool) -> Bool
  ) {
    self.init { event in
      let isOnImage = event.position.map { x, y in
        images.contains { $0.place.contains(x: Int(x), y: Int(y)) }
      }
      return pointerHandler(event, isOnImage ?? false)
    } drawing: { context, _ in
      cairo_identity_matrix(context)
      for (image, place) in images {
        let scale = (
          Double(place.width) / Double(image.size.width), Double(place.height) / Double(image.size.height)
        )
        image.draw(on: context, x: Double(place.x), y: Double(place.y), scale: scale)
      }
    }
    usesPixels = true
  }

  /// Has the content drawn again, because something that it shows has changed.
  public func redraw() {
    drawn = nil
    changed?()
  }

  /// The parts of the content.
  ///
  /// - Parameters:
  ///   - size: the window's size, in pixels.
  ///   - scale: the number of pixels in a unit.
  func parts(in size: PictureSize, scale: Double) -> [WindowOverlay.Part] {
    if let drawn, drawn.size == size, drawn.scale == scale { return drawn.parts }
    let units = PictureSize(
      width: Int(nearest: Double(size.width) / scale), height: Int(nearest: Double(size.height) / scale))
    let image = OverlayImage(size, scale: scale) { context in if let context { drawing(context, units) } }
    var parts = image.visibleBands.map { WindowOverlay.Part(image: image.cropped(to: $0), origin: ($0.x, $0.y)) }
    if hidesPictures {
      parts.insert(.init(gray: 0, in: PictureRect(x: 0, y: 0, width: size.width, height: size.height)), at: 0)
    }
    drawn = (parts, size, scale)
    return parts
  }

  /// - Returns: whether the event was meant for the content.
  func handle(_ event: PointerEvent) -> Bool { pointerHandler?(event) ?? false }
}
