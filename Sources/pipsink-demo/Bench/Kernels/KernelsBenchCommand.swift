import ArgumentParser

/// Measures the time of each operation on pixels, beside that of memcpy of the same bytes and of GstVideoConverter.
struct KernelsBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels",
    abstract: "Measures every operation on pixels beside memcpy of the frame's bytes and beside GstVideoConverter.",
    discussion: """
      Each side works on eight frames in turn, which are more than the processor's cache holds. Times are those of one \
      thread, and "helped" is PipSink with its helper threads. Each operation runs in a new process in every round.
      """)

  @OptionGroup var options: BenchOptions

  @Option(help: "The frames for each side and round.")
  var frames = 40

  @Option(
    help: ArgumentHelp(
      "Measure only this operation, named as in results. Repeatable; all by default.", valueName: "NAME"))
  var operation: [String] = []

  func validate() throws {
    try OptionRange.frames.check(frames, "--frames")
    for name in operation where !KernelOperation.all.contains(where: { $0.name == name }) {
      throw ValidationError(
        "There is no operation \"\(name)\". The operations are: "
          + "\(KernelOperation.all.map(\.name).joined(separator: "; ")).")
    }
  }

  func run() async throws {
    try await options.report {
      let operations = KernelOperation.all.filter { operation.isEmpty || operation.contains($0.name) }
      if options.isAlone { return try measure(options.alone(operations)) }
      let processes = OwnProcesses()
      var samples = Samples()
      let parts = operations.map {
        BenchPart(name: $0.name, arguments: ["--operation", $0.name, "--frames", "\(frames)"])
      }
      try await processes.measure(parts, of: "kernels", rounds: options.rounds) { samples.add($0) }
      return BenchResult("kernels", samples, processes: processes)
    }
  }

  private func measure(_ operation: KernelOperation) throws -> BenchResult {
    let bench = try KernelBench(operation)
    var samples = Samples()
    let ours = try bench.pipSink(frames: frames, helped: false)
    let helped = operation.kind == .push ? nil : try bench.pipSink(frames: frames, helped: true)
    let memcpy = bench.frames.memcpy(frames: frames)
    let theirs = operation.hasReference ? try bench.reference(frames: frames) : nil
    samples.add(ours / memcpy, operation.name, "PipSink / memcpy", unit: "ratio")
    if let theirs { samples.add(theirs / ours, operation.name, "GstVideoConverter / PipSink", unit: "ratio") }
    for (quantity, time, isReference) in [
      ("PipSink, µs", ours, false), ("helped, µs", helped, false), ("memcpy, µs", memcpy, true),
      ("GstVideoConverter, µs", theirs, true),
    ] {
      if let time { samples.add(time * 1e6, operation.name, quantity, unit: "µs", isReference: isReference) }
    }
    return BenchResult("kernels", samples)
  }
}
