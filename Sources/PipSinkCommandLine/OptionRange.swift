import ArgumentParser

/// The range of an option whose value is a number. It is so small that no computation with the number overflows.
package struct OptionRange<Number: Comparable & Sendable & LosslessStringConvertible>: Sendable {
  package let range: ClosedRange<Number>
  /// What the number counts, for messages.
  package let unit: String

  package init(range: ClosedRange<Number>, unit: String) {
    (self.range, self.unit) = (range, unit)
  }

  /// - Throws: `ValidationError`, which names the option, the range and the number.
  package func check(_ number: Number, _ option: String) throws {
    // NaN is in no range.
    guard range.contains(number) else {
      throw ValidationError("\(option) takes \(description), not \(Self.text(number)).")
    }
  }

  package var description: String { "\(Self.text(range.lowerBound)) to \(Self.text(range.upperBound)) \(unit)" }

  private static func text(_ number: Number) -> String {
    let text = String(number)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}
