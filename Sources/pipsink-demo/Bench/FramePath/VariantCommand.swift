import ArgumentParser
import GstPipSink

/// One run of one variant of `route` and `memory`, in a process of its own: they start it, and a profiler may.
struct VariantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "variant", abstract: "Runs one variant of route once, for the other benchmarks and for profilers.",
    shouldDisplay: false)

  @Argument(help: "Which.")
  var variant: FramePathVariant

  @OptionGroup var path: FramePathOptions

  @Option(help: "Streams of one pipeline.")
  var streams = 1

  @Option(help: "Frames of all streams together.")
  var frames = 200_000

  @Flag(help: "Count the buffers that are alive, which takes time.")
  var countBuffers = false

  func validate() throws {
    try OptionRange.streams.check(streams, "--streams")
    try OptionRange.frames.check(frames, "--frames")
    guard !variant.isInC else { throw ValidationError("The C program is one of its own: Benchmarks/c-appsink.") }
  }

  func run() async throws {
    try PipSinkPlugin.register()
    let description = path.pipeline(streams: streams, frames: frames, sink: variant.sink)
    let report =
      switch variant {
      case .fakesink, .c, .loop, .swift, .videoSink, .element:
        try AppsinkRun.run(description, hasAppsinks: variant == .swift)
      case .wrapping, .pipSink, .timesInTurn, .observer, .processor:
        try await EngineRun.run(description, variant: variant, countsBuffers: countBuffers)
      }
    try StandardStream.output.deliver(try JSONText.encode(report), as: "the result")
  }
}
