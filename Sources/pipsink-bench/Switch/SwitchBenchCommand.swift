import ArgumentParser
import PipSink
import PipSinkCommandLine

/// Measures the time from the request for picture-in-picture to the first picture there.
struct SwitchBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "switch",
    abstract:
      "Measures the time from a switch to the first picture in picture-in-picture, and frames lost or repeated.",
    discussion: """
      Two streams are shown in the app, and take the picture-in-picture surface from each other, at moments that are \
      spread over the interval between two frames. Each round is measured in a new process.
      """)

  enum Surface: String, CaseIterable, ExpressibleByArgument {
    case offscreen, window
  }

  @OptionGroup var options: BenchOptions

  @Option(help: "The switches in each round.")
  var switches = 200

  @Option(help: "What the streams are shown on: memory, or windows on DISPLAY or WAYLAND_DISPLAY.")
  var surface = Surface.offscreen

  @Option(help: ArgumentHelp("The size of the streams, in pixels.", valueName: "WxH"))
  var size = PictureSize(width: 1280, height: 720)

  @Option(help: "The frames a second of each stream.")
  var rate = 60

  func validate() throws {
    try OptionRange.switches.check(switches, "--switches")
    try OptionRange.rate.check(rate, "--rate")
  }

  func run() async throws {
    try await options.report {
      if options.isAlone { return try await measure() }
      let processes = OwnProcesses()
      var samples = Samples()
      var all: [Double] = []
      let part = BenchPart(
        name: "\(switches) switches",
        arguments: [
          "--switches", "\(switches)", "--surface", surface.rawValue, "--size", "\(size)", "--rate", "\(rate)",
        ])
      try await processes.measure([part], of: "switch", rounds: options.rounds) { result in
        var result = result
        all += result.measurements.filter { $0.quantity == Self.eachOne }.flatMap(\.rounds)
        result.measurements.removeAll { $0.quantity == Self.eachOne }
        samples.add(result)
      }
      let sorted = all.sorted()
      let remark =
        "All \(sorted.count) switches: p50 \(BenchTable.decimal(Self.percentile(50, sorted))) ms, p99 "
        + "\(BenchTable.decimal(Self.percentile(99, sorted))) ms, max \(BenchTable.decimal(sorted.last ?? 0)) ms"
      return BenchResult("switch", samples, processes: processes, remarks: [remark])
    }
  }

  /// The quantity with which a process of one round reports each latency, for the percentiles of all rounds together.
  private static let eachOne = "each switch, ms"

  private func measure() async throws -> BenchResult {
    let result = try await SwitchRun(source: StillSource(size: size, rate: rate), isOffscreen: surface == .offscreen)
      .run(switches: switches)
    let name = "\(result.surface), \(size) at \(rate) frames/s"
    let sorted = result.latencies.sorted()
    var samples = Samples()
    samples.add(Self.percentile(50, sorted), name, "p50, ms", unit: "ms")
    samples.add(Self.percentile(99, sorted), name, "p99, ms", unit: "ms")
    samples.add(sorted.last ?? 0, name, "max, ms", unit: "ms")
    samples.add(Double(result.lost), name, "frames lost", unit: "1")
    samples.add(Double(result.repeated), name, "frames repeated", unit: "1")
    samples.add(Double(switches - sorted.count), name, "switches without a picture", unit: "1")
    for latency in sorted { samples.add(latency, name, Self.eachOne, unit: "ms") }
    return BenchResult("switch", samples)
  }

  /// The smallest number that this percentage of the numbers does not exceed.
  private static func percentile(_ percent: Int, _ sorted: [Double]) -> Double {
    sorted.isEmpty ? 0 : sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
  }
}
