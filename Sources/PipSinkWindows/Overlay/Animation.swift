import PipSink

/// Changes a number in small steps over a short time.
@MainActor
final class Animation {
  static var duration = Duration.milliseconds(150)
  private static let step = Duration.milliseconds(15)
  private var task: Task<Void, Never>?

  isolated deinit { task?.cancel() }

  /// Starts an animation from `first` to `last`. One that is still running stops where it is.
  ///
  /// - Parameter change: called with each new value, the last of which is `last`.
  func run(from first: Double, to last: Double, _ change: @escaping @MainActor (Double) -> Void) {
    task?.cancel()
    let start = ContinuousClock.now
    // It follows the clock and not the window's painting, because a window that is not visible is not painted.
    task = Task {
      var part = 0.0
      while part < 1 {
        // A sleep that had ended before the task was cancelled ends without an error.
        guard (try? await Task.sleep(for: Self.step)) != nil, !Task.isCancelled else { return }
        part = min(1, (ContinuousClock.now - start) / Self.duration)
        change(first + (last - first) * part)
      }
    }
  }

  func stop() { task?.cancel() }
}

/// The opacity of controls that fade in with the pointer or a touch, and fade out when the pointer rests or leaves.
@MainActor
final class FadingOpacity {
  private(set) var opacity = 0.0
  /// Whether the controls are visible or about to be. On a busy desktop the first step of the animation may be late.
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
      guard (try? await Task.sleep(for: Self.resting)) != nil, !Task.isCancelled else { return }
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
