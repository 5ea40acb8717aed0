import CGStreamer

// Numbers and columns as text, the same in every locale. A program may set the user's, by which printf(3) writes a decimal
// comma where people do.

extension Double {
  /// - Parameters:
  ///   - places: digits behind the decimal point.
  ///   - hasSign: whether a number that is not negative gets a plus sign.
  func text(places: Int, hasSign: Bool = false) -> String {
    // The largest number has 309 digits before the point; besides there are the sign, the point and the end.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 312 + places) { text in
      String(cString: g_ascii_formatd(text.baseAddress, Int32(text.count), "%\(hasSign ? "+" : "").\(places)f", self))
    }
  }
}

extension BinaryInteger {
  /// - Parameter digits: at least so many, with zeros before them.
  func text(digits: Int, radix: Int = 10) -> String {
    let text = String(self, radix: radix)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

extension String {
  /// With spaces behind it where it is shorter.
  func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }

  /// With spaces before it where it is shorter.
  func alignedRight(in width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
