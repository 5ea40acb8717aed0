import ArgumentParser
import PipSink

@main
struct PipSinkDemo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipsink-demo",
    abstract: "Shows GStreamer video streams in an app surface or in picture-in-picture.",
    version: "pipsink-demo \(PipSink.version), \(PipSink.gstreamerVersion)",
    subcommands: [PlayCommand.self, ProcessorsCommand.self, BenchCommand.self]
  )
}
