/// Relates a stream's times to the machine's clock, with the meaning of CMTimebase: a time that advances at a rate. Any
/// thread may use it.
public final class Timebase: Sendable {
  private struct State {
    /// The stream's time at `anchor`.
    var time: MediaTime
    var anchor: MonotonicTime
    var rate: Double
    var observers: [Int: @Sendable () -> Void] = [:]
    var nextObserver = 0
  }

  private let state: Locked<State>
  private let clock: SchedulingClock

  /// Makes a timebase.
  ///
  /// - Parameters:
  ///   - time: the stream's time now; it must be numeric.
  ///   - rate: by how many of the stream's seconds the time advances for each second of the clock. With 0 it stands
  ///     still; negative rates count as 0.
  public convenience init(time: MediaTime = .zero, rate: Double = 0) {
    self.init(time: time, rate: rate, clock: .system)
  }

  /// Makes a timebase on a clock that a test can control.
  ///
  /// - Parameter clock: the clock that the layer waits by.
  init(time: MediaTime = .zero, rate: Double = 0, clock: SchedulingClock) {
    self.clock = clock
    state = Locked(State(time: time, anchor: clock.now, rate: max(0, rate)))
  }

  /// The stream's time now. After it is set, it advances from there.
  public var time: MediaTime {
    get { state.withLock { Self.time($0, at: clock.now) } }
    set { change { state, now in (state.time, state.anchor) = (newValue, now) } }
  }

  /// By how many of the stream's seconds the time advances for each second of the clock. With 0 it stands still;
  /// negative rates count as 0.
  public var rate: Double {
    get { state.withLock { $0.rate } }
    set {
      change { state, now in
        (state.time, state.anchor) = (Self.time(state, at: now), now)
        state.rate = max(0, newValue)
      }
    }
  }

  /// When the stream's time will be `time`; nil when it stands still before that.
  func moment(of time: MediaTime) -> MonotonicTime? {
    state.withLock { state in
      let distance = (time - state.time).seconds
      if distance <= 0 || distance.isNaN { return state.anchor }
      guard state.rate > 0 else { return nil }
      // This runs for every frame that waits for its time, so it avoids `Duration`, whose numbers have 128 bits.
      let end = state.anchor.nanoseconds + UInt64(Int(nearest: distance / state.rate * 1e9))
      return MonotonicTime(nanoseconds: min(end, UInt64(Int64.max)))
    }
  }

  /// Calls `observer` after every change, on the thread that makes the change.
  ///
  /// - Returns: a number for ``removeObserver(_:)``.
  func addObserver(_ observer: @escaping @Sendable () -> Void) -> Int {
    state.withLock { state in
      state.nextObserver += 1
      state.observers[state.nextObserver] = observer
      return state.nextObserver
    }
  }

  func removeObserver(_ number: Int) {
    state.withLock { _ = $0.observers.removeValue(forKey: number) }
  }

  private func change(_ body: (inout State, MonotonicTime) -> Void) {
    let observers = state.withLock { state in
      body(&state, clock.now)
      return Array(state.observers.values)
    }
    for observer in observers { observer() }
  }

  private static func time(_ state: State, at now: MonotonicTime) -> MediaTime {
    guard state.rate > 0 else { return state.time }
    return state.time + MediaTime(seconds: Double(now.nanoseconds(since: state.anchor)) / 1e9 * state.rate)
  }
}
