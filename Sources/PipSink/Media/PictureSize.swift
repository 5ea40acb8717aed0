/// Width and height in pixels.
public struct PictureSize: Hashable, Sendable, CustomStringConvertible {
  /// The largest width or height, in pixels, of a frame or a surface: what fits in libyuv's and Cairo's 16-bit
  /// coordinates.
  public static let maximumDimension = 32767

  public var width: Int
  public var height: Int

  public init(width: Int, height: Int) {
    self.width = width
    self.height = height
  }

  /// Whether both are from 1 to ``maximumDimension``.
  public var isValid: Bool {
    (1...Self.maximumDimension).contains(width) && (1...Self.maximumDimension).contains(height)
  }

  public var description: String { "\(width)x\(height)" }
}

/// A rectangle in pixels; the origin is at the top left.
public struct PictureRect: Hashable, Sendable {
  public var x: Int
  public var y: Int
  public var width: Int
  public var height: Int

  public init(x: Int, y: Int, width: Int, height: Int) {
    self.x = x
    self.y = y
    self.width = width
    self.height = height
  }

  public var size: PictureSize { PictureSize(width: width, height: height) }
}

extension PictureRect {
  /// The part that both have; nil where they have nothing in common.
  package func intersection(_ other: PictureRect) -> PictureRect? {
    let (left, top) = (max(x, other.x), max(y, other.y))
    let (right, bottom) = (min(x + width, other.x + other.width), min(y + height, other.y + other.height))
    return right > left && bottom > top ? PictureRect(x: left, y: top, width: right - left, height: bottom - top) : nil
  }
}
