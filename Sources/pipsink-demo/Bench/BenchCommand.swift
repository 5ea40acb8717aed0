import ArgumentParser
import Glibc
import PipSink

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

/// What all benchmarks take, and what they do with their result.
struct BenchOptions: ParsableArguments {
  @Option(help: "Rounds, in each of which every variant has its turn; medians count.")
  var rounds = 5

  @Option(help: ArgumentHelp("Write the result as JSON; - is standard output.", valueName: "FILE"))
  var json: String?

  @Option(help: ArgumentHelp("Write every round's numbers as CSV; - is standard output.", valueName: "FILE"))
  var csv: String?

  @Option(help: ArgumentHelp("Draw the result as SVG.", valueName: "FILE"))
  var plot: String?

  @Option(
    help: ArgumentHelp("Print what has changed beyond the noise since a result of --json.", valueName: "OLD.json"))
  var compare: String?

  /// How ``OwnProcesses`` starts a benchmark that measures here rather than in processes of its own.
  @Flag(name: .customLong("alone"), help: ArgumentHelp("Measure one part once, in this process.", visibility: .hidden))
  var isAlone = false

  func validate() throws {
    try OptionRange.rounds.check(rounds, "--rounds")
    guard !isAlone || rounds == 1 else { throw ValidationError("--alone is for one round: --rounds 1.") }
  }

  /// The part that a process of its own measures.
  ///
  /// - Throws: ``DemoError`` when there are several, of which all but the first would find what the one before has left.
  func alone<Part>(_ parts: [Part]) throws -> Part {
    guard parts.count == 1, let part = parts.first else {
      throw DemoError(.usage, "--alone measures one part, and the options choose \(parts.count).")
    }
    return part
  }

  /// Measures, and does with the result what was asked for.
  func report(_ measure: () async throws -> BenchResult) async throws {
    let signals = SignalSources {
      ChildProcess.endAll()
      // As a shell says of a program that Ctrl-C has ended.
      _exit(128 + SIGINT)
    }
    defer { signals.cancel() }
    try SystemLimits.checkForPipelines()
    // Before hours are spent on measuring.
    let old = try compare.map { try BenchResult(contentsOf: $0) }
    let result = try await measure()
    var lines: [String] = []
    if json != "-", csv != "-" {
      lines.append(BenchTable(result: result).text)
      if let old { lines.append(BenchComparison(old: old, new: result).text) }
    }
    // The files first: what becomes of the terminal is all the same to them.
    if let json { try Self.write(try result.json, to: json) }
    if let csv { try Self.write(result.csv.utf8, to: csv) }
    if let plot { try Self.write(BenchPlot(result: result).svg.utf8, to: plot) }
    if !lines.isEmpty { try StandardStream.output.print(lines.joined(separator: "\n")) }
  }

  private static func write(_ bytes: some Sequence<UInt8>, to path: String) throws(DemoError) {
    if path == "-" { return try StandardStream.output.deliver(bytes, as: "the result") }
    do throws(OutputFileError) {
      try OutputFile.write(bytes, to: path)
    } catch {
      throw DemoError(.failed, "the file \"\(path)\" cannot be written: \(error)")
    }
  }
}
