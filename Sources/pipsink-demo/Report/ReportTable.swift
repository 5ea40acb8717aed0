import PipSink
import PipSinkCommandLine

/// A report as tables for people.
struct ReportTable {
  let report: Report
  /// The IDs of the streams, in the order of the rows.
  let streamIDs: [StreamID]

  var text: String {
    var lines = [
      "Outcome: \(report.outcome.rawValue) after \(report.durationSeconds.text(places: 1)) s, surface \(report.surface)"
    ]
    lines += table(
      [
        "stream", "received", "in-app", "pip", "shown", "replaced", "fps", "p50 ms", "p99 ms", "latency p99 ms",
        "format",
      ],
      streamIDs.compactMap { id in report.streams[id.rawValue].map { row(id.rawValue, $0) } })
    if !report.modeChanges.isEmpty {
      lines += table(
        ["switch at s", "stream", "from", "to", "first picture ms", "lost", "repeated"], report.modeChanges.map(row))
    }
    let mebibytes = Double(report.process.peakRssBytes) / 1_048_576
    lines.append("")
    lines.append(
      "Process: \(report.process.cpuSeconds.text(places: 2)) s CPU, \(mebibytes.text(places: 1)) MiB peak resident set")
    return lines.joined(separator: "\n")
  }

  private func row(_ id: String, _ stream: Report.Stream) -> [String] {
    [
      id, "\(stream.received)", "\(stream.inApp)", "\(stream.pip)", "\(stream.shown)", "\(stream.replaced)",
      stream.frameRate.map { $0.text(places: 1) } ?? "-",
      stream.frameInterval.map { $0.p50.text(places: 1) } ?? "-",
      stream.frameInterval.map { $0.p99.text(places: 1) } ?? "-",
      stream.latency.map { $0.p99.text(places: 1) } ?? "-", stream.format ?? "no frame",
    ]
  }

  private func row(_ change: Report.ModeChange) -> [String] {
    [
      change.time.text(places: 2), change.stream, change.from, change.to,
      change.firstFrameLatencyMs.map { $0.text(places: 2) } ?? "-", "\(change.framesLost)", "\(change.framesRepeated)",
    ]
  }

  /// Makes a table whose columns are as wide as their widest cells.
  private func table(_ header: [String], _ rows: [[String]]) -> [String] {
    let all = [header] + rows.map { $0.map(\.visible) }
    let widths = header.indices.map { column in all.map { $0[column].count }.max() ?? 0 }
    let lines = all.map { row in
      let cells = zip(row, widths).map { $0.padded(to: $1) }
      return cells.dropLast().joined(separator: "  ") + "  " + (row.last ?? "")
    }
    return ["", lines[0], String(repeating: "-", count: lines[0].count)] + lines.dropFirst()
  }
}
