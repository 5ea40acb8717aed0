import PipSink

/// A parameter of a method: its name and type on the bus, and how its values become Swift's.
struct BusParameter<Value>: Sendable {
  let argument: BusArgument
  /// Reads a value of the argument's type.
  private let read: @Sendable (BusValue) throws(PipSinkError) -> Value

  private init(_ name: String, _ type: String, read: @escaping @Sendable (BusValue) throws(PipSinkError) -> Value) {
    (argument, self.read) = ((name, type), read)
  }

  /// Takes the next argument of a call.
  ///
  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)`` where it makes no sense, and the errors of what is
  ///   made of it.
  func next(in arguments: inout IndexingIterator<[BusValue]>) throws(PipSinkError) -> Value {
    guard let value = arguments.next() else {
      throw .system(.invalidArgument(argument.name, reason: "it is missing"))
    }
    return try read(value)
  }

  static func bool(_ name: String) -> Self where Value == Bool { Self(name, "b") { $0 == .bool(true) } }

  /// A number that is not negative.
  static func count(_ name: String) -> Self where Value == Int { Self(name, "u") { Int($0.number) } }

  /// A number of a range.
  static func double(_ name: String, in range: ClosedRange<Double>) -> Self where Value == Double {
    Self(name, "d") { value throws(PipSinkError) in
      guard case .double(let number) = value, range.contains(number) else {
        throw .system(
          .invalidArgument(name, reason: "it is not a number from \(range.lowerBound) to \(range.upperBound)"))
      }
      return number
    }
  }

  /// A time in microseconds.
  static func time(_ name: String) -> Self where Value == MediaTime {
    Self(name, "x") { MediaTime(value: $0.number, timescale: 1_000_000) }
  }

  static func text(_ name: String) -> Self where Value == String { Self(name, "s") { $0.text } }
  static func path(_ name: String) -> Self where Value == String { Self(name, "o") { $0.text } }

  /// One of a type's words.
  static func choice(
    _ name: String, of _: Value.Type
  ) -> Self where Value: CaseIterable & RawRepresentable<String> & SendableMetatype {
    let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
    return Self(name, "s") { value throws(PipSinkError) in
      if let choice = Value(rawValue: value.text) { return choice }
      throw .system(.invalidArgument(name, reason: "\"\(value.text)\" is not one of \(words)"))
    }
  }

  /// The ID of a stream.
  static func stream(_ name: String) -> Self where Value == StreamID {
    Self(name, "s") { value throws(PipSinkError) in try value.streamID(name) }
  }

  /// The ID of a stream, or an empty text for no stream.
  static func streamOrNone(_ name: String) -> Self where Value == StreamID? {
    Self(name, "s") { value throws(PipSinkError) in value.text.isEmpty ? nil : try value.streamID(name) }
  }

  /// What a stream is played from.
  static func source(_ name: String) -> Self where Value == StreamSource {
    Self(name, "s") { value throws(PipSinkError) in StreamSource(try value.text(name, limit: 65_536)) }
  }

  /// A list of processors, which may be empty.
  static func processors(_ name: String) -> Self where Value == [any FrameProcessor] {
    Self(name, "s") { value throws(PipSinkError) in try FrameProcessorRegistry.shared.makeProcessors(value.text) }
  }

  /// The controls of a picture-in-picture window.
  static func controls(_ name: String) -> Self where Value == [PictureInPictureControl] {
    Self(name, "s") { value throws(PipSinkError) in try [PictureInPictureControl](text: value.text) }
  }

  /// Formats of frames.
  static func series(_ name: String) -> Self where Value == FrameFormatSeries {
    Self(name, "s") { value throws(PipSinkError) in
      if let series = FrameFormatSeries(name: value.text) { return series }
      throw .system(.invalidArgument(name, reason: "\"\(value.text)\" is neither any, rgb or yuv nor a pixel format"))
    }
  }
}

extension BusValue {
  /// The text of a string or an object path; empty for other values.
  fileprivate var text: String {
    switch self {
    case .string(let text), .objectPath(let text): text
    default: ""
    }
  }

  /// The whole number; 0 for other values.
  fileprivate var number: Int64 {
    switch self {
    case .unsigned32(let number): Int64(number)
    case .signed(let number): number
    default: 0
    }
  }

  /// The text of an argument that may neither be empty nor have more bytes than `limit`.
  fileprivate func text(_ name: String, limit: Int) throws(PipSinkError) -> String {
    guard !text.isEmpty else { throw .system(.invalidArgument(name, reason: "it is empty")) }
    guard text.utf8.count <= limit else {
      throw .system(.invalidArgument(name, reason: "it has \(text.utf8.count) bytes, but only \(limit) are allowed"))
    }
    return text
  }

  fileprivate func streamID(_ name: String) throws(PipSinkError) -> StreamID {
    let id = try text(name, limit: 255)
    // IDs are printed on terminals.
    if id.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) {
      throw .system(.invalidArgument(name, reason: "it contains control characters"))
    }
    return StreamID(id)
  }
}

/// What a stream is played from.
enum StreamSource: Equatable {
  case uri(String)
  case description(String)

  /// Tells a URI, which begins with a scheme and "://", from a description. A description that contains a URI begins
  /// with the name of an element instead.
  init(_ text: String) {
    let scheme = /[A-Za-z0-9+.\-]+:\/\//.matchingSemantics(.unicodeScalar)
    self = text.prefixMatch(of: scheme) == nil ? .description(text) : .uri(text)
  }
}
