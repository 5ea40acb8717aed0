import Testing

@testable import PipSinkWindows

/// The desktop's settings in the form that the XSETTINGS specification says, with padding after each text.
@Suite struct XSettingsTests {
  private static func number(_ value: Int, _ count: Int, _ isLittleEndian: Bool) -> [UInt8] {
    let bytes = (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    return isLittleEndian ? bytes : bytes.reversed()
  }

  private static func padded(_ text: String) -> [UInt8] {
    Array(text.utf8) + Array(repeating: 0, count: (4 - text.utf8.count % 4) % 4)
  }

  @Test(arguments: [true, false]) func numbersAreFoundBetweenTextsAndColorsOfEveryLength(isLittleEndian: Bool) {
    let number = { (value: Int, count: Int) in Self.number(value, count, isLittleEndian) }
    let names = ["a", "bc", "def", "ghij", "klmno"]
    var bytes: [UInt8] = [isLittleEndian ? 0 : 1, 0, 0, 0] + number(1, 4) + number(3 * names.count, 4)
    for (index, name) in names.enumerated() {
      bytes += [1, 0] + number(name.utf8.count + 1, 2) + Self.padded("t" + name) + number(1, 4)
      bytes += number(name.utf8.count, 4) + Self.padded(name)
      bytes += [2, 0] + number(name.utf8.count + 1, 2) + Self.padded("c" + name) + number(1, 4) + number(0, 8)
      bytes += [0, 0] + number(name.utf8.count, 2) + Self.padded(name) + number(1, 4) + number(-index, 4)
    }
    #expect(XSettings(bytes).numbers == ["a": 0, "bc": -1, "def": -2, "ghij": -3, "klmno": -4])
    // What is cut off is left out.
    #expect(XSettings(bytes.dropLast()).numbers == ["a": 0, "bc": -1, "def": -2, "ghij": -3])
  }
}
