import ArgumentParser
import PipSink
import PipSinkCommandLine

struct PipSinkBench: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipsink-bench",
    abstract: "Measures PipSink and its alternatives in one run, so that the numbers compare.",
    version: "pipsink-bench \(PipSink.version), \(PipSink.gstreamerVersion)",
    subcommands: [
      RouteBenchCommand.self, PresentBenchCommand.self, SwitchBenchCommand.self, ScaleBenchCommand.self,
      MemoryBenchCommand.self, KernelsBenchCommand.self, TableCommand.self,
      VariantCommand.self,
    ],
    defaultSubcommand: RouteBenchCommand.self)
}

@main
enum Program {
  @MainActor
  static func main() { CommandLineProgram.run(PipSinkBench.self) }
}
