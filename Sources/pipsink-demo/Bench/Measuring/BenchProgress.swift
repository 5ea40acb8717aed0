import PipSink

/// Shows the progress of a benchmark on a terminal: one line with a bar and the remaining time.
///
/// A bar of characters needs no library.
final class BenchProgress {
  private let terminal = TerminalLine()
  private let total: Int
  private var done = 0
  private let start = MonotonicTime.now

  private static let width = 24

  /// - Parameter total: the number of calls of ``run(_:_:)``.
  init(total: Int) {
    self.total = max(total, 1)
  }

  deinit {
    terminal.clear()
  }

  /// Runs one step, and shows its name meanwhile.
  func run<Result>(_ name: String, _ step: () async throws -> Result) async rethrows -> Result {
    let filled = min(done, total) * Self.width / total
    let bar = String(repeating: "#", count: filled) + String(repeating: ".", count: Self.width - filled)
    terminal.show("[\(bar)] \(done) of \(total)\(remaining)  \(name)")
    defer { done += 1 }
    return try await step()
  }

  private var remaining: String {
    guard done > 0 else { return "" }
    let elapsed = start.duration(to: .now) / .seconds(1)
    return ", \((elapsed / Double(done) * Double(total - done)).text(places: 0)) s left"
  }
}
