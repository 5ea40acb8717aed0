import PipSink

/// How far a benchmark is: one line with a bar and the time that is left, on a terminal only.
///
/// A bar of characters is all there is to it; no library is needed for that.
final class BenchProgress {
  private let terminal = TerminalLine()
  private let total: Int
  private var done = 0
  private let start = MonotonicTime.now

  private static let width = 24

  /// - Parameter total: how often ``run(_:_:)`` will be called.
  init(total: Int) {
    self.total = max(total, 1)
  }

  deinit {
    terminal.clear()
  }

  /// Does one of the steps, and says which.
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
