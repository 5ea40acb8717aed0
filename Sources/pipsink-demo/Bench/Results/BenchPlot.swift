import PipSink

/// Draws a result as an SVG file: a panel for every quantity, with a bar for the median of every name, and a line from
/// the lowest to the highest round.
///
/// Bars and text need only a few SVG elements, so that no plotting tool has to be installed.
struct BenchPlot {
  let result: BenchResult

  private static let barHeight = 20
  private static let labelWidth = 330
  private static let plotWidth = 480
  private static let textWidth = 90

  var svg: String {
    var body: [String] = []
    var y = 30
    for quantity in quantities {
      let bars = result.measurements.filter { $0.quantity == quantity }
      body.append(Self.text(10, y, quantity, "font-weight=\"bold\""))
      y += 10
      for bar in bars {
        body += Self.bar(bar, y: y, scale: bars.map(\.max).max() ?? 0)
        y += Self.barHeight
      }
      y += 30
    }
    let width = Self.labelWidth + Self.plotWidth + Self.textWidth
    let head =
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"\(width)\" height=\"\(y)\" font-family=\"sans-serif\" "
      + "font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    let foot = Self.text(10, y - 12, "\(result.command); \(result.machine.description)", "font-size=\"8\"")
    return ([head] + body + [foot, "</svg>", ""]).joined(separator: "\n")
  }

  private var quantities: [String] {
    var seen: Set<String> = []
    return result.measurements.map(\.quantity).filter { seen.insert($0).inserted }
  }

  private static func bar(_ bar: Measurement, y: Int, scale: Double) -> [String] {
    func position(_ value: Double) -> Int {
      labelWidth + (scale > 0 ? Int(max(value, 0) / scale * Double(plotWidth)) : 0)
    }
    let middle = y + barHeight / 2
    return [
      text(10, middle + 4, bar.name, ""),
      "<rect x=\"\(labelWidth)\" y=\"\(y + 3)\" width=\"\(position(bar.median) - labelWidth)\" "
        + "height=\"\(barHeight - 6)\" fill=\"\(bar.name.lowercased().contains("pipsink") ? "#3465a4" : "#babdb6")\"/>",
      "<path d=\"M\(position(bar.min)) \(middle)H\(position(bar.max))\" stroke=\"black\"/>",
      text(labelWidth + plotWidth + 8, middle + 4, BenchTable.decimal(bar.median), ""),
    ]
  }

  private static func text(_ x: Int, _ y: Int, _ text: String, _ attributes: String) -> String {
    // The text is escaped by Unicode scalars: "<" with a combining mark is another Character in Swift, but the same "<"
    // in XML.
    let escaped = text.visible.unicodeScalars.map { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      default: String(scalar)
      }
    }.joined()
    return "<text x=\"\(x)\" y=\"\(y)\" \(attributes)>\(escaped)</text>"
  }
}
