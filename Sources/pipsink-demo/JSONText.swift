import Foundation

/// A result as JSON: the same keys in the same order each time, and a line break at its end.
enum JSONText {
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(escaped(String(decoding: try encoder.encode(value), as: UTF8.self)).utf8) + [UInt8(ascii: "\n")]
  }

  /// JSON's own rules leave DEL, C1 and what overrides the direction of text as they are, which a terminal obeys. In JSON
  /// they can be in strings only, and mean the same there when they are escaped.
  private static func escaped(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { result, scalar in
      if isToBeEscaped(scalar) {
        result += String(format: "\\u%04x", scalar.value)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  /// Line breaks are between values.
  private static func isToBeEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar.isUnseen && scalar != "\n" }
}
