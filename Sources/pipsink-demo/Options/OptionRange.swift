import ArgumentParser

/// The range of an option whose value is a number. It is so small that no computation with the number overflows.
struct OptionRange<Number: Comparable & Sendable & LosslessStringConvertible>: Sendable {
  let range: ClosedRange<Number>
  /// What the number counts, for messages.
  let unit: String

  /// - Throws: `ValidationError`, which names the option, the range and the number.
  func check(_ number: Number, _ option: String) throws {
    // NaN is in no range.
    guard range.contains(number) else {
      throw ValidationError("\(option) takes \(description), not \(Self.text(number)).")
    }
  }

  var description: String { "\(Self.text(range.lowerBound)) to \(Self.text(range.upperBound)) \(unit)" }

  private static func text(_ number: Number) -> String {
    let text = String(number)
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
  }
}

extension OptionRange where Number == Double {
  /// The duration of a run: at most 31 years.
  static let duration = OptionRange(range: 0.001...1_000_000_000, unit: "seconds")
  /// The time that a pipeline may take to stop.
  static let stopTimeout = OptionRange(range: 0.1...3600, unit: "seconds")
  /// The time of an action in a run.
  static let time = OptionRange(range: 0...1_000_000_000, unit: "seconds")
  /// The duration of a measurement.
  static let measurement = OptionRange(range: 0.001...86_400, unit: "seconds")
}

extension OptionRange where Number == Int {
  static let retries = OptionRange(range: 0...1_000_000_000, unit: "retries")
  static let rounds = OptionRange(range: 1...10_000, unit: "rounds")
  static let frames = OptionRange(range: 1...1_000_000_000, unit: "frames")
  static let streams = OptionRange(range: 1...1000, unit: "streams")
  static let rate = OptionRange(range: 1...1000, unit: "frames a second")
  // The router remembers the last thousand surface changes.
  static let switches = OptionRange(range: 1...500, unit: "switches")
}
