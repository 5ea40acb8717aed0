import ArgumentParser

/// Measures the frames a second and the processor time a frame of pipelines that differ in their sinks.
struct RouteBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "route",
    abstract: "Measures PipSink's frame path (wrap, route, mailbox) beside fakesink and a minimal C program.",
    discussion: """
      The same fakesrc feeds all variants with frames that are not filled. Each variant runs in a new process in every \
      round. A ratio is computed from the numbers of one round, and results are medians of the rounds. With \
      --instructions no time is measured: valgrind counts the instructions of a long and a short run of each variant, \
      and their difference is divided by the difference in frames. These numbers are the same on a busy machine.
      """)

  @OptionGroup var path: FramePathOptions
  @OptionGroup var options: BenchOptions
  @OptionGroup var work: FramePathWork

  @Flag(
    help: """
      Count the instructions a frame instead, with valgrind. There are fewer variants, and --frames is \
      \(Self.countedFrames) by default.
      """)
  var instructions = false

  private static let countedFrames = 20_000

  private var frames: Int { work.frames ?? (instructions ? Self.countedFrames : FramePathWork.usual) }

  func validate() throws {
    guard !instructions || work.streams.values.allSatisfy({ frames >= 10 * $0 }) else {
      throw ValidationError("With --instructions, --frames takes at least ten frames for each stream.")
    }
  }

  func run() async throws {
    try await options.report {
      if instructions {
        return try await InstructionBench(
          path: path, streams: work.streams.values, frames: frames, rounds: options.rounds
        ).measure()
      }
      let run = FramePathRun(path: path, programs: try BenchPrograms())
      let progress = BenchProgress(total: options.rounds * work.streams.values.count * FramePathVariant.ways.count)
      var samples = Samples()
      // The variants take turns, so that a machine that gets slower or faster does so for all of them.
      for _ in 0..<options.rounds {
        for count in work.streams.values { try await measure(count, run, progress, &samples) }
      }
      var result = BenchResult("route", samples, processes: run.processes)
      let name = Self.name(.pipSink, work.streams.values[0])
      result.ratioToC = result.measurement(name, Self.ratioToC)?.median
      result.ratioToFakesink = result.measurement(name, Self.ratioToFakesink)?.median
      return result
    }
  }

  private static let ratioToC = "ratio to C"
  private static let ratioToFakesink = "ratio to fakesink"

  private static func name(_ variant: FramePathVariant, _ streams: Int) -> String {
    "\(FramePathWork.name(streams: streams)): \(variant.title)"
  }

  private func measure(
    _ count: Int, _ run: FramePathRun, _ progress: BenchProgress, _ samples: inout Samples
  ) async throws {
    let total = Double(FramePathOptions.framesOfAStream(streams: count, frames: frames) * count)
    var rates: [FramePathVariant: Double] = [:]
    var times: [FramePathVariant: Double] = [:]
    for variant in FramePathVariant.ways {
      let name = Self.name(variant, count)
      let report = try await progress.run(name) { try run.run(variant, streams: count, frames: frames) }
      rates[variant] = total / report.seconds
      times[variant] = report.cpuSeconds
      let isReference = variant.isReference
      samples.add(total / report.seconds, name, "frames/s", unit: "1/s", isReference: isReference)
      samples.add(
        report.cpuSeconds / total * 1e6, name, "processor time a frame, µs", unit: "µs", isReference: isReference)
    }
    for variant in FramePathVariant.ways {
      for (quantity, numbers, base) in [
        (Self.ratioToC, rates, FramePathVariant.c), (Self.ratioToFakesink, rates, .fakesink),
        ("processor time / C", times, .c),
      ] {
        guard let number = numbers[variant], let other = numbers[base], other > 0 else { continue }
        samples.add(
          number / other, Self.name(variant, count), quantity, unit: "ratio", isReference: variant.isReference)
      }
    }
    // What the element costs in comparison with another video sink and the library's wrapping of frames.
    if let element = times[.element], let sink = times[.videoSink], let wrapping = times[.wrapping],
      let bare = times[.fakesink]
    {
      samples.add(
        element / (sink + wrapping - bare), Self.name(.element, count), "processor time / (fakevideosink and wrapping)",
        unit: "ratio")
    }
  }
}
