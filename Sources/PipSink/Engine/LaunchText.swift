/// gst-launch's language as GStreamer's own lexer reads it, byte for byte, with holes for values that are filled in.
///
/// Swift's `Character` is of no use here: a quote with a combining mark behind it is another character than a quote, and
/// "\r\n" is one character, while GStreamer sees bytes.
///
/// Where GStreamer's lexer has several ways to read on, it takes the longest; so does this. Two things follow that are not
/// obvious: in `"a\\" ! b name="c"` the first string goes on to the last quote but one, as `\"` is taken for an escaped
/// quote; and a word that is not quoted cannot end with a backslash before a blank.
package struct LaunchText: Sendable {
  /// A byte, or ``firstHole`` and above for a hole.
  package typealias Unit = UInt16

  package static let firstHole: Unit = 256
  /// How many holes there can be.
  package static let holeLimit = Int(Unit.max - firstHole)

  enum Token: Equatable {
    /// `name=value`, with the quotes that the value has.
    case property(name: Range<Int>, value: Range<Int>)
    /// What stands between two `!`, and the media types in it.
    case caps(Range<Int>, mediaTypes: [Range<Int>])
    /// An element's name, a reference to one, a URI, an operator.
    case other(Range<Int>)

    fileprivate enum Kind { case property, caps, other }

    fileprivate var kind: Kind {
      switch self {
      case .property: .property
      case .caps: .caps
      case .other: .other
      }
    }
  }

  let units: [Unit]

  package init(_ units: [Unit]) {
    self.units = units
  }

  package init(_ text: String) {
    units = text.utf8.map(Unit.init)
  }

  /// Why a value cannot stand where its hole is.
  package enum Misfit: Error, Equatable {
    /// In the place of an element's name, a property's name or a reference.
    case name(hole: Int)
    /// In caps between two `!`.
    case caps(hole: Int)
    /// With the values, GStreamer would divide the text into other words than without; nothing is known that does this.
    case division
  }

  /// The text with the holes filled in, so that every value is a part of the one word that its hole is in, whatever bytes
  /// it has: GStreamer then has the same elements as with any other value, and the property has the value as it is.
  ///
  /// Values of properties may be anything without a NUL. Outside of them a value may have letters, digits, `_` and `-` only,
  /// and in caps between two `!` also `.`, `+`, `:` and `/`.
  package func filled(with values: [[UInt8]]) throws(Misfit) -> [UInt8] {
    var result: [UInt8] = []
    var position = 0
    let tokens = tokens
    for token in tokens {
      switch token {
      case .property(_, let value):
        result += try plain(position..<value.lowerBound, values)
        result += filledValue(value, values)
        position = value.upperBound
      case .caps(let range, let mediaTypes):
        result += try plain(position..<range.lowerBound, values)
        result += try caps(range, mediaTypes, values)
        position = range.upperBound
      case .other: break
      }
    }
    result += try plain(position..<units.count, values)
    let read = LaunchText(result.map(Unit.init))
    guard read.tokens.map(\.kind) == tokens.map(\.kind), read.properties.map(\.value) == expectedValues(values) else {
      throw .division
    }
    return result
  }

  /// The properties' names and values, as elements get them; holes have to be filled.
  package var properties: [(name: [UInt8], value: [UInt8])] {
    tokens.compactMap { token in
      guard case .property(let name, let value) = token else { return nil }
      return (units[name].map { UInt8(truncatingIfNeeded: $0) }, decoded(value).map { UInt8(truncatingIfNeeded: $0) })
    }
  }

  /// A value as it stands behind `name=` in the language, whatever bytes but NUL it has: a string property gets it as it
  /// is.
  package static func quoted(_ value: String) -> String {
    String(decoding: quoted(Array(value.utf8)), as: UTF8.self)
  }

  private static func quoted(_ value: [UInt8]) -> [UInt8] { [quote] + escaped(wrappedIfNeeded(value)) + [quote] }

  /// GStreamer unwraps the value of a string property that is in quotes, and takes NULL for none at all; and a backslash
  /// cannot be the last in quotes, as it would take the quote for its own. Wrapped, everything can be written as a number.
  private static func wrappedIfNeeded(_ value: [UInt8]) -> [UInt8] {
    let needsWrapping = value == null || value.last == backslash || (value.first == quote && value.last == quote)
    return needsWrapping ? [quote] + numbered(value) + [quote] : value
  }

  /// One argument of a command line, as gst_parse_launchv is to have it so that it stays one word: that escapes spaces, but
  /// neither tabs and line feeds, nor a backslash at the end, which then takes the space behind it.
  static func word(ofArgument argument: String) -> String {
    let isOneWord = argument.utf8.last != backslash && !argument.utf8.contains { (0x09...0x0D).contains($0) }
    guard !isOneWord, let (name, value) = property(inArgument: argument) else { return argument }
    return String(decoding: name + [UInt8(ascii: "=")] + quoted(value), as: UTF8.self)
  }

  /// nil of an argument that is no `name=value`.
  static func property(inArgument argument: String) -> (name: [UInt8], value: [UInt8])? {
    let text = LaunchText(argument)
    guard let end = text.identifier(at: 0), text.byte(end) == UInt8(ascii: "=") else { return nil }
    var value = text.decoded(end + 1..<text.units.count)
    // Nothing is behind the last backslash that it could stand for.
    let isOdd = text.units[(end + 1)...].reversed().prefix { $0 == Unit(backslash) }.count % 2 == 1
    if isOdd { value.append(Unit(backslash)) }
    return (text.units[..<end].map { UInt8($0) }, value.map { UInt8($0) })
  }

  private static func escaped(_ value: [UInt8]) -> [UInt8] {
    value.flatMap { $0 == quote || $0 == backslash ? [backslash, $0] : [$0] }
  }

  /// As in a wrapped string of GStreamer's: what is no letter and no digit as a backslash with three octal digits.
  private static func numbered(_ value: [UInt8]) -> [UInt8] {
    value.flatMap { byte in
      isAlphanumeric(byte) ? [byte] : [backslash] + [byte >> 6, byte >> 3 & 7, byte & 7].map { $0 + UInt8(ascii: "0") }
    }
  }

  private func plain(_ range: Range<Int>, _ values: [[UInt8]]) throws(Misfit) -> [UInt8] {
    var result: [UInt8] = []
    for unit in units[range] {
      guard unit >= Self.firstHole else {
        result.append(UInt8(unit))
        continue
      }
      let hole = Int(unit - Self.firstHole)
      guard !values[hole].isEmpty, values[hole].allSatisfy({ Self.isAlphanumeric($0) || $0 == 0x5F || $0 == 0x2D })
      else {
        throw .name(hole: hole)
      }
      result += values[hole]
    }
    return result
  }

  private func caps(
    _ range: Range<Int>, _ mediaTypes: [Range<Int>], _ values: [[UInt8]]
  ) throws(Misfit) -> [UInt8] {
    var result: [UInt8] = []
    for index in range {
      guard units[index] >= Self.firstHole else {
        result.append(UInt8(units[index]))
        continue
      }
      let hole = Int(units[index] - Self.firstHole)
      let isInMediaType = mediaTypes.contains { $0.contains(index) }
      let fits = values[hole].allSatisfy { byte in
        Self.isAlphanumeric(byte) || byte == 0x2D || !isInMediaType && "_.+:/".utf8.contains(byte)
      }
      guard fits, !values[hole].isEmpty else { throw .caps(hole: hole) }
      result += values[hole]
    }
    return result
  }

  private func filledValue(_ range: Range<Int>, _ values: [[UInt8]]) -> [UInt8] {
    let raw = units[range]
    guard raw.contains(where: { $0 >= Self.firstHole }) else { return raw.map { UInt8($0) } }
    let value = filledBytes(range, values)
    if raw.first != Unit(Self.quote), !value.isEmpty, value.allSatisfy(Self.isHarmless) { return value }
    return [Self.quote] + Self.escaped(value) + [Self.quote]
  }

  /// What the lexer is to hand on for a value with its holes filled.
  private func filledBytes(_ range: Range<Int>, _ values: [[UInt8]]) -> [UInt8] {
    let value = decoded(range)
    guard value.contains(where: { $0 >= Self.firstHole }) else { return value.map { UInt8($0) } }
    // Who has wrapped the string with a hole in it has wrapped what comes into the hole.
    let isWrapped = value.count > 1 && value.first == Unit(Self.quote) && value.last == Unit(Self.quote)
    let bytes = value.flatMap { unit -> [UInt8] in
      guard unit >= Self.firstHole else { return [UInt8(unit)] }
      let value = values[Int(unit - Self.firstHole)]
      return isWrapped ? Self.numbered(value) : value
    }
    return isWrapped ? bytes : Self.wrappedIfNeeded(bytes)
  }

  private func expectedValues(_ values: [[UInt8]]) -> [[UInt8]] {
    tokens.compactMap { token in
      if case .property(_, let value) = token { filledBytes(value, values) } else { nil }
    }
  }

  /// What a property gets of the value at `range`: without the quotes around it and without escapes.
  private func decoded(_ range: Range<Int>) -> [Unit] {
    var raw = units[range]
    if raw.first == Unit(Self.quote), raw.last == Unit(Self.quote) { raw = raw.dropFirst().dropLast() }
    var result: [Unit] = []
    var isQuoted = false
    var index = raw.startIndex
    while index < raw.endIndex {
      if raw[index] == Unit(Self.backslash), !isQuoted {
        index += 1
        if index == raw.endIndex { break }
      } else if raw[index] == Unit(Self.quote), !isQuoted || raw[index - 1] != Unit(Self.backslash) {
        isQuoted.toggle()
      }
      result.append(raw[index])
      index += 1
    }
    return result
  }
}
