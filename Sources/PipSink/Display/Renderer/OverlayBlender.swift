import CLibYUV

/// Draws the pictures that belong over frames on a surface, at the surface's own size: a subtitle that was made for the
/// window has the window's pixels.
///
/// A subtitle stays the same for many frames: it is turned and scaled once, and kept until it is another one or goes to
/// another place.
struct OverlayBlender: ~Copyable {
  /// A picture as it is seen on the surface.
  private struct Scaled {
    let number: UInt32
    let orientation: VideoOrientation
    let size: PictureSize
    let pixels: [UInt8]
  }

  private var converter = PictureConverter(bands: .none)
  private var known: [Scaled] = []

  /// - Parameters:
  ///   - picture: the surface's pixels, BGRA or BGRx, on which the frame has been drawn.
  ///   - placement: where. Nothing is drawn beside it.
  ///   - frameSize: of the frame's visible part, before it was turned.
  mutating func blend(
    _ composition: OverlayComposition, on picture: Picture, _ placement: VideoGravity.Placement,
    orientation: VideoOrientation, frameSize: PictureSize
  ) throws(PipSinkError) {
    var shown: [Scaled] = []
    for rectangle in composition.rectangles {
      let place = Self.place(
        of: orientation.applied(to: rectangle.frame, in: frameSize),
        from: orientation.applied(to: placement.source, in: frameSize), to: placement.target)
      guard place.size.isValid, let part = place.intersection(placement.target),
        let scaled = try scaled(rectangle, size: place.size, orientation)
      else { continue }
      shown.append(scaled)
      let target = picture.cropped(to: part).planes[0]
      let stride = place.width * 4
      scaled.pixels.withUnsafeBufferPointer { pixels in
        guard let base = pixels.baseAddress else { return }
        let first = base + (part.y - place.y) * stride + (part.x - place.x) * 4
        ARGBBlend(
          first, Int32(stride), target.data, target.stride, target.data, target.stride, Int32(part.width),
          Int32(part.height))
      }
    }
    known = shown
  }

  /// Lets go of what is kept: the stream has no pictures over it for the moment.
  mutating func forget() {
    if !known.isEmpty { known = [] }
  }

  private mutating func scaled(
    _ rectangle: OverlayComposition.Rectangle, size: PictureSize, _ orientation: VideoOrientation
  ) throws(PipSinkError) -> Scaled? {
    let found = known.first { $0.number == rectangle.number && $0.size == size && $0.orientation == orientation }
    if let found { return found }
    var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
    let isRead: Void? = try rectangle.withPixels { source throws(PipSinkError) in
      try pixels.withUnsafeMutableBufferPointer { pixels throws(PipSinkError) in
        guard let base = pixels.baseAddress else { return }
        let target = Picture(packed: .bgra, size: size, data: base, stride: Int32(size.width * 4))
        try converter.convert(source, into: target, orientation: orientation)
      }
    }
    guard isRead != nil else { return nil }
    return Scaled(number: UInt32(rectangle.number), orientation: orientation, size: size, pixels: pixels)
  }

  /// Where a rectangle of a turned frame is seen.
  ///
  /// - Parameters:
  ///   - source: the part of the turned frame that is seen.
  ///   - target: where that part is on the surface.
  static func place(of rectangle: PictureRect, from source: PictureRect, to target: PictureRect) -> PictureRect {
    let (x, width) = span(
      rectangle.x, rectangle.width, from: (source.x, source.width), to: (target.x, target.width))
    let (y, height) = span(
      rectangle.y, rectangle.height, from: (source.y, source.height), to: (target.y, target.height))
    return PictureRect(x: x, y: y, width: width, height: height)
  }

  private static func span(
    _ start: Int, _ length: Int, from source: (start: Int, length: Int), to target: (start: Int, length: Int)
  ) -> (start: Int, length: Int) {
    let scale = Double(target.length) / Double(source.length)
    let first = Int(nearest: Double(start - source.start) * scale)
    let last = Int(nearest: Double(start + length - source.start) * scale)
    return (target.start + first, max(1, last - first))
  }
}
