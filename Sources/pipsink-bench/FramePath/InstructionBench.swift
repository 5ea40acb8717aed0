/// Measures how many instructions a frame costs in each variant: the instructions of a long run minus those of a short
/// run, so that start and end cancel out.
struct InstructionBench {
  let path: FramePathOptions
  let streams: [Int]
  /// The frames of all streams together in the long run; the short run has a tenth of them.
  let frames: Int
  let rounds: Int

  static let benchmark = "instructions"
  static let cost = "instructions a frame"
  static let ratioToC = "instructions / C"
  static let ratioToLoop = "instructions / C in a loop"
  static let variants: [FramePathVariant] = [.fakesink, .c, .loop, .wrapping, .pipSink, .element]

  static func name(_ variant: FramePathVariant, streams: Int) -> String {
    "\(FramePathWork.name(streams: streams)): \(title(of: variant))"
  }

  private static func title(of variant: FramePathVariant) -> String {
    variant == .element ? "\(variant.title), in gst-launch-1.0" : variant.title
  }

  func measure() async throws -> BenchResult {
    let run = FramePathRun(path: path, programs: try BenchPrograms())
    let counter = try InstructionCounter(processes: run.processes, element: "pipsink")
    let progress = BenchProgress(total: rounds * streams.count * Self.variants.count)
    var samples = Samples()
    for _ in 0..<rounds {
      for count in streams {
        var costs: [FramePathVariant: Double] = [:]
        for variant in Self.variants {
          costs[variant] = try await progress.run(Self.name(variant, streams: count)) {
            try cost(variant, streams: count, run, counter)
          }
        }
        for variant in Self.variants {
          guard let cost = costs[variant], let c = costs[.c], let loop = costs[.loop] else { continue }
          let name = Self.name(variant, streams: count)
          samples.add(cost / c, name, Self.ratioToC, unit: "ratio", isReference: variant.isReference)
          samples.add(cost / loop, name, Self.ratioToLoop, unit: "ratio", isReference: variant.isReference)
          samples.add(cost, name, Self.cost, unit: "1", isReference: variant.isReference)
        }
      }
    }
    return BenchResult(Self.benchmark, samples, processes: run.processes)
  }

  private func cost(
    _ variant: FramePathVariant, streams: Int, _ run: FramePathRun, _ counter: InstructionCounter
  ) throws -> Double {
    let ofAStream = [frames / 10, frames].map { FramePathOptions.framesOfAStream(streams: streams, frames: $0) }
    return try counter.cost(
      Self.title(of: variant), frames: (short: ofAStream[0] * streams, long: ofAStream[1] * streams)
    ) { frames in
      switch variant {
      case .fakesink, .element: launch(variant, streams: streams, frames: frames)
      default: run.command(variant, streams: streams, frames: frames)
      }
    }
  }

  /// A variant in gst-launch-1.0, in which at most the sink is PipSink's.
  private func launch(
    _ variant: FramePathVariant, streams: Int, frames: Int
  ) -> (program: String, arguments: [String]) {
    let pipeline = path.pipeline(streams: streams, frames: frames, sink: variant.sink)
    return ("gst-launch-1.0", ["-q"] + pipeline.split(separator: " ").map(String.init))
  }
}
