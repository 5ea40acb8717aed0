import Glibc

/// Text as other programs read it, which is by bytes. In Swift, a combining mark makes another `Character` of the one
/// before it, "\r\n" is one `Character`, and strings are equal when they are canonically equivalent.
extension StringProtocol {
  /// The parts before and after the first `mark`, which is an ASCII character; nil where the text has none.
  package func divided(at mark: Unicode.Scalar) -> (before: String, behind: String)? {
    guard let place = utf8.firstIndex(of: UInt8(ascii: mark)) else { return nil }
    return (
      String(decoding: utf8[..<place], as: UTF8.self), String(decoding: utf8[place...].dropFirst(), as: UTF8.self)
    )
  }

  /// The parts between occurrences of `mark`, an ASCII character, including empty parts.
  package func parts(between mark: Unicode.Scalar) -> [String] {
    utf8.split(separator: UInt8(ascii: mark), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the text's UTF-8 begins with the bytes of `start`.
  package func beginsWithBytes(of start: some StringProtocol) -> Bool { utf8.starts(with: start.utf8) }
}

extension String {
  /// The text without white space at its start and end.
  var trimmed: String {
    let scalars = unicodeScalars.drop { $0.properties.isWhitespace }
    let end = scalars.lastIndex { !$0.properties.isWhitespace }
    return end.map { String(scalars[...$0]) } ?? ""
  }
}

/// The first line of one of the kernel's files, with its line feed, up to 127 bytes; nil where the file cannot be read.
func firstLine(ofFile path: String) -> String? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { line in
    fgets(line.baseAddress, 128, file).map { String(cString: $0) }
  }
}
