/// How the colours of a picture are changed when it is shown: brightness, contrast, hue and saturation, each in
/// thousandths from -1000 to 1000, where 0 changes nothing.
///
/// The numbers mean what they mean to the channels of GStreamer's `videobalance`: a contrast of -1000 is one luma for
/// all, one of 1000 twice the difference from black; a brightness of 1000 adds the whole range; a hue of 1000 turns the
/// colours by half a circle; a saturation of -1000 takes the colours away, one of 1000 doubles them.
public struct ColorBalance: Hashable, Sendable {
  public static let range = -1000...1000
  /// Nothing is changed.
  public static let neutral = ColorBalance()

  // Of 16 bits each, so that all of it is one atomic word.
  private var values = InlineArray<4, Int16>(repeating: 0)

  /// - Parameters: cut to ``range``.
  public init(brightness: Int = 0, contrast: Int = 0, hue: Int = 0, saturation: Int = 0) {
    (self.brightness, self.contrast, self.hue, self.saturation) = (brightness, contrast, hue, saturation)
  }

  public var brightness: Int {
    get { Int(values[0]) }
    set { values[0] = Self.cut(newValue) }
  }
  public var contrast: Int {
    get { Int(values[1]) }
    set { values[1] = Self.cut(newValue) }
  }
  public var hue: Int {
    get { Int(values[2]) }
    set { values[2] = Self.cut(newValue) }
  }
  public var saturation: Int {
    get { Int(values[3]) }
    set { values[3] = Self.cut(newValue) }
  }

  public var isNeutral: Bool { word == 0 }

  private static func cut(_ value: Int) -> Int16 {
    Int16(max(range.lowerBound, min(range.upperBound, value)))
  }

  /// All four in one word.
  var word: UInt64 {
    (0..<4).reduce(0) { $0 | UInt64(UInt16(bitPattern: values[$1])) << (16 * $1) }
  }

  init(word: UInt64) {
    for index in 0..<4 { values[index] = Int16(truncatingIfNeeded: word >> (16 * index)) }
  }

  public static func == (left: ColorBalance, right: ColorBalance) -> Bool { left.word == right.word }
  public func hash(into hasher: inout Hasher) { hasher.combine(word) }
}
