import Glibc
import PipSink

/// Draws a result as an SVG file: a panel for every quantity, with a bar for the median of every name, and a line from
/// the lowest to the highest round. Scales are logarithmic, so that a large number hides no others.
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
      let decades = Self.decades(of: bars)
      let bottom = y + bars.count * Self.barHeight
      for decade in decades {
        let x = Self.position(pow(10, Double(decade)), decades)
        body.append("<path d=\"M\(x) \(y)V\(bottom)\" stroke=\"#d3d7cf\"/>")
        body.append(Self.text(x, bottom + 10, Self.label(decade), "font-size=\"8\" text-anchor=\"middle\""))
      }
      for bar in bars {
        body += Self.bar(bar, y: y, decades)
        y += Self.barHeight
      }
      y += 40
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

  /// The powers of ten from below the lowest number above zero to above the highest one.
  private static func decades(of bars: [Measurement]) -> ClosedRange<Int> {
    let values = bars.flatMap { [$0.min, $0.median, $0.max] }.filter { $0 > 0 && $0.isFinite }
    guard let lowest = values.min(), let highest = values.max() else { return 0...1 }
    // The shortest bar is still seen.
    let first = Int((log10(lowest) - 0.05).rounded(.down))
    return first...max(first + 1, Int(log10(highest).rounded(.up)))
  }

  /// The place of a value on the scale; the left end for zero and less.
  private static func position(_ value: Double, _ decades: ClosedRange<Int>) -> Int {
    guard value > 0 else { return labelWidth }
    let share = (log10(value) - Double(decades.lowerBound)) / Double(decades.upperBound - decades.lowerBound)
    return labelWidth + Int((min(max(share, 0), 1) * Double(plotWidth)).rounded())
  }

  private static func label(_ decade: Int) -> String {
    (-3...5).contains(decade) ? pow(10, Double(decade)).text(places: max(0, -decade)) : "1e\(decade)"
  }

  private static func bar(_ bar: Measurement, y: Int, _ decades: ClosedRange<Int>) -> [String] {
    func position(_ value: Double) -> Int { Self.position(value, decades) }
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
