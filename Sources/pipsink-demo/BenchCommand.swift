import ArgumentParser

struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measures PipSink beside the alternatives, both sides in one run.",
    subcommands: [FramesBenchCommand.self, KernelsBenchCommand.self],
    defaultSubcommand: FramesBenchCommand.self)
}
