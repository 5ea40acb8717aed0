import ArgumentParser
import GstPipSink
import PipSinkCommandLine

/// Runs one variant of `route` or `memory` once. These benchmarks start it in a new process, and so may a profiler.
struct VariantCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "variant", abstract: "Runs one variant of route once, for other benchmarks and for profilers.",
    shouldDisplay: false)

  @Argument(help: "The variant to run.")
  var variant: FramePathVariant

  @OptionGroup var path: FramePathOptions

  @Option(help: "The number of streams in one pipeline.")
  var streams = 1

  @Option(help: "The frames of all streams together.")
  var frames = 200_000

  @Flag(help: "Count the buffers that are alive, which slows the run down.")
  var countBuffers = false

  func validate() throws {
    try OptionRange.streams.check(streams, "--streams")
    try OptionRange.frames.check(frames, "--frames")
    guard !variant.isInC else { throw ValidationError("The C program is a separate program: Benchmarks/c-appsink.") }
  }

  func run() async throws {
    try PipSinkPlugin.register()
    let description = path.pipeline(streams: streams, frames: frames, sink: variant.sink)
    let report =
      switch variant {
      case .fakesink, .c, .loop, .swift, .videoSink, .element:
        try AppsinkRun.run(description, hasAppsinks: variant == .swift)
      case .wrapping, .pipSink, .observer, .processor:
        try await EngineRun.run(description, variant: variant, countsBuffers: countBuffers)
      }
    try StandardStream.output.deliver(try JSONText.encode(report), as: "the result")
  }
}
