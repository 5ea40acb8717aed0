/// Compares two results. A number has changed beyond the noise when the middle halves of its rounds do not overlap and
/// its medians differ by more than 2 %.
struct BenchComparison {
  let old: BenchResult
  let new: BenchResult

  private static let threshold = 0.02

  var text: String {
    var lines: [String] = []
    if old.benchmark != new.benchmark {
      return "There is nothing to compare: the old result is one of `bench \(old.benchmark)`."
    }
    if old.machine.processor != new.machine.processor || old.machine.build != new.machine.build {
      lines.append("The old result is from another machine or build: only ratios can be compared.")
    }
    if (old.measurements + new.measurements).contains(where: { $0.rounds.count < 3 }) {
      lines.append("Fewer than three rounds do not show the noise: the changes below may be noise.")
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
