import PipSink

/// Changes a number over a short time.
@MainActor
final class Animation {
  static var duration = Duration.milliseconds(150)
  private static let step = Duration.milliseconds(15)
  private var task: Task<Void, Never>?

  isolated deinit { task?.cancel() }

  /// What was under way before stops where it is.
  func run(from first: Double, to last: Double, _ change: @escaping @MainActor (Double) -> Void) {
    task?.cancel()
    let start = ContinuousClock.now
    // By the clock, and not by what is painted: what nobody sees is not painted.
    task = Task {
      var part = 0.0
      while part < 1 {
        guard (try? await Task.sleep(for: Self.step)) != nil else { return }
        part = min(1, (ContinuousClock.now - start) / Self.duration)
        change(first + (last - first) * part)
      }
    }
  }

  func stop() { task?.cancel() }
}
