import PipSink

/// The pixels of a picture that its decoration covers. They are kept so that another decoration can be drawn without
/// another frame.
///
/// Only the pixels that are drawn on are kept: a name and a mark in the corners cost a few rows and not the whole
/// picture.
struct PictureUnderlay: ~Copyable {
  private var parts: [(rectangle: PictureRect, bytes: [UInt8])] = []

  /// Draws a decoration on a picture that has none.
  ///
  /// - Parameters:
  ///   - pixels: the picture's BGRx pixels, with `stride` bytes in each row.
  ///   - area: the picture's rectangle in the window, in pixels.
  ///   - isBlack: whether the picture is only black, so that none of its pixels are kept.
  mutating func draw(
    _ decoration: any PictureDecoration, on pixels: UnsafeMutablePointer<UInt8>, stride: Int, in area: PictureRect,
    isBlack: Bool = false
  ) {
    let whole = PictureRect(x: 0, y: 0, width: area.width, height: area.height)
    var parts = parts
    decoration.draw(on: pixels, stride: stride, in: area) { rectangle in
      guard !isBlack, let part = whole.intersection(rectangle) else { return }
      parts.append((part, Self.bytes(of: part, pixels, stride: stride)))
    }
    self.parts = parts
  }

  /// Restores the pixels that the decoration covers.
  mutating func restore(on pixels: UnsafeMutablePointer<UInt8>, stride: Int) {
    for (rectangle, bytes) in parts {
      bytes.withUnsafeBufferPointer { bytes in
        guard let base = bytes.baseAddress else { return }
        for row in 0..<rectangle.height {
          pixels.advanced(by: (rectangle.y + row) * stride + rectangle.x * 4)
            .update(from: base.advanced(by: row * rectangle.width * 4), count: rectangle.width * 4)
        }
      }
    }
    parts = []
  }

  /// Restores the covered pixels in a copy of the picture that has no padding between its rows.
  func restore(inCopy bytes: inout [UInt8], width: Int) {
    for (rectangle, kept) in parts {
      for row in 0..<rectangle.height {
        let start = ((rectangle.y + row) * width + rectangle.x) * 4
        bytes.replaceSubrange(
          start..<start + rectangle.width * 4,
          with: kept[row * rectangle.width * 4..<(row + 1) * rectangle.width * 4])
      }
    }
  }

  /// Whether no pixels are kept.
  var isEmpty: Bool { parts.isEmpty }

  /// Discards the kept pixels, because the picture is no longer there.
  mutating func forget() { parts = [] }

  private static func bytes(of part: PictureRect, _ pixels: UnsafeMutablePointer<UInt8>, stride: Int) -> [UInt8] {
    let width = part.width * 4
    return [UInt8](unsafeUninitializedCapacity: width * part.height) { bytes, count in
      for row in 0..<part.height {
        bytes.baseAddress?.advanced(by: row * width)
          .initialize(from: pixels.advanced(by: (part.y + row) * stride + part.x * 4), count: width)
      }
      count = width * part.height
    }
  }
}
