/// Identifies one video stream: the `name` of its appsink.
///
/// A string literal is one. It is neither empty nor has it a NUL. IDs that differ in their bytes only, such as an accent that
/// is written as one code point and as two, are equal, as strings are in Swift: of two streams with such IDs the second is
/// refused as a duplicate.
public struct StreamID: RawRepresentable, Hashable, Comparable, Sendable {
  public let rawValue: String

  public init(rawValue: String) {
    self.rawValue = rawValue
  }

  public init(_ rawValue: String) {
    self.rawValue = rawValue
  }

  public static func < (left: StreamID, right: StreamID) -> Bool { left.rawValue < right.rawValue }
}

extension StreamID: ExpressibleByStringInterpolation, CustomStringConvertible, CustomDebugStringConvertible {
  public init(stringLiteral value: String) {
    self.init(value)
  }

  public var description: String { rawValue }
  public var debugDescription: String { rawValue.debugDescription }
}

extension Sequence<StreamID> {
  package func joined(separator: String) -> String { map(\.rawValue).joined(separator: separator) }
}
