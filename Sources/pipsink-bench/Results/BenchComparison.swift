import PipSinkCommandLine

/// Compares two results by ``RankTest``, number by number. The probability that any number of two equal programs is called
/// changed is at most ``level``, however many numbers there are (Holm's correction). A change has to be one of more than
/// ``threshold``, too.
struct BenchComparison {
  let old: BenchResult
  let new: BenchResult

  private static let level = 0.02
  private static let threshold = 0.02

  private typealias Pair = (before: Measurement, after: Measurement)

  var text: String {
    guard old.benchmark == new.benchmark else {
      return "There is nothing to compare: the old result is one of `pipsink-bench \(old.benchmark)`."
    }
    let pairs = new.measurements.compactMap { after in
      old.measurement(after.name, after.quantity).map { Pair(before: $0, after: after) }
    }
    let (references, own) = (
      pairs.filter { $0.after.isReference == true }, pairs.filter { $0.after.isReference != true }
    )
    let rounds = pairs.flatMap { [$0.before.rounds.count, $0.after.rounds.count] }.min() ?? 0
    let needed = Self.roundsNeeded(for: own.count)
    guard rounds >= needed else {
      return
        "Nothing is compared: to show a change of one of \(own.count) numbers takes \(needed) rounds in both results,"
        + " and one has \(rounds)."
    }
    if let moved = Self.move(of: references) {
      return
        "Nothing is compared, because numbers have moved that do not depend on PipSink, so the machine did other work:"
        + "\n\(moved)\nMeasure both programs in turn, with --against."
    }
    var lines: [String] = []
    if old.machine.processor != new.machine.processor || old.machine.build != new.machine.build {
      lines.append("The old result is from another machine or build: only ratios can be compared.")
    }
    let changes = Self.changes(in: own)
    lines += changes.map { "changed: \(Self.text($0))" }
    lines.append("\(changes.count) of \(own.count) numbers changed beyond the noise")
    return lines.joined(separator: "\n")
  }

  /// The rounds of each result below which not even results that do not overlap show a change of one of `count` numbers.
  static func roundsNeeded(for count: Int) -> Int {
    (1...).first { 2 / RankTest.ways(choosing: $0, of: 2 * $0) <= level / Double(max(count, 1)) } ?? 1
  }

  /// The pairs that differ beyond the noise, in their order.
  private static func changes(in pairs: [Pair]) -> [Pair] {
    let probabilities = pairs.map { RankTest.probability($0.before.rounds, $0.after.rounds) }
    var isChanged = Array(repeating: false, count: pairs.count)
    for (rank, index) in pairs.indices.sorted(by: { probabilities[$0] < probabilities[$1] }).enumerated() {
      guard probabilities[index] <= level / Double(pairs.count - rank) else { break }
      let (before, after) = pairs[index]
      isChanged[index] = abs(after.median - before.median) > threshold * abs(before.median)
    }
    return pairs.indices.filter { isChanged[$0] }.map { pairs[$0] }
  }

  /// What has moved of numbers that do not depend on PipSink: some of them, or all of them together, which shows less.
  private static func move(of references: [Pair]) -> String? {
    let moved = changes(in: references)
    if !moved.isEmpty { return moved.map(text).joined(separator: "\n") }
    func together(_ measurement: (Pair) -> Measurement) -> Measurement? {
      let pairs = references.filter { $0.before.median > 0 }
      guard let count = pairs.map({ measurement($0).rounds.count }).min() else { return nil }
      let means = (0..<count).map { round in
        pairs.reduce(0) { $0 + measurement($1).rounds[round] / $1.before.median } / Double(pairs.count)
      }
      return Measurement("all of them", "together", unit: "ratio", rounds: means)
    }
    guard let before = together(\.before), let after = together(\.after) else { return nil }
    return changes(in: [(before, after)]).first.map(text)
  }

  private static func text(_ pair: Pair) -> String {
    let (before, after) = pair
    let percent = ((after.median / before.median - 1) * 100).text(places: 1, hasSign: true) + " %"
    let numbers = "\(BenchTable.decimal(before.median)) to \(BenchTable.decimal(after.median))"
    return "\(after.name), \(after.quantity): \(numbers)" + (before.median == 0 ? "" : " (\(percent))")
  }
}
