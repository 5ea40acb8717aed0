import ArgumentParser
import PipSinkCommandLine

/// Measures how much memory the path of a frame takes, and whether it grows.
struct MemoryBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract:
      "Measures calls of malloc a frame, growth of the resident set, and buffers alive, beside a minimal C program.",
    discussion: """
      Each variant runs in separate processes: one for a tenth of the frames, which fills pools and caches, and one \
      for all frames. The difference between the two is the cost of the other frames.
      """)

  @OptionGroup var path: FramePathOptions
  @OptionGroup var options: BenchOptions

  @Option(help: "The number of streams in one pipeline.")
  var streams = 1

  @Option(help: "The frames of all streams together, for each round and variant.")
  var frames = 1_000_000

  private static let variants: [FramePathVariant] = [.c, .swift, .pipSink, .observer, .processor]

  func validate() throws {
    try OptionRange.streams.check(streams, "--streams")
    try OptionRange.frames.check(frames, "--frames")
    guard frames >= 10 * streams else {
      throw ValidationError("--frames takes at least ten frames for each stream, not \(frames) for \(streams).")
    }
  }

  func run() async throws {
    try await options.report {
      let run = FramePathRun(path: path, programs: try BenchPrograms())
      let progress = BenchProgress(total: options.rounds * Self.variants.count)
      var samples = Samples()
      for _ in 0..<options.rounds {
        for variant in Self.variants {
          try await progress.run(variant.title) { try measure(variant, run, &samples) }
        }
      }
      return BenchResult("memory", samples, processes: run.processes)
    }
  }

  private func measure(_ variant: FramePathVariant, _ run: FramePathRun, _ samples: inout Samples) throws {
    let tenth = try run.run(variant, streams: streams, frames: frames / 10, countsAllocations: true)
    let all = try run.run(variant, streams: streams, frames: frames, countsAllocations: true)
    let more = Double(frames - frames / 10)
    samples.add(
      (Double(all.allocations) - Double(tenth.allocations)) / more, variant.title, "mallocs a frame", unit: "1",
      isReference: variant.isReference)
    samples.add(
      Double(all.residentBytes) / 1024, variant.title, "resident, KiB", unit: "KiB", isReference: variant.isReference)
    samples.add(
      Double(all.residentBytes - tenth.residentBytes) / more, variant.title, "growth a frame, bytes", unit: "bytes",
      isReference: variant.isReference)
    guard variant != .c, variant != .swift else { return }
    let counted = try run.run(variant, streams: streams, frames: frames, countsBuffers: true)
    samples.add(Double(counted.buffersAtMost ?? 0), variant.title, "buffers alive at most", unit: "1")
    samples.add(Double(counted.buffersLeft ?? 0), variant.title, "buffers alive after the end", unit: "1")
  }
}
