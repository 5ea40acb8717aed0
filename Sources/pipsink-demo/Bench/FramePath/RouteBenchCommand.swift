import ArgumentParser

/// Frames a second, and processor time a frame, of pipelines that differ in what they end in.
struct RouteBenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "route",
    abstract: "Measures PipSink's way of a frame (wrap, route, mailbox) beside fakesink and a minimal C program.",
    discussion: """
      The same fakesrc feeds them all, with frames that nobody fills. Each variant runs in a process of its own, in turn in \
      every round. Ratios are those of one round's numbers; medians of the rounds count. With --instructions no time is measured: \
      valgrind counts the instructions of two runs of each variant, and what the longer one has more is divided by the frames that it \
      has more. These numbers are the same on a busy machine.
      """)

  @OptionGroup var path: FramePathOptions
  @OptionGroup var options: BenchOptions
  @OptionGroup var work: FramePathWork

  @Flag(
    help:
      "Count instructions a frame instead, with valgrind; \(Self.countedFrames) frames by default, and fewer variants.")
  var instructions = false

  private static let countedFrames = 20_000

  private var frames: Int { work.frames ?? (instructions ? Self.countedFrames : FramePathWork.usual) }

  func validate() throws {
    guard !instructions || work.streams.counts.allSatisfy({ frames >= 10 * $0 }) else {
      throw ValidationError("With --instructions, --frames takes at least ten for each stream.")
    }
  }

  func run() async throws {
    try await options.report {
      if instructions {
        return try await InstructionBench(
          path: path, streams: work.streams.counts, frames: frames, rounds: options.rounds
        ).measure()
      }
      let run = FramePathRun(path: path, programs: try BenchPrograms())
      let progress = BenchProgress(total: options.rounds * work.streams.counts.count * FramePathVariant.ways.count)
      var samples = Samples()
      // In turn, so that a machine that gets slower or faster does so for all.
      for _ in 0..<options.rounds {
        for count in work.streams.counts { try await measure(count, run, progress, &samples) }
      }
      var result = BenchResult("route", samples, processes: run.processes)
      let name = Self.name(.pipSink, work.streams.counts[0])
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
      samples.add(total / report.seconds, name, "frames/s", unit: "1/s")
      samples.add(report.cpuSeconds / total * 1e6, name, "processor time a frame, µs", unit: "µs")
    }
    for variant in FramePathVariant.ways {
      for (quantity, numbers, base) in [
        (Self.ratioToC, rates, FramePathVariant.c), (Self.ratioToFakesink, rates, .fakesink),
        ("processor time / C", times, .c),
      ] {
        guard let number = numbers[variant], let other = numbers[base], other > 0 else { continue }
        samples.add(number / other, Self.name(variant, count), quantity, unit: "ratio")
      }
    }
    // What the element costs, beside another video sink with the library's wrapping.
    if let element = times[.element], let sink = times[.videoSink], let wrapping = times[.wrapping],
      let bare = times[.fakesink]
    {
      samples.add(
        element / (sink + wrapping - bare), Self.name(.element, count), "processor time / (fakevideosink and wrapping)",
        unit: "ratio")
    }
  }
}
