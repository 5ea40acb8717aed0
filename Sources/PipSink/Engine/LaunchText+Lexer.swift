/// The words of a text, as GStreamer's lexer divides it.
extension LaunchText {
  var tokens: [Token] {
    var result: [Token] = []
    var position = 0
    while position < units.count {
      if isSpace(position) {
        position += 1
      } else if let token = property(at: position) ?? link(at: position) {
        result.append(token)
        switch token {
        case .property(_, let value): position = value.upperBound
        // The `!` behind the caps belongs to them.
        case .caps(let range, _): position = range.upperBound + 1
        case .other(let range): position = range.upperBound
        }
      } else {
        let end = uri(at: position) ?? reference(at: position)
        result.append(.other(position..<end))
        position = end
      }
    }
    return result
  }

  private func property(at start: Int) -> Token? {
    guard let name = identifier(at: start) else { return nil }
    var position = skipSpaces(name)
    guard byte(position) == UInt8(ascii: "=") else { return nil }
    position = skipSpaces(position + 1)
    guard let end = string(at: position) else { return nil }
    return .property(name: start..<name, value: position..<end)
  }

  /// The end of the longest string that begins at `start`: in double quotes, in single ones, or up to a space.
  private func string(at start: Int) -> Int? {
    var end = start
    while end < units.count, !isSpace(end) {
      // A backslash takes what follows, a line feed excepted.
      let takesNext = byte(end) == Self.backslash && end + 1 < units.count && byte(end + 1) != 0x0A
      end += takesNext ? 2 : 1
    }
    for quotedEnd in quotedEnds(at: start) { end = max(end, quotedEnd) }
    return end > start ? end : nil
  }

  /// Where a string in quotes that begins at `start` may end: behind the next quote, and in double quotes, where a
  /// backslash is before it, also behind a later one.
  private func quotedEnds(at start: Int) -> [Int] {
    guard let mark = byte(start), mark == Self.quote || mark == UInt8(ascii: "'") else { return [] }
    var ends: [Int] = []
    for position in start + 1..<max(units.count, start + 1) where byte(position) == mark {
      ends.append(position + 1)
      let isEscaped = mark == Self.quote && position - 1 > start && byte(position - 1) == Self.backslash
      if !isEscaped { break }
    }
    return ends
  }

  /// `!` or `:`, with caps where they follow and another of the two ends them.
  private func link(at start: Int) -> Token? {
    guard isLinkOperator(start) else { return nil }
    let first = skipSpaces(start + 1)
    guard let end = capsEnd(at: first) else { return .other(start..<start + 1) }
    let starts = [first] + (first..<end).filter { byte($0) == UInt8(ascii: ";") }.map { skipSpaces($0 + 1) }
    return .caps(first..<end, mediaTypes: starts.compactMap { start in mediaType(at: start).map { start..<$0 } })
  }

  /// The last operator that caps at `first` can go on to. Quotes mean nothing here.
  private func capsEnd(at first: Int) -> Int? {
    // What of the text can be read as caps, found by going through all ways of reading it at once.
    var isReached: Set<Int> = []
    var open = [mediaType(at: first)].compactMap(\.self)
    var last: Int?
    while let position = open.popLast() {
      guard position < units.count, isReached.insert(position).inserted else { continue }
      if isLinkOperator(position) { last = max(last ?? 0, position) }
      switch byte(position) {
      case UInt8(ascii: "!"): continue
      case UInt8(ascii: ";"):
        if let end = mediaType(at: skipSpaces(position + 1)) { open.append(end) }
        continue
      case Self.backslash where position + 1 < units.count && byte(position + 1) != 0x0A: open.append(position + 2)
      case UInt8(ascii: ",") where position + 1 < units.count && byte(position + 1) != UInt8(ascii: "!"):
        open.append(position + 2)
      default: break
      }
      open.append(position + 1)
    }
    return last
  }

  private func mediaType(at start: Int) -> Int? {
    let slash = run(at: start) { Self.isMediaTypeUnit($0) }
    guard slash > start, byte(slash) == UInt8(ascii: "/") else { return nil }
    let end = run(at: slash + 1) { Self.isMediaTypeUnit($0) }
    return end > slash + 1 ? end : nil
  }

  private func uri(at start: Int) -> Int? {
    let scheme = run(at: start) { unit in
      UInt8(exactly: unit).map { Self.isAlphanumeric($0) || (0x2B...0x2E).contains($0) } ?? true
    }
    if scheme > start, byte(scheme) == UInt8(ascii: ":"), byte(scheme + 1) == 0x2F, byte(scheme + 2) == 0x2F {
      return string(at: scheme + 3) ?? scheme + 3
    }
    if byte(start) == 0x2F { return string(at: start + 1) }
    if byte(start + 1) == 0x2F, let first = byte(start), ".\"{_identifier}".utf8.contains(first) {
      return string(at: start + 2)
    }
    return nil
  }

  /// The end of an identifier, with a reference's dot and what it refers to; of anything else a single unit.
  private func reference(at start: Int) -> Int {
    if byte(start) == UInt8(ascii: ".") { return identifier(at: start + 1) ?? start + 1 }
    guard let end = identifier(at: start) else { return start + 1 }
    guard byte(end) == UInt8(ascii: ".") else { return end }
    return identifier(at: end + 1) ?? end + 1
  }

  func identifier(at start: Int) -> Int? {
    guard start < units.count, units[start] >= Self.firstHole || Self.isIdentifierStart(units[start]) else {
      return nil
    }
    return run(at: start) { Self.isIdentifierUnit($0) }
  }

  private func run(at start: Int, _ belongs: (Unit) -> Bool) -> Int {
    var end = start
    while end < units.count, belongs(units[end]) { end += 1 }
    return end
  }

  private func skipSpaces(_ start: Int) -> Int { run(at: start) { Self.isSpace($0) } }

  /// nil behind the end, and for a hole.
  func byte(_ position: Int) -> UInt8? { position < units.count ? UInt8(exactly: units[position]) : nil }

  private func isSpace(_ position: Int) -> Bool { Self.isSpace(units[position]) }

  private func isLinkOperator(_ position: Int) -> Bool {
    byte(position) == UInt8(ascii: "!") || byte(position) == UInt8(ascii: ":")
  }

  // MARK: - Bytes

  static let quote = UInt8(ascii: "\"")
  static let backslash = UInt8(ascii: "\\")
  static let null = Array("NULL".utf8)

  private static func isSpace(_ unit: Unit) -> Bool { unit == 0x20 || (0x09...0x0D).contains(unit) }

  static func isAlphanumeric(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  /// What no quotes are needed for.
  static func isHarmless(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || "_-+./:%@".utf8.contains(byte) }

  private static func isIdentifierStart(_ unit: Unit) -> Bool {
    UInt8(exactly: unit).map { isAlphanumeric($0) || $0 == 0x5F } ?? true
  }

  private static func isIdentifierUnit(_ unit: Unit) -> Bool {
    UInt8(exactly: unit).map { isAlphanumeric($0) || "_-%:".utf8.contains($0) } ?? true
  }

  private static func isMediaTypeUnit(_ unit: Unit) -> Bool {
    UInt8(exactly: unit).map { isAlphanumeric($0) || $0 == 0x2D } ?? true
  }
}
