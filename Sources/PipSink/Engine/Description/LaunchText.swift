/// Text in gst-launch's language, divided into tokens as GStreamer's lexer does, byte by byte. It may have holes, which
/// values fill later.
///
/// Swift's `Character` does not fit here: a quote with a combining mark after it is a different character from a quote,
/// and "\r\n" is one character, while GStreamer sees bytes.
///
/// Of several possible tokens, GStreamer's lexer takes the longest, and so does this. Two consequences are not obvious:
/// in `"a\\" ! b name="c"` the first string extends to the last quote but one, because `\"` is read as an escaped
/// quote; and a word without quotes cannot end with a backslash before a blank.
package struct LaunchText: Sendable {
  /// A byte, or the number of a hole plus ``firstHole``.
  package typealias Unit = UInt16

  /// The unit of the first hole.
  package static let firstHole: Unit = 256
  /// The maximum number of holes.
  package static let holeLimit = Int(Unit.max - firstHole)

  /// A piece of the text, as the lexer divides it.
  package struct Token {
    package enum Kind {
      /// `name=value`; the range is that of the value, with its quotes.
      case property
      /// Caps between two `!`.
      case caps
      /// An element's name, a reference to an element, a URI, or an operator.
      case other
    }

    package let kind: Kind
    package let range: Range<Int>
    /// The range of a property's name.
    package internal(set) var name = 0..<0
    /// The ranges of the media types in caps.
    var mediaTypes: [Range<Int>] = []
  }

  package let units: [Unit]
  /// The text as a C string, in which a letter stands for each hole, as the lexer should see it.
  let text: [CChar]

  /// Makes a text of bytes and holes.
  package init(_ units: [Unit]) {
    self.units = units
    text = units.map { CChar(bitPattern: UInt8(exactly: $0) ?? UInt8(ascii: "a")) } + [0]
  }

  /// Makes a text without holes.
  package init(_ text: String) {
    self.init(text.utf8.map(Unit.init))
  }

  /// Why a value cannot fill its hole.
  package enum Misfit: Error, Equatable {
    /// The hole is in an element's name, a property's name or a reference, and the value has other characters than
    /// those have.
    case name(hole: Int)
    /// The hole is in caps between two `!`, and the value has characters that cannot stand there.
    case caps(hole: Int)
    /// With the values, GStreamer would divide the text into different tokens. No values are known that do this.
    case division
  }

  /// The text with its holes filled. Every value is part of the token that its hole is in, whatever bytes it has, so
  /// that GStreamer makes the same elements as with any other value, and a property gets exactly the value.
  ///
  /// The value of a property may have any bytes except NUL. Elsewhere a value may have only letters, digits, `_` and
  /// `-`, and in caps between two `!` also `.`, `+`, `:` and `/`.
  ///
  /// - Parameter values: one for each hole, by the hole's number.
  /// - Throws: ``Misfit`` when a value cannot fill its hole.
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

  /// The names and values of all properties, as elements get them. The text must have no holes.
  package var properties: [(name: [UInt8], value: [UInt8])] {
    tokens.filter { $0.kind == .property }.map { token in
      let (name, value) = (units[token.name], decoded(token.range))
      return (name.map { UInt8(truncatingIfNeeded: $0) }, value.map { UInt8(truncatingIfNeeded: $0) })
    }
  }

  /// A value written for the place after `name=`, so that a string property gets exactly this value. It may have any
  /// bytes except NUL.
  package static func quoted(_ value: String) -> String {
    String(decoding: quoted(Array(value.utf8)), as: UTF8.self)
  }

  private static func quoted(_ value: [UInt8]) -> [UInt8] { [quote] + escaped(wrappedIfNeeded(value)) + [quote] }

  /// The value in quotes with numeric escapes, if it needs them. GStreamer removes the quotes around the value of a
  /// string property and reads NULL as no value, and a backslash at the end of quotes would escape the closing quote.
  private static func wrappedIfNeeded(_ value: [UInt8]) -> [UInt8] {
    let needsWrapping = value == null || value.last == backslash || (value.first == quote && value.last == quote)
    return needsWrapping ? [quote] + numbered(value) + [quote] : value
  }

  /// An argument of a command line, written so that gst_parse_launchv keeps it as one word. That function escapes
  /// spaces, but not tabs and line feeds, and not a backslash at the end, which would escape the space after it.
  static func word(ofArgument argument: String) -> String {
    let isOneWord = argument.utf8.last != backslash && !argument.utf8.contains { (0x09...0x0D).contains($0) }
    guard !isOneWord, let (name, value) = property(inArgument: argument) else { return argument }
    return String(decoding: name + [UInt8(ascii: "=")] + quoted(value), as: UTF8.self)
  }

  /// The name and value in an argument; nil when the argument is not `name=value`.
  package static func property(inArgument argument: String) -> (name: [UInt8], value: [UInt8])? {
    let text = LaunchText(argument)
    guard let end = text.identifier(at: 0), text.byte(end) == UInt8(ascii: "=") else { return nil }
    var value = text.decoded(end + 1..<text.units.count)
    // The last backslash escapes nothing, so it stands for itself.
    let isOdd = text.units[(end + 1)...].reversed().prefix { $0 == Unit(backslash) }.count % 2 == 1
    if isOdd { value.append(Unit(backslash)) }
    return (text.units[..<end].map { UInt8($0) }, value.map { UInt8($0) })
  }

  private static func escaped(_ value: [UInt8]) -> [UInt8] {
    value.flatMap { $0 == quote || $0 == backslash ? [backslash, $0] : [$0] }
  }

  /// The bytes as in a wrapped string of GStreamer: all but letters and digits become a backslash and three octal
  /// digits.
  private static func numbered(_ value: [UInt8]) -> [UInt8] {
    value.flatMap { (byte: UInt8) -> [UInt8] in
      if isAlphanumeric(byte) { return [byte] }
      let digits: [UInt8] = [byte >> 6, (byte >> 3) & 7, byte & 7]
      return [backslash] + digits.map { $0 + UInt8(ascii: "0") }
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

  /// The text at `range` with its holes filled. Values must not be empty, and each byte must fit at its place.
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

  /// The bytes that the lexer should return for a value with its holes filled.
  private func filledBytes(_ range: Range<Int>, _ values: [[UInt8]]) -> [UInt8] {
    let value = decoded(range)
    guard value.contains(where: { $0 >= Self.firstHole }) else { return value.map { UInt8($0) } }
    // If the string around the hole is wrapped, the value in the hole has to be wrapped, too.
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

  /// The value at `range` as a property gets it, without the quotes around it and without escapes.
  package func decoded(_ range: Range<Int>) -> [Unit] {
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
