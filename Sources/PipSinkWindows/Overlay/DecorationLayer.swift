import PipSink

/// A decoration as pixels of its own, for pictures that are not in memory.
final class DecorationLayer: Sendable {
  /// The decoration's ``PictureDecoration/revision`` that it shows.
  let revision: UInt64
  /// The picture's rectangle in the window, in pixels.
  let area: PictureRect
  /// The part of the picture that is drawn on, in pixels from its upper left corner.
  let rectangle: PictureRect
  /// The pixels of that part, as BGRA with premultiplied alpha, without padding between the rows.
  let pixels: [UInt8]

  /// Draws a decoration. It is drawn on black and on white, from which the alpha follows: what is drawn over a picture
  /// with an alpha of a leaves 1 - a of that.
  init(_ decoration: any PictureDecoration, in area: PictureRect) {
    (revision, self.area) = (decoration.revision, area)
    let whole = PictureRect(x: 0, y: 0, width: area.width, height: area.height)
    let stride = area.width * 4
    var drawn: PictureRect?
    let canvases = [0, 255].map { (value: UInt8) in
      var bytes = [UInt8](repeating: value, count: stride * area.height)
      bytes.withUnsafeMutableBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return }
        decoration.draw(on: base, stride: stride, in: area) { rectangle in
          guard let part = whole.intersection(rectangle) else { return }
          drawn = drawn.map { $0.union(part) } ?? part
        }
      }
      return bytes
    }
    let rectangle = drawn ?? PictureRect(x: 0, y: 0, width: 0, height: 0)
    self.rectangle = rectangle
    pixels = [UInt8](unsafeUninitializedCapacity: rectangle.width * rectangle.height * 4) { pixels, count in
      let (black, white) = (canvases[0], canvases[1])
      for row in 0..<rectangle.height {
        let start = (rectangle.y + row) * stride + rectangle.x * 4
        for pixel in Swift.stride(from: start, to: start + rectangle.width * 4, by: 4) {
          for channel in 0..<3 { pixels[count + channel] = black[pixel + channel] }
          // The three channels have the same alpha, apart from rounding.
          pixels[count + 3] = 255 - (white[pixel + 1] - min(white[pixel + 1], black[pixel + 1]))
          count += 4
        }
      }
    }
  }
}
