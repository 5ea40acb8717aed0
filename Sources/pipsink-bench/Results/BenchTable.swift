import PipSinkCommandLine

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

  /// The table in Markdown, with medians only, for documents.
  var markdown: String {
    let rows = names.map { name in
      [name]
        + quantities.map { quantity in
          result.measurement(name, quantity).map { Self.decimal($0.median) } ?? "–"
        }
    }
    // A header of more than 120 columns has numbers instead, which a list above the table explains.
    let isWide = Self.row([""] + quantities).count > 120
    let header = isWide ? quantities.indices.map { "(\($0 + 1))" } : quantities
    let legend = isWide ? [""] + zip(header, quantities).map { "- \($0): \($1)" } : []
    let all = [[""] + header, Array(repeating: "---", count: quantities.count + 1)] + rows
    let remarks = result.remarks.isEmpty ? [] : [""] + result.remarks.flatMap { Self.wrapped("- \($0)", indent: "  ") }
    let rounds = result.measurements.map(\.rounds.count).max() ?? 0
    let top = ["`\(result.command)`: medians of \(rounds) rounds."] + noise + legend + [""]
    let bottom = remarks + [""] + Self.wrapped(result.machine.description)
    return (top + all.map(Self.row) + bottom).joined(separator: "\n")
  }

  /// A line that says how far the rounds of a typical number differ; empty when they do not.
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

  private static func row(_ cells: [String]) -> String { "| \(cells.joined(separator: " | ")) |" }

  /// `text` in lines of at most 120 columns, as far as its words allow.
  private static func wrapped(_ text: String, indent: String = "") -> [String] {
    text.split(separator: " ").reduce(into: []) { lines, word in
      if let last = lines.last, last.count + 1 + word.count <= 120 {
        lines[lines.count - 1] = "\(last) \(word)"
      } else {
        lines.append(lines.isEmpty ? String(word) : indent + word)
      }
    }
  }
}
