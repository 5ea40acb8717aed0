/// What has changed between two results beyond the noise: where the middle halves of the rounds lie apart, and the
/// medians by more than two parts in a hundred.
struct BenchComparison {
  let old: BenchResult
  let new: BenchResult

  private static let threshold = 0.02

  var text: String {
    var lines: [String] = []
    if old.benchmark != new.benchmark {
      return "Nothing to compare: the old result is one of `bench \(old.benchmark)`."
    }
    if old.machine.processor != new.machine.processor || old.machine.build != new.machine.build {
      lines.append("The old result is another machine's or build's: only ratios compare.")
    }
    if (old.measurements + new.measurements).contains(where: { $0.rounds.count < 3 }) {
      lines.append("Fewer than three rounds do not show the noise: what is said to have changed may be noise.")
    }
    let pairs = new.measurements.compactMap { measurement in
      old.measurement(measurement.name, measurement.quantity).map { ($0, measurement) }
    }
    let changes = pairs.filter { Self.isChanged($0, $1) }
    for (before, after) in changes {
      let percent = ((after.median / before.median - 1) * 100).text(places: 1, hasSign: true) + " %"
      let numbers = "\(BenchTable.decimal(before.median)) to \(BenchTable.decimal(after.median))"
      lines.append(
        "changed: \(after.name), \(after.quantity): \(numbers)" + (before.median == 0 ? "" : " (\(percent))"))
    }
    lines.append("\(changes.count) of \(pairs.count) numbers changed beyond the noise")
    return lines.joined(separator: "\n")
  }

  private static func isChanged(_ before: Measurement, _ after: Measurement) -> Bool {
    !before.middleHalf.overlaps(after.middleHalf)
      && abs(after.median - before.median) > threshold * abs(before.median)
  }
}
