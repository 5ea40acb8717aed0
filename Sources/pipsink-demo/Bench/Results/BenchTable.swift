/// A result as a table for people: a row for every name, and a column for every quantity, ratios first.
struct BenchTable {
  let result: BenchResult

  private var names: [String] { unique(result.measurements.map(\.name)) }

  private var quantities: [String] {
    let ratios = result.measurements.filter(\.isRatio)
    return unique((ratios + result.measurements.filter { !$0.isRatio }).map(\.quantity))
  }

  /// The table as plain text, with the range of the rounds behind each median.
  var text: String {
    let header = [""] + quantities
    let rows = names.map { name in
      [name]
        + quantities.map { quantity in
          result.measurement(name, quantity).map { measurement in
            "\(Self.decimal(measurement.median)) (\(Self.decimal(measurement.min)) to \(Self.decimal(measurement.max)))"
          } ?? "-"
        }
    }
    let all = [header] + rows
    let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    let lines = all.map { row in
      zip(row, widths).map { $0.padded(to: $1) }.joined(separator: "  ")
    }
    let top = [
      result.ratioToC.map { "\(Self.decimal($0)) of the C program's frames a second" },
      result.ratioToFakesink.map { "\(Self.decimal($0)) of fakesink's frames a second" },
    ].compactMap(\.self)
    return (top + lines + result.remarks + [result.machine.description]).joined(separator: "\n")
  }

  /// Medians only, as the README has them.
  var markdown: String {
    let rows = names.map { name in
      [name]
        + quantities.map { quantity in
          result.measurement(name, quantity).map { Self.decimal($0.median) } ?? "–"
        }
    }
    let all = [[""] + quantities, Array(repeating: "---", count: quantities.count + 1)] + rows
    let remarks = result.remarks.isEmpty ? [] : [""] + result.remarks.map { "- \($0)" }
    let rounds = result.measurements.map(\.rounds.count).max() ?? 0
    return
      (["`\(result.command)`: medians of \(rounds) rounds."] + noise + [""]
      + all.map { "| \($0.joined(separator: " | ")) |" } + remarks + ["", result.machine.description])
      .joined(separator: "\n")
  }

  /// How far the rounds lie apart, of most numbers, in a line of its own; none where they do not differ.
  private var noise: [String] {
    let spreads = result.measurements.filter { $0.median != 0 && $0.max > $0.min }
      .map { ($0.max - $0.min) / abs($0.median) }.sorted()
    guard !spreads.isEmpty else { return [] }
    let spread = (spreads[spreads.count / 2] * 100).text(places: 0)
    return ["The lowest and the highest round of a number typically lie \(spread) % of the median apart."]
  }

  /// A number with as many decimal places as make three significant digits.
  static func decimal(_ value: Double) -> String {
    let size = abs(value)
    let places =
      size >= 100 || value == value.rounded() && size >= 10 || value == 0 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3
    return value.text(places: places)
  }

  private func unique(_ words: [String]) -> [String] {
    var seen: Set<String> = []
    return words.filter { seen.insert($0).inserted }
  }
}
