import Glibc

/// The tokens of a text, as GStreamer's lexer (`gst/parse/parse.l`) finds them. It uses regular expressions and takes
/// the longest match, as regexec(3) does. The expressions here match what that lexer accepts.
extension LaunchText {
  private static let spaces = LongestMatch("\(space)*")
  private static let wholeIdentifier = LongestMatch(identifierText)
  private static let mediaType = LongestMatch(mediaTypeText)
  private static let assignment = LongestMatch("\(identifierText)\(space)*=\(space)*\(string)")
  /// `!` or `:`, caps, and `!` or `:` again. Quotes have no meaning there.
  private static let filteredLink = LongestMatch("[!:]\(space)*\(caps)(\(space)*;\(space)*\(caps))*\(space)*[!:]")
  /// A URI or a path, a reference to an element or a pad, or an element's name. One character may stand before the
  /// slash of a path: GStreamer's lexer has the name of a pattern in brackets there, and so accepts its letters and
  /// braces.
  private static let name = LongestMatch(
    "[0-9A-Za-z+,.-]+://\(string)?|[.\"{}_defintr]?/\(string)|\\.\(identifierText)"
      + "|\(identifierText)(\\.(\(identifierText))?)?")

  private static let space = "[ \t\n\u{B}\u{C}\r]"
  private static let identifierText = "[0-9A-Za-z_][0-9A-Za-z_%:-]*"
  private static let escape = "\\\\[^\n]"
  private static let string = "((\(escape)|[^ \t\n\u{B}\u{C}\r])+|\"([^\"]|\\\\\")*\"|'[^']*')"
  private static let mediaTypeText = "[0-9A-Za-z-]+/[0-9A-Za-z-]+"
  private static let caps = "\(mediaTypeText)(,[^!]|\(escape)|[^;!])*"

  /// The tokens of the text, in order.
  package var tokens: [Token] {
    var result: [Token] = []
    var position = skipSpaces(0)
    while position < units.count {
      let token: Token
      let next: Int
      if let end = Self.assignment.end(in: text, at: position), let name = identifier(at: position) {
        token = Token(kind: .property, range: skipSpaces(skipSpaces(name) + 1)..<end, name: position..<name)
        next = end
      } else if let end = Self.filteredLink.end(in: text, at: position) {
        // The `!` after the caps is part of the token.
        let range = skipSpaces(position + 1)..<end - 1
        let starts = [range.lowerBound] + range.filter { byte($0) == UInt8(ascii: ";") }.map { skipSpaces($0 + 1) }
        let mediaTypes = starts.compactMap { start in Self.mediaType.end(in: text, at: start).map { start..<$0 } }
        token = Token(kind: .caps, range: range, mediaTypes: mediaTypes)
        next = end
      } else {
        next = Self.name.end(in: text, at: position) ?? position + 1
        token = Token(kind: .other, range: position..<next)
      }
      result.append(token)
      position = skipSpaces(next)
    }
    return result
  }

  /// The end of the identifier that begins at `start`; nil when there is none.
  func identifier(at start: Int) -> Int? { Self.wholeIdentifier.end(in: text, at: start) }

  private func skipSpaces(_ start: Int) -> Int { Self.spaces.end(in: text, at: start) ?? start }

  /// The byte at a position; nil after the end of the text, and for a hole.
  func byte(_ position: Int) -> UInt8? { position < units.count ? UInt8(exactly: units[position]) : nil }

  // MARK: - Bytes

  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let null = Array("NULL".utf8)

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  /// Whether a byte needs no quotes.
  static func isHarmless(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "_-+./:%@".utf8.contains(byte) }
}

/// An extended regular expression of regcomp(3) that matches bytes, independently of the program's locale.
///
/// `@unchecked Sendable`: it does not change after `init`, and regexec(3) may be called from any thread.
private final class LongestMatch: @unchecked Sendable {
  private let compiled = UnsafeMutablePointer<regex_t>.allocate(capacity: 1)

  /// - Parameter expression: a valid regular expression.
  init(_ expression: String) {
    let bytes = newlocale(1 << LC_CTYPE, "C", nil)
    let own = uselocale(bytes)
    defer {
      uselocale(own)
      freelocale(bytes)
    }
    let result = regcomp(compiled, "^(\(expression))", REG_EXTENDED)
    precondition(result == 0, "a regular expression is wrong: \(expression)")
  }

  deinit {
    regfree(compiled)
    compiled.deallocate()
  }

  /// Finds the longest match at a position.
  ///
  /// - Parameters:
  ///   - text: ends with a NUL.
  ///   - start: where the match has to begin.
  /// - Returns: the end of the longest match; nil when there is no match.
  func end(in text: [CChar], at start: Int) -> Int? {
    // Without the length, regexec would search for the end of the whole text for each token.
    var match = regmatch_t(rm_so: 0, rm_eo: regoff_t(text.count - 1 - start))
    let result = text.withUnsafeBufferPointer { regexec(compiled, $0.baseAddress! + start, 1, &match, REG_STARTEND) }
    return result == 0 ? start + Int(match.rm_eo) : nil
  }
}
