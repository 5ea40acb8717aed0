/// Identifies one video stream. The ID is the `name` of its appsink.
///
/// A string literal can be used as an ID. An ID is not empty and contains no NUL character. IDs compare as Swift
/// strings: two that are canonically equivalent, such as an accented letter written as one code point and as two, are
/// equal although their bytes differ. A second stream with an equal ID is refused as a duplicate.
public struct StreamID: RawRepresentable, Hashable, Comparable, Sendable {
  /// The name as text.
  public let rawValue: String

  /// Makes an ID from a name.
  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  /// Makes an ID from a name.
  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  /// Orders IDs by their names, as Swift orders strings.
  public static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }
}

extension StreamID: ExpressibleByStringInterpolation, CustomStringConvertible, CustomDebugStringConvertible {
  /// Makes an ID from a string literal.
  public init(stringLiteral value: String) {
    self.init(value)
  }

  /// The name as text.
  public var description: String { rawValue }
  /// The name in quotation marks, with special characters escaped.
  public var debugDescription: String { rawValue.debugDescription }
}

extension Sequence<StreamID> {
  /// The IDs' names in one text, with `separator` between them.
  package func joined(separator: String) -> String { map(\.rawValue).joined(separator: separator) }
}
