import CGTK
import PipSink

/// Tells by the frames of a window whether its compositor shows it: one that does asks for them again and again.
///
/// A video that plays paints by itself. While nothing does, a frame is asked for; where none comes then either, frames
/// count as missing until there is one.
@MainActor
final class FrameWatch {
  private(set) var isFrameMissing = false
  private let isWatching: () -> Bool
  private let ask: () -> Void
  private let changed: () -> Void
  private var missedTicks = 0
  /// What looks again and again: a GLib source, 0 for none, or with a clock of a test's a task.
  private var source: guint = 0
  private var task: Task<Void, Never>?

  /// How often it is looked whether there was a frame, in milliseconds, after how many times without a frame one is
  /// asked for, and after how many more than which frames are missing.
  static let tickMilliseconds = 25
  static let ticksWithoutFrame = 2
  static let patience = 2

  /// - Parameters:
  ///   - isWatching: whether the window is one that frames may be expected of, asked at every tick.
  ///   - ask: asks for a frame.
  ///   - changed: called after ``isFrameMissing`` has changed.
  init(
    clock: SchedulingClock = .system, isWatching: @escaping () -> Bool, ask: @escaping () -> Void,
    changed: @escaping () -> Void
  ) {
    self.isWatching = isWatching
    self.ask = ask
    self.changed = changed
    guard clock.isSystem else {
      task = Task { [weak self] in
        let pause = Duration.milliseconds(Self.tickMilliseconds)
        while (try? await clock.sleep(until: clock.moment(in: pause))) != nil { self?.tick() }
      }
      return
    }
    // GLib's clock, not a task's sleep: that wakes two threads more each time, which costs more than a small picture.
    source = g_timeout_add(
      guint(Self.tickMilliseconds),
      { watch in
        withObject(watch, as: FrameWatch.self) { $0.tick() }
        return sourceContinues
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  isolated deinit {
    task?.cancel()
    if source != 0 { g_source_remove(source) }
  }

  private func tick() {
    guard isWatching() else { return }
    missedTicks += 1
    if missedTicks > Self.patience { set(isFrameMissing: true) }
    if missedTicks >= Self.ticksWithoutFrame { ask() }
  }

  /// There was a frame.
  func didPaint() {
    missedTicks = 0
    set(isFrameMissing: false)
  }

  private func set(isFrameMissing: Bool) {
    guard isFrameMissing != self.isFrameMissing else { return }
    self.isFrameMissing = isFrameMissing
    changed()
  }
}
