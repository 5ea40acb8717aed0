/// One number that a benchmark has measured, with its value in each round.
struct Measurement: Codable, Equatable {
  /// What was measured: a variant, an operation or a size. It is one row of the table.
  var name: String
  /// The quantity that was measured, such as "frames/s". It is one column of the table.
  var quantity: String
  /// "1/s", "µs", "ms", "ratio", "bytes" or "1".
  var unit: String
  var median: Double
  var min: Double
  var max: Double
  /// The values of the rounds, in the order of the rounds.
  var rounds: [Double]
  /// Whether the number does not depend on PipSink, so that it shows what else the machine did; absent if it does.
  var isReference: Bool?

  init(_ name: String, _ quantity: String, unit: String, rounds: [Double], isReference: Bool = false) {
    let sorted = rounds.sorted()
    self.name = name
    self.quantity = quantity
    self.unit = unit
    self.rounds = rounds
    self.isReference = isReference ? true : nil
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    min = sorted[0]
    max = sorted[sorted.count - 1]
  }

  var isRatio: Bool { unit == "ratio" }
}

/// Collects numbers round by round.
struct Samples {
  private struct Key: Hashable {
    let name: String
    let quantity: String
    let unit: String
    let isReference: Bool
  }

  private var order: [Key] = []
  private var values: [Key: [Double]] = [:]

  /// - Parameter isReference: whether the number does not depend on PipSink.
  mutating func add(_ value: Double, _ name: String, _ quantity: String, unit: String, isReference: Bool = false) {
    let key = Key(name: name, quantity: quantity, unit: unit, isReference: isReference)
    if values[key] == nil { order.append(key) }
    values[key, default: []].append(value)
  }

  /// Adds all numbers that another process has measured.
  mutating func add(_ result: BenchResult) {
    for measurement in result.measurements {
      for value in measurement.rounds {
        add(
          value, measurement.name, measurement.quantity, unit: measurement.unit,
          isReference: measurement.isReference == true)
      }
    }
  }

  var measurements: [Measurement] {
    order.compactMap { key in
      values[key].map { Measurement(key.name, key.quantity, unit: key.unit, rounds: $0, isReference: key.isReference) }
    }
  }
}
