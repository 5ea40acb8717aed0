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

/// How much is seen of controls that come with the pointer or a touch, and fade when it rests or leaves.
@MainActor
final class FadingOpacity {
  private(set) var opacity = 0.0
  /// Whether it can be seen, or is about to: on a busy desktop nothing may be drawn yet.
  var isShown: Bool { opacity > 0 || target > 0 }
  var changed: (() -> Void)?
  private var target = 0.0
  private let fading = Animation()
  private var hiding: Task<Void, Never>?
  private static let resting = Duration.seconds(2.5)

  isolated deinit { hiding?.cancel() }

  func show() {
    fade(to: 1)
    hiding?.cancel()
    hiding = Task { [weak self] in
      guard (try? await Task.sleep(for: Self.resting)) != nil else { return }
      self?.fade(to: 0)
    }
  }

  func hide() {
    hiding?.cancel()
    fade(to: 0)
  }

  func hideAtOnce() {
    hiding?.cancel()
    fading.stop()
    (opacity, target) = (0, 0)
  }

  private func fade(to opacity: Double) {
    guard target != opacity else { return }
    target = opacity
    fading.run(from: self.opacity, to: opacity) { [weak self] in
      self?.opacity = $0
      self?.changed?()
    }
  }
}
