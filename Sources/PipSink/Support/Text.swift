import Glibc

/// Text as other programs read it: by bytes. A mark behind a character makes another `Character` of it, "\r\n" is one, and
/// equality of strings is by canonical equivalence.
extension StringProtocol {
  /// What is before and behind the first `mark`, an ASCII character; nil where there is none.
  package func divided(at mark: Unicode.Scalar) -> (before: String, behind: String)? {
    guard let place = utf8.firstIndex(of: UInt8(ascii: mark)) else { return nil }
    return (
      String(decoding: utf8[..<place], as: UTF8.self), String(decoding: utf8[place...].dropFirst(), as: UTF8.self)
    )
  }

  /// The parts between `mark`s, ASCII characters, the empty ones included.
  package func parts(between mark: Unicode.Scalar) -> [String] {
    utf8.split(separator: UInt8(ascii: mark), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  /// Whether the text begins with these bytes.
  package func beginsWithBytes(of start: some StringProtocol) -> Bool { utf8.starts(with: start.utf8) }
}

/// The first line of a file of the kernel's, with its line feed, at most 127 bytes; nil where it cannot be read.
func firstLine(ofFile path: String) -> String? {
  guard let file = fopen(path, "r") else { return nil }
  defer { fclose(file) }
  return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 128) { line in
    fgets(line.baseAddress, 128, file).map { String(cString: $0) }
  }
}
