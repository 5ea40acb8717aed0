import ArgumentParser
import PipSink

/// The time from the request for picture-in-picture to the first picture there.
struct SwitchBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "switch",
    abstract:
      "Measures the time from a switch to the first picture in picture-in-picture, and frames lost or repeated.",
    discussion: """
      Two streams are shown in the app; they take the picture-in-picture surface from each other, at moments that lie \
      everywhere between two frames.
      """)

  enum Surface: String, CaseIterable, ExpressibleByArgument {
    case offscreen, window
  }

  @OptionGroup var options: BenchOptions

  @Option(help: "Switches a round.")
  var switches = 200

  @Option(help: "What the streams are shown on: memory, or windows on DISPLAY or WAYLAND_DISPLAY.")
  var surface = Surface.offscreen

  @Option(help: ArgumentHelp("The streams' size, in pixels.", valueName: "WxH"))
  var size = PictureSize(width: 1280, height: 720)

  @Option(help: "Frames a second of each stream.")
  var rate = 60

  func validate() throws {
    try OptionRange.switches.check(switches, "--switches")
    try OptionRange.rate.check(rate, "--rate")
  }

  func run() async throws {
    try await options.report {
      let progress = BenchProgress(total: options.rounds)
      var samples = Samples()
      var all: [Double] = []
      for round in 1...options.rounds {
        let result = try await progress.run("round \(round), \(switches) switches") {
          try await SwitchRun(source: StillSource(size: size, rate: rate), isOffscreen: surface == .offscreen)
            .run(switches: switches)
        }
        let name = "\(result.surface), \(size) at \(rate) frames/s"
        let sorted = result.latencies.sorted()
        all += sorted
        samples.add(Self.percentile(50, sorted), name, "p50, ms", unit: "ms")
        samples.add(Self.percentile(99, sorted), name, "p99, ms", unit: "ms")
        samples.add(sorted.last ?? 0, name, "max, ms", unit: "ms")
        samples.add(Double(result.lost), name, "frames lost", unit: "1")
        samples.add(Double(result.repeated), name, "frames repeated", unit: "1")
        samples.add(Double(switches - sorted.count), name, "switches without a picture", unit: "1")
      }
      let sorted = all.sorted()
      let remark =
        "All \(sorted.count) switches: p50 \(BenchTable.decimal(Self.percentile(50, sorted))) ms, p99 "
        + "\(BenchTable.decimal(Self.percentile(99, sorted))) ms, max \(BenchTable.decimal(sorted.last ?? 0)) ms"
      return BenchResult("switch", samples, remarks: [remark])
    }
  }

  /// The smallest number that so many of a hundred do not exceed.
  private static func percentile(_ percent: Int, _ sorted: [Double]) -> Double {
    sorted.isEmpty ? 0 : sorted[max(0, (sorted.count * percent + 99) / 100 - 1)]
  }
}
