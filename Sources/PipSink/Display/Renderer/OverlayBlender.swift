import CLibYUV

/// Draws the overlays of frames, such as subtitles, at the renderer's size: a subtitle that was made for the window has
/// the window's pixels.
///
/// They stay upright where the frame is rotated or mirrored, since viewers read them. A subtitle stays the same for many
/// frames. So it is scaled once, and kept until another one comes or it gets another place.
struct OverlayBlender: ~Copyable {
  /// An overlay's picture, scaled for the renderer.
  private struct Scaled {
    let number: UInt32
    let size: PictureSize
    let pixels: [UInt8]
  }

  private var converter = PictureConverter(bands: .none)
  private var known: [Scaled] = []

  /// Draws all overlays of a frame.
  ///
  /// - Parameters:
  ///   - composition: the frame's overlays.
  ///   - picture: the renderer's pixels, BGRA or BGRx, with the frame drawn on them.
  ///   - placement: where the frame was drawn. Nothing is drawn outside of it.
  ///   - orientation: how the frame was rotated.
  ///   - frameSize: the size of the frame's visible part before it was rotated.
  mutating func blend(
    _ composition: OverlayComposition, on picture: Picture, _ placement: VideoGravity.Placement,
    orientation: VideoOrientation, frameSize: PictureSize
  ) throws(PipSinkError) {
    var shown: [Scaled] = []
    for rectangle in composition.rectangles {
      let place = Self.place(
        of: Self.upright(rectangle.place, in: frameSize, in: orientation.applied(to: frameSize)),
        from: orientation.applied(to: placement.source, in: frameSize), to: placement.target)
      guard place.size.isValid, let part = place.intersection(placement.target),
        let scaled = try scaled(rectangle, size: place.size)
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

  /// Releases what is kept, because the stream has no overlays at the moment.
  mutating func forget() {
    if !known.isEmpty { known = [] }
  }

  private mutating func scaled(
    _ rectangle: OverlayComposition.Rectangle, size: PictureSize
  ) throws(PipSinkError) -> Scaled? {
    if let found = known.first(where: { $0.number == rectangle.number && $0.size == size }) { return found }
    var pixels = [UInt8](repeating: 0, count: size.width * size.height * 4)
    let isRead: Void? = try rectangle.withPixels { source throws(PipSinkError) in
      try pixels.withUnsafeMutableBufferPointer { pixels throws(PipSinkError) in
        guard let base = pixels.baseAddress else { return }
        let target = Picture(packed: .bgra, size: size, data: base, stride: Int32(size.width * 4))
        try converter.convert(source, into: target)
      }
    }
    guard isRead != nil else { return nil }
    return Scaled(number: UInt32(rectangle.number), size: size, pixels: pixels)
  }

  /// Where a rectangle of a frame is in the rotated frame. It keeps its shape and is scaled as the frame would be to fit
  /// there, and it is as near to each edge: what is at the bottom in the middle stays there.
  static func upright(_ rectangle: PictureRect, in frame: PictureSize, in rotated: PictureSize) -> PictureRect {
    let scale = min(Double(rotated.width) / Double(frame.width), Double(rotated.height) / Double(frame.height))
    func span(_ start: Int, _ length: Int, of old: Int, in new: Int) -> (start: Int, length: Int) {
      let scaled = max(1, Int(nearest: Double(length) * scale))
      let (oldRoom, newRoom) = (old - length, new - scaled)
      // Without room, it is centred.
      let start = oldRoom > 0 ? Double(start) * Double(newRoom) / Double(oldRoom) : Double(newRoom) / 2
      return (Int(nearest: start), scaled)
    }
    let (x, width) = span(rectangle.x, rectangle.width, of: frame.width, in: rotated.width)
    let (y, height) = span(rectangle.y, rectangle.height, of: frame.height, in: rotated.height)
    return PictureRect(x: x, y: y, width: width, height: height)
  }

  /// Where a rectangle of a rotated frame is on the renderer.
  ///
  /// - Parameters:
  ///   - rectangle: the rectangle in the rotated frame.
  ///   - source: the part of the rotated frame that is shown.
  ///   - target: where that part is on the renderer.
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
