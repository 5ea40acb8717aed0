/// The integers in an XSETTINGS property. The format is that of the XSETTINGS specification, version 0.5.
struct XSettings: Equatable {
  let numbers: [String: Int]

  /// Parses the property's bytes, up to the first ones that are not valid.
  init(_ bytes: [UInt8]) {
    var numbers: [String: Int] = [:]
    var reader = Reader(bytes)
    // The first byte is 0 where the least significant byte of each number comes first.
    reader.isLittleEndian = reader.byte() == 0
    reader.skip(7)
    let count = reader.number(4) ?? 0
    for _ in 0..<min(count, bytes.count) {
      guard let kind = reader.byte(), reader.skip(1), let length = reader.number(2), let name = reader.text(length),
        reader.skip(4)
      else { break }
      switch kind {
      case 0: numbers[name] = reader.number(4).map { Int(Int32(truncatingIfNeeded: $0)) }
      case 1: guard let length = reader.number(4), reader.text(length) != nil else { break }
      default: reader.skip(8)
      }
    }
    self.numbers = numbers
  }

  /// Reads numbers and texts from bytes, one after the other.
  private struct Reader {
    private let bytes: [UInt8]
    private var position = 0
    var isLittleEndian = true

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func byte() -> UInt8? { number(1).map { UInt8($0) } }

    @discardableResult
    mutating func skip(_ count: Int) -> Bool {
      position += count
      return position <= bytes.count
    }

    mutating func number(_ count: Int) -> Int? {
      guard position + count <= bytes.count else { return nil }
      let part = bytes[position..<position + count]
      position += count
      return (isLittleEndian ? Array(part.reversed()) : Array(part)).reduce(0) { $0 << 8 | Int($1) }
    }

    /// Reads a text of so many bytes and the padding that follows it, up to a multiple of four bytes.
    mutating func text(_ length: Int) -> String? {
      guard length >= 0, position + length <= bytes.count else { return nil }
      let text = String(decoding: bytes[position..<position + length], as: UTF8.self)
      position += (length + 3) & ~3
      return text
    }
  }
}
