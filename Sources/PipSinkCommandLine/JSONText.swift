import FoundationEssentials
import PipSink

/// Writes and reads JSON. The keys are sorted, and a line break is at the end.
///
/// Only FoundationEssentials is needed. All of Foundation would link the data of all languages into the program, which
/// is three times as large as the program itself.
package enum JSONText {
  package static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(escaped(String(decoding: try encoder.encode(value), as: UTF8.self)).utf8) + [UInt8(ascii: "\n")]
  }

  package static func decode<Value: Decodable>(_ bytes: [UInt8]) throws(JSONTextError) -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(bytes))
    } catch {
      throw JSONTextError(error)
    }
  }

  /// Escapes characters that JSON allows but that control a terminal: DEL, the C1 characters, and characters that
  /// override the direction of text. In JSON they can only be in strings, where the escaped form means the same.
  private static func escaped(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { result, scalar in
      if isToBeEscaped(scalar) {
        result += "\\u" + scalar.value.text(digits: 4, radix: 16)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  /// Line breaks are not escaped, because they are between values.
  private static func isToBeEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar.isUnseen && scalar != "\n" }
}

/// Why a text is not valid JSON for the expected type.
package struct JSONTextError: Error, CustomStringConvertible {
  package let description: String

  fileprivate init(_ error: any Error) {
    let context: DecodingError.Context? =
      switch error as? DecodingError {
      case .dataCorrupted(let context), .keyNotFound(_, let context), .typeMismatch(_, let context),
        .valueNotFound(_, let context):
        context
      default: nil
      }
    guard let context else {
      description = "\(error)"
      return
    }
    let place = context.codingPath.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    description = context.debugDescription + (place.isEmpty ? "" : " (at \(place))")
  }
}
