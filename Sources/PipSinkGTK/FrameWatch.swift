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
  private var ticker: Ticker?
  private var missedTicks = 0

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
    ticker = Ticker(milliseconds: Self.tickMilliseconds, clock: clock) { [weak self] in self?.tick() }
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

/// Calls something on the main actor again and again, until it goes away.
@MainActor
final class Ticker {
  private let body: () -> Void
  /// A GLib source; 0 for none.
  private var source: guint = 0
  private var task: Task<Void, Never>?

  init(milliseconds: Int, clock: SchedulingClock = .system, _ body: @escaping () -> Void) {
    self.body = body
    guard clock.isSystem else {
      task = Task { [weak self] in
        while (try? await clock.sleep(until: clock.moment(in: Double(milliseconds) / 1000))) != nil { self?.body() }
      }
      return
    }
    // GLib's clock, not a task's sleep: that wakes two threads more each time, which costs more than a small picture.
    source = g_timeout_add(
      guint(milliseconds),
      { ticker in
        let address = UInt(bitPattern: ticker)
        MainActor.assumeIsolated {
          object(UnsafeMutableRawPointer(bitPattern: address), as: Ticker.self)?.body()
        }
        return sourceContinues
      }, Unmanaged.passUnretained(self).toOpaque())
  }

  isolated deinit {
    task?.cancel()
    if source != 0 { g_source_remove(source) }
  }
}
