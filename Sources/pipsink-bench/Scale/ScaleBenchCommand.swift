import ArgumentParser
import PipSink
import PipSinkCommandLine

/// Measures the cost of a frame by the number of streams, their size and their rate, and from where on it is no longer
/// constant.
struct ScaleBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "scale",
    abstract: "Measures the processor time of a frame by the number of streams, their size and their rate.",
    discussion: """
      Every stream is a still picture at the given rate, which is wrapped, routed and shown on a surface of 320x180 \
      pixels in memory. Each combination runs in a new process in every round, and the measurement begins when the \
      streams flow. The time includes that of the sources.
      """)

  @OptionGroup var options: BenchOptions

  @Option(help: ArgumentHelp("The numbers of streams to measure.", valueName: "N,N,..."))
  var streams = CommaList([1, 4, 16, 64, 128])

  @Option(help: ArgumentHelp("The sizes of the streams, in pixels.", valueName: "WxH,..."))
  var sizes = CommaList([
    PictureSize(width: 320, height: 180), PictureSize(width: 1280, height: 720), PictureSize(width: 1920, height: 1080),
  ])

  @Option(help: ArgumentHelp("The frames a second of each stream.", valueName: "N,N,..."))
  var rates = CommaList([30, 60])

  @Option(help: "How many seconds each combination runs in a round.")
  var seconds = 1.0

  func validate() throws {
    for count in streams.values { try OptionRange.streams.check(count, "--streams") }
    for rate in rates.values { try OptionRange.rate.check(rate, "--rates") }
    try OptionRange.measurement.check(seconds, "--seconds")
  }

  func run() async throws {
    try await options.report {
      let points = sizes.values.flatMap { size in
        rates.values.flatMap { rate in
          streams.values.sorted().map { ScalePoint(streams: $0, source: StillSource(size: size, rate: rate)) }
        }
      }
      if options.isAlone { return try await measure(options.alone(points)) }
      let processes = OwnProcesses()
      var samples = Samples()
      try await processes.measure(points.map(part), of: "scale", rounds: options.rounds) { samples.add($0) }
      var result = BenchResult("scale", samples, processes: processes)
      result.remarks = ScaleVerdict(points: points, result: result).remarks
      return result
    }
  }

  private func part(_ point: ScalePoint) -> BenchPart {
    BenchPart(
      name: point.name,
      arguments: [
        "--streams", "\(point.streams)", "--sizes", "\(point.source.size)", "--rates", "\(point.source.rate)",
        "--seconds", "\(seconds)",
      ])
  }

  private func measure(_ point: ScalePoint) async throws -> BenchResult {
    var samples = Samples()
    let load = try await point.measure(seconds: seconds)
    samples.add(load.cpuSeconds / load.frames * 1e6, point.name, ScalePoint.cost, unit: "µs")
    samples.add(load.shown / load.wanted, point.name, ScalePoint.shown, unit: "ratio")
    samples.add(load.cpuSeconds / load.seconds, point.name, ScalePoint.busy, unit: "1")
    return BenchResult("scale", samples)
  }
}
