extension StringProtocol {
  /// The text with everything that a terminal would obey, or that would change the order or the line of what is read,
  /// written out: control characters (C0, DEL, C1), the overrides, embeddings and isolates of bidirectional text, and the
  /// two separators of lines and paragraphs. An ESC becomes `\u{1B}`, as Swift spells it, and a line break `\n`.
  ///
  /// Everything that is printed or logged, and that may hold text of others (servers, files, other processes, arguments),
  /// goes through this once. A second time changes nothing.
  package var visible: String { written(keepingLayout: false) }

  /// The same, but line breaks and tabs stay as they are: for texts of several lines.
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

extension Unicode.Scalar {
  /// Whether a terminal obeys it rather than showing it, or it changes how its neighbours are read.
  package var isUnseen: Bool { isUnseen(keepingLayout: false) }

  fileprivate func isUnseen(keepingLayout: Bool) -> Bool {
    switch value {
    case 0x09, 0x0A: !keepingLayout
    // C0, DEL and C1; the separators of lines and paragraphs; what overrides the direction of text.
    case 0...0x1F, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
