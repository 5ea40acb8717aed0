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

  init(_ name: String, _ quantity: String, unit: String, rounds: [Double]) {
    let sorted = rounds.sorted()
    self.name = name
    self.quantity = quantity
    self.unit = unit
    self.rounds = rounds
    median = (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    min = sorted[0]
    max = sorted[sorted.count - 1]
  }

  /// The range of the middle half of the rounds.
  var middleHalf: ClosedRange<Double> {
    let sorted = rounds.sorted()
    return sorted[sorted.count / 4]...sorted[sorted.count - 1 - sorted.count / 4]
  }

  var isRatio: Bool { unit == "ratio" }
}

/// Collects numbers round by round.
struct Samples {
  private struct Key: Hashable {
    let name: String
    let quantity: String
    let unit: String
  }

  private var order: [Key] = []
  private var values: [Key: [Double]] = [:]

  mutating func add(_ value: Double, _ name: String, _ quantity: String, unit: String) {
    let key = Key(name: name, quantity: quantity, unit: unit)
    if values[key] == nil { order.append(key) }
    values[key, default: []].append(value)
  }

  /// Adds all numbers that another process has measured.
  mutating func add(_ result: BenchResult) {
    for measurement in result.measurements {
      for value in measurement.rounds {
        add(value, measurement.name, measurement.quantity, unit: measurement.unit)
      }
    }
  }

  var measurements: [Measurement] {
    order.compactMap { key in
      values[key].map { Measurement(key.name, key.quantity, unit: key.unit, rounds: $0) }
    }
  }
}
