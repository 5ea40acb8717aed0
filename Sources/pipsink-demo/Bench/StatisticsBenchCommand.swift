import ArgumentParser

/// What taking frames' times costs: intervals, rates and latencies.
struct StatisticsBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statistics",
    abstract: "Measures what the times in PipSink's statistics cost, on and off in turn.",
    discussion: """
      The way of a frame as in `route`, with times and without, each in a process of its own; every round begins with the \
      other one. It is a few parts in a hundred, less than two runs of the same differ by: it takes many rounds.
      """)

  @OptionGroup var path: FramePathOptions
  @OptionGroup var options: BenchOptions
  @OptionGroup var work: FramePathWork

  func run() async throws {
    try await options.report {
      let run = FramePathRun(path: path, programs: try BenchPrograms())
      let progress = BenchProgress(total: options.rounds * work.streams.counts.count * 2)
      var samples = Samples()
      for round in 0..<options.rounds {
        for count in work.streams.counts {
          let name = FramePathWork.name(streams: count)
          let total = Double(FramePathOptions.framesOfAStream(streams: count, frames: work.frames) * count)
          var times: [FramePathVariant: Double] = [:]
          for variant in round.isMultiple(of: 2) ? [FramePathVariant.pipSink, .untimed] : [.untimed, .pipSink] {
            times[variant] = try await progress.run("\(name): \(variant.title)") {
              try run.run(variant, streams: count, frames: work.frames).cpuSeconds / total * 1e6
            }
          }
          guard let timed = times[.pipSink], let untimed = times[.untimed], untimed > 0 else { continue }
          samples.add(timed / untimed, name, "processor time / without times", unit: "ratio")
          samples.add(timed, name, "processor time a frame, µs", unit: "µs")
          samples.add(untimed, name, "without times, µs", unit: "µs")
        }
      }
      return BenchResult("statistics", samples)
    }
  }
}
