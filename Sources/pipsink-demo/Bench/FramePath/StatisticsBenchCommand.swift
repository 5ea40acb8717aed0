import ArgumentParser

/// Measures what it costs to take the times of frames for intervals, rates and latencies.
struct StatisticsBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "statistics",
    abstract: "Measures what the times in PipSink's statistics cost.",
    discussion: """
      The frames take the same path as in `route`, in one process that takes times and takes none in turn, for 25 \
      milliseconds each. The cost is a few percent, which is less than the difference between two processes that do \
      the same.
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
            throw DemoError(
              .usage, "\(frames) frames are too few for turns of 25 milliseconds; give more with --frames")
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
