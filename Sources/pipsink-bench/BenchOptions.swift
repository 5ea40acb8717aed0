import ArgumentParser
import Glibc
import PipSink
import PipSinkCommandLine

/// The options of all benchmarks, and what a benchmark does with its result.
struct BenchOptions: ParsableArguments {
  @Option(
    name: .customLong("rounds"),
    help: ArgumentHelp(
      "The number of rounds. Every variant is measured once in each, and results are medians of the rounds. The "
        + "default is 5, or 10 to compare.", valueName: "rounds"))
  var wantedRounds: Int?

  var rounds: Int { wantedRounds ?? (compare == nil && against == nil ? 5 : 10) }

  @Option(help: ArgumentHelp("Write the result to this file as JSON; - is standard output.", valueName: "FILE"))
  var json: String?

  @Option(
    help: ArgumentHelp("Write the numbers of all rounds to this file as CSV; - is standard output.", valueName: "FILE"))
  var csv: String?

  @Option(
    help: ArgumentHelp(
      "Print which numbers differ by more than the noise from an earlier result of --json.", valueName: "OLD.json"))
  var compare: String?

  @Option(
    help: ArgumentHelp(
      "Measure another pipsink-bench in turn, and print which of this one's numbers differ from it by more than the noise.",
      valueName: "OTHER"))
  var against: String?

  /// The flag with which ``OwnProcesses`` starts a benchmark that measures in this process and starts no others.
  @Flag(name: .customLong("alone"), help: ArgumentHelp("Measure one part once, in this process.", visibility: .hidden))
  var isAlone = false

  func validate() throws {
    try OptionRange.rounds.check(rounds, "--rounds")
    guard compare == nil || against == nil else {
      throw ValidationError("--compare and --against are two ways to compare; give one of them.")
    }
    guard !isAlone || rounds == 1 else { throw ValidationError("--alone is for one round: --rounds 1.") }
  }

  /// The one part that this process measures.
  ///
  /// - Throws: ``CommandError`` when there are several parts: all but the first would be measured in a process that the
  ///   part before has already used.
  func alone<Part>(_ parts: [Part]) throws -> Part {
    guard parts.count == 1, let part = parts.first else {
      throw CommandError(.usage, "--alone measures one part, but the options choose \(parts.count).")
    }
    return part
  }

  /// Measures, and prints, writes and compares the result as the options say.
  func report(_ measure: () async throws -> BenchResult) async throws {
    let signals = SignalSources {
      ChildProcess.endAll()
      // This is the exit status that shells report for a program that Ctrl-C has ended.
      _exit(128 + SIGINT)
    }
    defer { signals.cancel() }
    try SystemLimits.checkForPipelines()
    // The old result is read first, so that an error in it shows before hours of measuring.
    let earlier = try compare.map { try BenchResult(contentsOf: $0) }
    let (result, old) =
      if let against { try await measureInTurn(with: against) } else { (try await measure(), earlier) }
    var lines: [String] = []
    if json != "-", csv != "-" {
      lines.append(BenchTable(result: result).text)
      if let old { lines.append(BenchComparison(old: old, new: result).text) }
    }
    // The files are written first, so that an error of the terminal does not prevent them.
    if let json { try Self.write(try result.json, to: json) }
    if let csv { try Self.write(result.csv.utf8, to: csv) }
    if !lines.isEmpty { try StandardStream.output.print(lines.joined(separator: "\n")) }
  }

  /// Measures one round with each program in turn. The one that begins changes from round to round, so that a machine
  /// that gets slower or faster does so for both.
  private func measureInTurn(with other: String) async throws -> (BenchResult, BenchResult?) {
    let (programs, processes) = ([ThisProgram.path, other], OwnProcesses())
    let arguments = BenchResult.argumentsThatMeasure + ["--rounds", "1", "--json", "-"]
    let progress = BenchProgress(total: programs.count * rounds)
    var samples = [Samples(), Samples()]
    var results: [BenchResult?] = [nil, nil]
    for round in 0..<rounds {
      for index in round.isMultiple(of: 2) ? [0, 1] : [1, 0] {
        let result: BenchResult = try await progress.run(programs[index]) {
          try processes.report(of: programs[index], programs[index], arguments)
        }
        samples[index].add(result)
        results[index] = result
        results[index]?.measurements = samples[index].measurements
      }
    }
    guard var new = results[0], let old = results[1] else { throw CommandError(.failed, "nothing was measured") }
    new.command = BenchResult.command
    new.processes = processes.identifiers
    return (new, old)
  }

  private static func write(_ bytes: some Sequence<UInt8>, to path: String) throws(CommandError) {
    if path == "-" { return try StandardStream.output.deliver(bytes, as: "the result") }
    do throws(OutputFileError) {
      try OutputFile.write(bytes, to: path)
    } catch {
      throw CommandError(.failed, "the file \"\(path)\" cannot be written: \(error)")
    }
  }
}

extension OptionRange where Number == Double {
  /// The duration of a measurement.
  static let measurement = OptionRange(range: 0.001...86_400, unit: "seconds")
}

extension OptionRange where Number == Int {
  static let rounds = OptionRange(range: 1...10_000, unit: "rounds")
  static let frames = OptionRange(range: 1...1_000_000_000, unit: "frames")
  static let streams = OptionRange(range: 1...1000, unit: "streams")
  static let rate = OptionRange(range: 1...1000, unit: "frames a second")
  // The router remembers the last thousand surface changes.
  static let switches = OptionRange(range: 1...500, unit: "switches")
}
