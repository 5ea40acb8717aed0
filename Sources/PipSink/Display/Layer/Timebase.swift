/// Relates a stream's times to the machine's clock, with CMTimebase's meaning: a time that goes on at a rate. May be
/// used from every thread.
public final class Timebase: Sendable {
  private struct State {
    /// The time at `anchor`.
    var time: MediaTime
    var anchor: MonotonicTime
    var rate: Double
    var observers: [Int: @Sendable () -> Void] = [:]
    var nextObserver = 0
  }

  private let state: Locked<State>
  private let clock: SchedulingClock

  /// - Parameters:
  ///   - time: now; numeric.
  ///   - rate: seconds of the stream in a second of the clock; 0 stands still, negative rates are taken for 0.
  public convenience init(time: MediaTime = .zero, rate: Double = 0) {
    self.init(time: time, rate: rate, clock: .system)
  }

  /// - Parameter clock: the one that the layer waits by.
  init(time: MediaTime = .zero, rate: Double = 0, clock: SchedulingClock) {
    self.clock = clock
    state = Locked(State(time: time, anchor: clock.now, rate: max(0, rate)))
  }

  /// The time now. Setting it goes on from there.
  public var time: MediaTime {
    get { state.withLock { Self.time($0, at: clock.now) } }
    set { change { state, now in (state.time, state.anchor) = (newValue, now) } }
  }

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
      // For every frame that waits for its time: without a `Duration`, whose numbers have 128 bits.
      let end = state.anchor.nanoseconds + UInt64(Int(nearest: distance / state.rate * 1e9))
      return MonotonicTime(nanoseconds: min(end, UInt64(Int64.max)))
    }
  }

  /// Calls `observer` after every change, on the thread that makes it.
  ///
  /// - Returns: what ``removeObserver(_:)`` takes.
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
