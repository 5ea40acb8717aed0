import FoundationEssentials
import PipSink

/// Results as JSON: the same keys in the same order each time, and a line break at the end.
///
/// It is FoundationEssentials' alone. All of Foundation would bring the data of the world's languages into the program,
/// three times the program itself.
enum JSONText {
  static func encode(_ value: some Encodable) throws -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    return Array(escaped(String(decoding: try encoder.encode(value), as: UTF8.self)).utf8) + [UInt8(ascii: "\n")]
  }

  static func decode<Value: Decodable>(_ bytes: [UInt8]) throws(JSONTextError) -> Value {
    do {
      return try JSONDecoder().decode(Value.self, from: Data(bytes))
    } catch {
      throw JSONTextError(error)
    }
  }

  /// JSON's own rules leave DEL, C1 and what overrides the direction of text as they are, which a terminal obeys. In JSON
  /// they can be in strings only, and mean the same there when they are escaped.
  private static func escaped(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { result, scalar in
      if isToBeEscaped(scalar) {
        result += "\\u" + scalar.value.text(digits: 4, radix: 16)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
  }

  /// Line breaks are between values.
  private static func isToBeEscaped(_ scalar: Unicode.Scalar) -> Bool { scalar.isUnseen && scalar != "\n" }
}

/// Why a text is not the JSON that was asked for.
struct JSONTextError: Error, CustomStringConvertible {
  let description: String

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
