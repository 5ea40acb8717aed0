import PipSink
import PipSinkCommandLine

/// Shows the progress of a benchmark on a terminal: one line with the number of steps and the remaining time.
final class BenchProgress {
  private let terminal = TerminalLine()
  private let total: Int
  private var done = 0
  private let start = MonotonicTime.now

  /// - Parameter total: the number of calls of ``run(_:_:)``.
  init(total: Int) {
    self.total = total
  }

  deinit {
    terminal.clear()
  }

  /// Runs one step, and shows its name meanwhile.
  func run<Result>(_ name: String, _ step: () async throws -> Result) async rethrows -> Result {
    terminal.show("\(done) of \(total)\(remaining)  \(name)")
    defer { done += 1 }
    return try await step()
  }

  private var remaining: String {
    guard done > 0 else { return "" }
    let elapsed = start.duration(to: .now) / .seconds(1)
    return ", \((elapsed / Double(done) * Double(total - done)).text(places: 0)) s left"
  }
}
