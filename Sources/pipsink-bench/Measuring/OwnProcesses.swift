import PipSinkCommandLine

/// A part of a benchmark that one process measures: a size, an operation or a round.
struct BenchPart {
  /// The name in the progress line and in errors.
  let name: String
  /// The options that choose only this part.
  let arguments: [String]
}

/// The processes in which a benchmark measures: a new one for every part in every round. So no part meets what another
/// has left behind (threads that are still ending, a fragmented heap, memory in the caches), and each has warmed itself
/// up before it measures.
///
/// Only one task uses it.
final class OwnProcesses {
  /// The process IDs, in the order in which the processes were started.
  private(set) var identifiers: [Int32] = []

  /// Starts a process, and does not wait for it.
  ///
  /// - Throws: ``CommandError`` when it cannot be started.
  func start(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], readsOutput: Bool = false
  ) throws -> ChildProcess {
    let process = try ChildProcess(program, arguments, environment: environment, readsOutput: readsOutput)
    identifiers.append(process.processIdentifier)
    return process
  }

  /// Runs a process to its end.
  ///
  /// - Parameter name: what the process measures, for the error.
  /// - Returns: what the process has printed, decoded from JSON.
  /// - Throws: ``CommandError`` when it cannot be started, fails or prints something else.
  func report<Report: Decodable>(
    of name: String, _ program: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Report {
    let process = try start(program, arguments, environment: environment, readsOutput: true)
    let (output, status) = process.finish()
    guard status == 0, let report: Report = try? JSONText.decode(output) else {
      throw CommandError(ExitStatus(rawValue: status) ?? .failed, "\"\(name)\" failed: \(process.errors)")
    }
    return report
  }

  /// Runs a benchmark of this program on each part in every round, in processes with ``BenchOptions/isAlone``.
  ///
  /// - Parameter benchmark: the name of the subcommand.
  /// - Parameter take: called with the result of every process.
  func measure(
    _ parts: [BenchPart], of benchmark: String, rounds: Int, _ take: (BenchResult) -> Void
  ) async throws {
    let progress = BenchProgress(total: rounds * parts.count)
    // The parts take turns, so that a machine that gets slower or faster does so for all of them.
    for _ in 0..<rounds {
      for part in parts {
        let arguments = [benchmark] + part.arguments + ["--alone", "--rounds", "1", "--json", "-"]
        take(try await progress.run(part.name) { try report(of: part.name, ThisProgram.path, arguments) })
      }
    }
  }
}
