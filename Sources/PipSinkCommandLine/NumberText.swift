import CGStreamer

// Numbers and columns as text, the same in every locale. In some users' locales printf(3) writes a decimal comma.

extension Double {
  /// - Parameters:
  ///   - places: the number of digits behind the decimal point.
  ///   - hasSign: whether to write a plus sign before a number that is not negative.
  package func text(places: Int, hasSign: Bool = false) -> String {
    // The largest number has 309 digits before the point. The sign, the point and the terminating zero need one byte
    // each.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 312 + places) { text in
      String(cString: g_ascii_formatd(text.baseAddress, Int32(text.count), "%\(hasSign ? "+" : "").\(places)f", self))
    }
  }
}

extension BinaryInteger {
  /// - Parameter digits: the minimum number of digits, which is reached with leading zeros.
  package func text(digits: Int, radix: Int = 10) -> String {
    let text = String(self, radix: radix)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

extension String {
  /// The text with spaces behind it, up to a width in characters.
  package func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// The text with spaces before it, up to a width in characters.
  package func alignedRight(in width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
