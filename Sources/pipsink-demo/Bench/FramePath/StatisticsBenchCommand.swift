import ArgumentParser

/// What taking frames' times costs: intervals, rates and latencies.
struct StatisticsBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statistics",
    abstract: "Measures what the times in PipSink's statistics cost, on and off in turn.",
    discussion: """
      The way of a frame as in `route`, in a process that takes times and takes none in turn, 25 milliseconds each. It is a few \
      parts in a hundred, less than two processes that do the same differ by.
      """)

  @OptionGroup var path: FramePathOptions
  @OptionGroup var options: BenchOptions
  @OptionGroup var work: FramePathWork

  func run() async throws {
    try await options.report {
      let run = FramePathRun(path: path, programs: try BenchPrograms())
      let progress = BenchProgress(total: options.rounds * work.streams.counts.count)
      var samples = Samples()
      let frames = work.frames ?? FramePathWork.usual
      for _ in 0..<options.rounds {
        for count in work.streams.counts {
          let name = FramePathWork.name(streams: count)
          let report = try await progress.run(name) { try run.run(.timesInTurn, streams: count, frames: frames) }
          guard let shares = report.shares, shares.timed.frames > 0, shares.untimed.frames > 0 else {
            throw DemoError(.usage, "\(frames) frames are too few for turns of 25 milliseconds: more --frames.")
          }
          let (timed, untimed) = (shares.timed.frameMicroseconds, shares.untimed.frameMicroseconds)
          samples.add(timed / untimed, name, "processor time / without times", unit: "ratio")
          samples.add(timed, name, "processor time a frame, µs", unit: "µs")
          samples.add(untimed, name, "without times, µs", unit: "µs")
        }
      }
      return BenchResult("statistics", samples, processes: run.processes)
    }
  }
}
