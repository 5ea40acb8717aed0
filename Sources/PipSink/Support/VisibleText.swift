extension StringProtocol {
  /// The text with all characters escaped that a terminal would execute, or that would change the order or the line breaks
  /// of what is read. These are control characters (C0, DEL, C1), the overrides, embeddings and isolates of
  /// bidirectional text, and the separators of lines and paragraphs. An ESC becomes `\u{1B}`, as Swift spells it, and a
  /// line break `\n`.
  ///
  /// Everything that is printed or logged and may contain text of others (servers, files, other processes, arguments)
  /// goes through this once. Applying it a second time changes nothing.
  package var visible: String { written(keepingLayout: false) }

  /// The text with characters escaped as ``visible`` does, except that line breaks and tabs stay. It is for texts of
  /// several lines.
  package var visibleLines: String { written(keepingLayout: true) }

  private func written(keepingLayout: Bool) -> String {
    guard unicodeScalars.contains(where: { $0.isUnseen(keepingLayout: keepingLayout) }) else { return String(self) }
    var result = ""
    for scalar in unicodeScalars {
      guard scalar.isUnseen(keepingLayout: keepingLayout) else {
        result.unicodeScalars.append(scalar)
        continue
      }
      switch scalar {
      case "\n": result += "\\n"
      case "\r": result += "\\r"
      case "\t": result += "\\t"
      default:
        let digits = String(scalar.value, radix: 16, uppercase: true)
        result += "\\u{\(digits.utf8.count < 2 ? "0" : "")\(digits)}"
      }
    }
    return result
  }
}

extension StringProtocol {
  /// The text for a picture, or for another program's list: characters that are unseen are spaces.
  ///
  /// - Parameters:
  ///   - limit: how many code points are kept, from the beginning.
  ///   - keepsLines: whether line ends stay.
  func displayed(atMost limit: Int, keepsLines: Bool = false) -> String {
    let scalars = unicodeScalars.prefix(limit).map { $0.isUnseen && !(keepsLines && $0 == "\n") ? " " : $0 }
    return String(String.UnicodeScalarView(scalars))
  }
}

extension Unicode.Scalar {
  /// Whether a terminal executes the character rather than showing it, or the character changes how its neighbours are
  /// read.
  package var isUnseen: Bool { isUnseen(keepingLayout: false) }

  fileprivate func isUnseen(keepingLayout: Bool) -> Bool {
    switch value {
    case 0x09, 0x0A: !keepingLayout
    // C0, DEL and C1; the separators of lines and paragraphs; characters that override the direction of text.
    case 0...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
