import Foundation

@testable import PipSink
@testable import pipsink_demo

/// Fuzzes the output for other programs. Whatever characters names and errors contain, the metrics and the report must
/// be readable again. The input is a list of names that are separated by zero bytes.
@MainActor
enum OutputTarget {
  static func run(_ bytes: [UInt8]) {
    var seen: Set<String> = []
    let names = bytes.split(separator: 0).prefix(8).map { String(decoding: $0, as: UTF8.self) }
      .filter { seen.insert($0).inserted }
    prometheus(names)
    report(names)
  }

  private static func statistics(_ names: [String]) -> [RenderStatistics] {
    names.map {
      RenderStatistics(
        StreamID($0), StreamStatistics(), .init(shown: 2, late: 3), lastHandover: nil, info: nil, processing: nil)
    }
  }

  private static func prometheus(_ names: [String]) {
    let usage = ResourceUsage(
      cpuTime: .seconds(1), residentBytes: 2, peakResidentBytes: 3, threadCount: 4, openFileCount: 5)
    let text = PrometheusText(statistics(names), process: usage).text
    let start = Array("pipsink_frames_received_total{stream=\"".utf8)
    var found: [[UInt8]] = []
    for line in text.utf8.split(separator: 0x0A) {
      require(line.starts(with: "#".utf8) || line.starts(with: "pipsink_".utf8), "\(String(line) ?? "") of \(names)")
      guard line.starts(with: start) else { continue }
      var label: [UInt8] = []
      var rest = line.dropFirst(start.count)
      while let byte = rest.popFirst(), byte != UInt8(ascii: "\"") {
        guard byte == UInt8(ascii: "\\") else {
          label.append(byte)
          continue
        }
        let next = rest.popFirst()
        label.append(next == UInt8(ascii: "n") ? 0x0A : next ?? 0)
      }
      require(rest.elementsEqual("} 0".utf8), "\(String(line) ?? "")")
      found.append(label)
    }
    require(found == names.map { Array($0.utf8) }, "\(found) of \(names)")
  }

  private static func report(_ names: [String]) {
    let streams = Dictionary(
      uniqueKeysWithValues: statistics(names).map { statistics in
        (statistics.streamID.rawValue, Report.Stream(statistics, state: "failed", error: "\(statistics.streamID)"))
      })
    let usage = Report.ProcessUsage(cpuSeconds: 1, peakRssBytes: 2, rssBytes: 3, threads: 4, openFiles: 5)
    let report = Report(
      outcome: .failed, durationSeconds: 1, surface: names.first ?? "", streams: streams, abandonedPipelines: 0,
      modeChanges: [],
      pictureInPictureEvents: [], process: usage, snapshots: names, errors: names)
    guard let json = try? report.json(), let read = try? JSONDecoder().decode(Report.self, from: Data(json))
    else {
      return require(false, "the report of \(names) cannot be read")
    }
    require(read.errors.elementsEqual(names) { $0.utf8.elementsEqual($1.utf8) }, "\(read.errors) of \(names)")
    let keys = Set(read.streams.keys.map { Array($0.utf8) })
    require(keys == Set(names.map { Array($0.utf8) }), "\(read.streams.keys) of \(names)")
    require((try? read.json()) == json, "\(names)")
  }
}
