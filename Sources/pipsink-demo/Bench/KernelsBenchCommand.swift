import ArgumentParser

/// The time that each operation on pixels takes, beside memcpy of the same bytes and GstVideoConverter's time for the
/// same.
struct KernelsBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels",
    abstract: "Measures every operation on pixels beside memcpy of the frame's bytes and beside GstVideoConverter.",
    discussion: """
      Each side works on eight frames in turn, more than the processor's cache holds. Times are on one thread; "helped" is \
      PipSink with its helper threads.
      """)

  @OptionGroup var options: BenchOptions

  @Option(help: "Frames a side and round.")
  var frames = 40

  func validate() throws {
    try OptionRange.frames.check(frames, "--frames")
  }

  func run() async throws {
    try await options.report {
      let progress = BenchProgress(total: KernelOperation.all.count)
      var samples = Samples()
      for operation in KernelOperation.all {
        try await progress.run(operation.name) { try measure(operation, &samples) }
      }
      return BenchResult("kernels", samples)
    }
  }

  private func measure(_ operation: KernelOperation, _ samples: inout Samples) throws {
    let bench = try KernelBench(operation)
    // In turn, so that a machine that gets slower or faster does so for all.
    for _ in 0..<options.rounds {
      let ours = try bench.pipSink(frames: frames, helped: false)
      let helped = try bench.pipSink(frames: frames, helped: true)
      let memcpy = bench.frames.memcpy(frames: frames)
      let theirs = operation.hasReference ? try bench.reference(frames: frames) : nil
      samples.add(ours / memcpy, operation.name, "PipSink / memcpy", unit: "ratio")
      if let theirs { samples.add(theirs / ours, operation.name, "GstVideoConverter / PipSink", unit: "ratio") }
      for (quantity, time) in [
        ("PipSink, µs", ours), ("helped, µs", helped), ("memcpy, µs", memcpy), ("GstVideoConverter, µs", theirs),
      ] {
        if let time { samples.add(time * 1e6, operation.name, quantity, unit: "µs") }
      }
    }
  }
}
