import ArgumentParser

struct BenchCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "bench",
    abstract: "Measures PipSink beside the alternatives, all in one run.",
    subcommands: [
      RouteBenchCommand.self, PresentBenchCommand.self, SwitchBenchCommand.self, ScaleBenchCommand.self,
      MemoryBenchCommand.self, StatisticsBenchCommand.self, KernelsBenchCommand.self, TableCommand.self,
      VariantCommand.self,
    ],
    defaultSubcommand: RouteBenchCommand.self)
}
