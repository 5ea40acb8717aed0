/// gst-launch's language as GStreamer's own lexer reads it, byte for byte, with holes for values that are filled in.
///
/// Swift's `Character` is of no use here: a quote with a combining mark behind it is another character than a quote,
/// and "\r\n" is one character, while GStreamer sees bytes.
///
/// Where GStreamer's lexer has several ways to read on, it takes the longest; so does this. Two things follow that are
/// not obvious: in `"a\\" ! b name="c"` the first string goes on to the last quote but one, as `\"` is taken for an
/// escaped quote; and a word that is not quoted cannot end with a backslash before a blank.
package struct LaunchText: Sendable {
  /// A byte, or ``firstHole`` and above for a hole.
  package typealias Unit = UInt16

  package static let firstHole: Unit = 256
  /// How many holes there can be.
  package static let holeLimit = Int(Unit.max - firstHole)

  struct Token {
    enum Kind {
      /// `name=value`: the value, with the quotes that it has.
      case property
      /// What stands between two `!`.
      case caps
      /// An element's name, a reference to one, a URI, an operator.
      case other
    }

    let kind: Kind
    let range: Range<Int>
    /// Of a property: where its name is.
    var name = 0..<0
    /// Of caps: where the media types in them are.
    var mediaTypes: [Range<Int>] = []
  }

  let units: [Unit]
  /// The same as a C string, in which a hole is a letter: the lexer takes it for one wherever it is.
  let text: [CChar]

  package init(_ units: [Unit]) {
    self.units = units
    text = units.map { CChar(bitPattern: UInt8(exactly: $0) ?? UInt8(ascii: "a")) } + [0]
  }

  package init(_ text: String) {
    self.init(text.utf8.map(Unit.init))
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

  /// The text with the holes filled in, so that every value is a part of the one word that its hole is in, whatever
  /// bytes it has: GStreamer then has the same elements as with any other value, and the property has the value as it
  /// is.
  ///
  /// Values of properties may be anything without a NUL. Outside of them a value may have letters, digits, `_` and `-`
  /// only, and in caps between two `!` also `.`, `+`, `:` and `/`.
  package func filled(with values: [[UInt8]]) throws(Misfit) -> [UInt8] {
    var result: [UInt8] = []
    var position = 0
    let tokens = tokens
    for token in tokens where token.kind != .other {
      result += try plain(position..<token.range.lowerBound, values)
      result += try token.kind == .caps ? caps(token, values) : filledValue(token.range, values)
      position = token.range.upperBound
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
    tokens.filter { $0.kind == .property }.map { token in
      let (name, value) = (units[token.name], decoded(token.range))
      return (name.map { UInt8(truncatingIfNeeded: $0) }, value.map { UInt8(truncatingIfNeeded: $0) })
    }
  }

  /// A value as it stands behind `name=` in the language, whatever bytes but NUL it has: a string property gets it as
  /// it is.
  package static func quoted(_ value: String) -> String {
    String(decoding: quoted(Array(value.utf8)), as: UTF8.self)
  }

  private static func quoted(_ value: [UInt8]) -> [UInt8] { [quote] + escaped(wrappedIfNeeded(value)) + [quote] }

  /// GStreamer unwraps the value of a string property that is in quotes, and takes NULL for none at all; and a
  /// backslash cannot be the last in quotes, as it would take the quote for its own. Wrapped, everything can be written
  /// as a number.
  private static func wrappedIfNeeded(_ value: [UInt8]) -> [UInt8] {
    let needsWrapping = value == null || value.last == backslash || (value.first == quote && value.last == quote)
    return needsWrapping ? [quote] + numbered(value) + [quote] : value
  }

  /// One argument of a command line, as gst_parse_launchv is to have it so that it stays one word: that escapes spaces,
  /// but neither tabs and line feeds, nor a backslash at the end, which then takes the space behind it.
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
    try filled(range, values, Misfit.name) { byte, _ in Self.isAlphanumeric(byte) || byte == 0x5F || byte == 0x2D }
  }

  private func caps(_ token: Token, _ values: [[UInt8]]) throws(Misfit) -> [UInt8] {
    try filled(token.range, values, Misfit.caps) { byte, index in
      let isInMediaType = token.mediaTypes.contains { $0.contains(index) }
      return Self.isAlphanumeric(byte) || byte == 0x2D || !isInMediaType && "_.+:/".utf8.contains(byte)
    }
  }

  /// The text at `range`, where holes take values of one byte or more, each of which has to fit in the hole's place.
  private func filled(
    _ range: Range<Int>, _ values: [[UInt8]], _ misfit: (Int) -> Misfit, _ fits: (UInt8, Int) -> Bool
  ) throws(Misfit) -> [UInt8] {
    var result: [UInt8] = []
    for index in range {
      guard units[index] >= Self.firstHole else {
        result.append(UInt8(units[index]))
        continue
      }
      let hole = Int(units[index] - Self.firstHole)
      guard !values[hole].isEmpty, values[hole].allSatisfy({ fits($0, index) }) else { throw misfit(hole) }
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
    tokens.filter { $0.kind == .property }.map { filledBytes($0.range, values) }
  }

  /// What a property gets of the value at `range`: without the quotes around it and without escapes.
  func decoded(_ range: Range<Int>) -> [Unit] {
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
