/// An adjustment of a picture's colours when it is shown: brightness, contrast, hue and saturation, each in thousandths
/// from -1000 to 1000, where 0 changes nothing.
///
/// The numbers have the same meaning as the channels of GStreamer's `videobalance`. A contrast of -1000 gives all
/// pixels the same luma, and one of 1000 doubles the difference from black. A brightness of 1000 adds the whole range.
/// A hue of 1000 rotates the colours by half a circle. A saturation of -1000 removes the colours, and one of 1000
/// doubles them.
package struct ColorBalance: Hashable, Sendable {
  /// The range of each value.
  package static let range = -1000...1000
  /// The balance that changes nothing.
  package static let neutral = ColorBalance()

  // Each value has 16 bits, so that all four fit in one atomic word.
  private var values = InlineArray<4, Int16>(repeating: 0)

  /// Makes a balance. Values outside of ``range`` are clamped to it.
  package init(brightness: Int = 0, contrast: Int = 0, hue: Int = 0, saturation: Int = 0) {
    (self.brightness, self.contrast, self.hue, self.saturation) = (brightness, contrast, hue, saturation)
  }

  /// The brightness, in thousandths. A new value is clamped to ``range``.
  package var brightness: Int {
    get { Int(values[0]) }
    set { values[0] = Self.cut(newValue) }
  }
  /// The contrast, in thousandths. A new value is clamped to ``range``.
  package var contrast: Int {
    get { Int(values[1]) }
    set { values[1] = Self.cut(newValue) }
  }
  /// The hue, in thousandths. A new value is clamped to ``range``.
  package var hue: Int {
    get { Int(values[2]) }
    set { values[2] = Self.cut(newValue) }
  }
  /// The saturation, in thousandths. A new value is clamped to ``range``.
  package var saturation: Int {
    get { Int(values[3]) }
    set { values[3] = Self.cut(newValue) }
  }

  /// Whether all four values are 0, so that nothing is changed.
  package var isNeutral: Bool { word == 0 }

  private static func cut(_ value: Int) -> Int16 {
    Int16(max(range.lowerBound, min(range.upperBound, value)))
  }

  /// All four values in one word.
  var word: UInt64 {
    (0..<4).reduce(0) { $0 | UInt64(UInt16(bitPattern: values[$1])) << (16 * $1) }
  }

  init(word: UInt64) {
    for index in 0..<4 { values[index] = Int16(truncatingIfNeeded: word >> (16 * index)) }
  }

  /// Whether all four values are equal.
  package static func == (left: ColorBalance, right: ColorBalance) -> Bool { left.word == right.word }
  /// Feeds all four values into a hasher.
  package func hash(into hasher: inout Hasher) { hasher.combine(word) }
}
