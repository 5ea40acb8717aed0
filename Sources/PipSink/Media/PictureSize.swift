/// The size of a picture, in pixels.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
  /// The largest width or height of a frame or a surface, in pixels. It is the largest 16-bit coordinate of libyuv and
  /// Cairo.
  package static let maximumDimension = 32767

  /// The width in pixels.
  public var width: Int
  /// The height in pixels.
  public var height: Int

  /// Makes a size from a width and a height in pixels, which are not checked.
  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Whether width and height are both from 1 to ``maximumDimension``.
  package var isValid: Bool {
    (1...Self.maximumDimension).contains(width) && (1...Self.maximumDimension).contains(height)
  }

  /// The size as text, for instance "640x480".
  public var description: String { "\(width)x\(height)" }
}

/// A rectangle in pixels, whose origin is at the top left.
public struct PictureRect: Hashable, Sendable {
  /// The left edge, in pixels.
  public var x: Int
  /// The top edge, in pixels.
  public var y: Int
  /// The width in pixels.
  public var width: Int
  /// The height in pixels.
  public var height: Int

  /// Makes a rectangle from its top left corner and its size, in pixels.
  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  /// The size of the rectangle.
  package var size: PictureSize { PictureSize(width: width, height: height) }
}

extension PictureRect {
  /// The part that two rectangles have in common; nil if there is none.
  package func intersection(_ other: PictureRect) -> PictureRect? {
    let (left, top) = (max(x, other.x), max(y, other.y))
    let (right, bottom) = (min(x + width, other.x + other.width), min(y + height, other.y + other.height))
    return right > left && bottom > top ? PictureRect(x: left, y: top, width: right - left, height: bottom - top) : nil
  }
}
