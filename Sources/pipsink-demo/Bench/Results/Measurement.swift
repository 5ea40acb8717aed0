/// One number that a benchmark found, in each of its rounds.
struct Measurement: Codable, Equatable {
  /// What was measured: a variant, an operation, a size. One row of the table.
  var name: String
  /// What about it, "frames/s" for instance. One column of the table.
  var quantity: String
  /// "1/s", "µs", "ms", "ratio", "bytes" or "1".
  var unit: String
  var median: Double
  var min: Double
  var max: Double
  /// Each round's number, in the order of the rounds.
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

  /// Where the middle half of the rounds lies.
  var middleHalf: ClosedRange<Double> {
    let sorted = rounds.sorted()
    return sorted[sorted.count / 4]...sorted[sorted.count - 1 - sorted.count / 4]
  }

  var isRatio: Bool { unit == "ratio" }
}

/// Numbers as they come, round by round.
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

  /// All that another process has found.
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
