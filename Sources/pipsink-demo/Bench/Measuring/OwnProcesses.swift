/// A part of a benchmark: a size, an operation, a round.
struct BenchPart {
  /// In the progress and in errors.
  let name: String
  /// The command's options that choose this part and nothing else.
  let arguments: [String]
}

/// The processes that a benchmark measures in: a new one for every part in every round. A part finds nothing that
/// another has left behind (threads that still end, a heap that is full of holes, memory in the caches), and each pays for
/// its own start, before it measures.
///
/// One task has it.
final class OwnProcesses {
  /// The process IDs, in the order of the starts.
  private(set) var identifiers: [Int32] = []

  /// Starts one, and does not wait for it.
  ///
  /// - Throws: ``DemoError`` when it cannot be started.
  func start(
    _ program: String, _ arguments: [String], environment: [String: String] = [:], readsOutput: Bool = false
  ) throws -> ChildProcess {
    let process = try ChildProcess(program, arguments, environment: environment, readsOutput: readsOutput)
    identifiers.append(process.processIdentifier)
    return process
  }

  /// Runs one to its end.
  ///
  /// - Parameter name: what it measures, for the error.
  /// - Returns: what it printed, decoded from JSON.
  /// - Throws: ``DemoError`` when it cannot be started, fails or prints something else.
  func report<Report: Decodable>(
    of name: String, _ program: String, _ arguments: [String], environment: [String: String] = [:]
  ) throws -> Report {
    let process = try start(program, arguments, environment: environment, readsOutput: true)
    let (output, status) = process.finish()
    guard status == 0, let report: Report = try? JSONText.decode(output) else {
      throw DemoError(ExitStatus(rawValue: status) ?? .failed, "\"\(name)\" failed: \(process.errors)")
    }
    return report
  }

  /// Runs this program's benchmark on each part in every round, by ``BenchOptions/isAlone``.
  ///
  /// - Parameter benchmark: the subcommand.
  /// - Parameter take: gets what every process has found.
  func measure(
    _ parts: [BenchPart], of benchmark: String, rounds: Int, _ take: (BenchResult) -> Void
  ) async throws {
    let progress = BenchProgress(total: rounds * parts.count)
    // In turn, so that a machine that gets slower or faster does so for all.
    for _ in 0..<rounds {
      for part in parts {
        let arguments = ["bench", benchmark] + part.arguments + ["--alone", "--rounds", "1", "--json", "-"]
        take(try await progress.run(part.name) { try report(of: part.name, ChildProcess.demo, arguments) })
      }
    }
  }
}
