import ArgumentParser
import PipSinkCommandLine

/// Measures the time of each operation on pixels, beside that of memcpy of the same bytes and of GstVideoConverter.
struct KernelsBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "kernels",
    abstract: "Measures every operation on pixels beside memcpy of the frame's bytes and beside GstVideoConverter.",
    discussion: """
      Each side works on eight frames in turn, which are more than the processor's cache holds. Times are those of one \
      thread, and "helped" is PipSink with its helper threads. Each operation runs in a new process in every round. With \
      --instructions no time is measured: valgrind counts the instructions of PipSink on one thread, and one process \
      carries out all operations in a round. These numbers are the same on a busy machine.
      """)

  @OptionGroup var options: BenchOptions

  @Flag(help: "Count the instructions a frame instead, with valgrind.")
  var instructions = false

  @Option(
    name: .customLong("frames"),
    help: """
      The frames for each side and round, \(Self.measuredFrames) by default, or \(Self.countedFrames) with --instructions.
      """)
  var wantedFrames: Int?

  private static let measuredFrames = 40
  private static let countedFrames = 4

  private var frames: Int { wantedFrames ?? (instructions ? Self.countedFrames : Self.measuredFrames) }

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
      if instructions { return try await options.isAlone ? work(operations) : count(operations) }
      if options.isAlone { return try await measure(options.alone(operations)) }
      let processes = OwnProcesses()
      var samples = Samples()
      let parts = operations.map {
        BenchPart(name: $0.name, arguments: ["--operation", $0.name, "--frames", "\(frames)"])
      }
      try await processes.measure(parts, of: "kernels", rounds: options.rounds) { samples.add($0) }
      return BenchResult("kernels", samples, processes: processes)
    }
  }

  /// The name of the benchmark that counts instructions.
  static let counted = "kernels --instructions"
  static let cost = "instructions a frame"

  /// Counts the instructions of a process for each round, which does the ``work(_:)``.
  private func count(_ operations: [KernelOperation]) async throws -> BenchResult {
    let processes = OwnProcesses()
    let counter = try InstructionCounter(processes: processes, element: "videotestsrc")
    let progress = BenchProgress(total: options.rounds)
    let arguments =
      ["kernels", "--instructions", "--alone", "--rounds", "1", "--frames", "\(frames)"]
      + operations.flatMap { ["--operation", $0.name] }
    var samples = Samples()
    for _ in 0..<options.rounds {
      let parts = try await progress.run("all operations") {
        try counter.countBetweenMarks("the operations", ThisProgram.path, arguments)
      }
      // Each operation has one mark before it and one after it.
      guard parts.count == 2 * operations.count - 1 else {
        throw CommandError(.failed, "valgrind has counted \(parts.count) parts of \(operations.count) operations")
      }
      for (index, operation) in operations.enumerated() {
        samples.add(Double(parts[2 * index]) / Double(frames), operation.name, Self.cost, unit: "1")
      }
    }
    return BenchResult(Self.counted, samples, processes: processes)
  }

  /// Carries the operations out with PipSink on one thread, each between two marks.
  private func work(_ operations: [KernelOperation]) async throws -> BenchResult {
    for operation in operations {
      let source = try await BenchFrames(
        operation.format, operation.size, colorimetry: operation.colorimetry, count: 1)
      let work = KernelBench(operation, frames: source).pipSink(helped: false)
      // In the second frame the pool needs memory once more, because the first one is still there.
      for index in 0..<2 { try work(index) }
      InstructionCounter.mark()
      for index in 0..<frames { try work(index) }
      InstructionCounter.mark()
    }
    return BenchResult(Self.counted, Samples())
  }

  private func measure(_ operation: KernelOperation) async throws -> BenchResult {
    var samples = Samples()
    let frames = try await BenchFrames(operation.format, operation.size, colorimetry: operation.colorimetry)
    let bench = KernelBench(operation, frames: frames)
    let hasHelp = operation.kind != .push
    var sides: [(Int) throws -> Void] = [bench.frames.copy, bench.pipSink(helped: false)]
    if hasHelp { sides.append(bench.pipSink(helped: true)) }
    if operation.hasReference { sides.append(try bench.gstVideoConverter()) }
    let times = try BenchFrames.inTurn(self.frames, sides)
    let (memcpy, ours, helped) = (times[0], times[1], hasHelp ? times[2] : nil)
    let theirs = operation.hasReference ? times.last : nil
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
