import CWindows
import Glibc
import PipSink

/// Asks a compositor when pictures are on the screen (wp_presentation).
final class WaylandPresentation: Sendable {
  private struct State {
    var object: WaylandObject<WPPresentation>?
    /// The clock of the compositor's times; nil until it has said which.
    var clock: clockid_t?
  }

  private let state = Locked(State())

  /// The compositor's global object, which is set once.
  var object: WaylandObject<WPPresentation>? {
    get { state.withLock { $0.object } }
    set { state.withLock { $0.object = newValue } }
  }

  /// Sets the handlers of the global object's events.
  func follow(_ events: WaylandHandlers<WPPresentation>) {
    events.clockID { [weak self] clock in self?.state.withLock { $0.clock = clockid_t(bitPattern: clock) } }
  }

  /// Asks when the picture that is committed next to a surface is on the screen.
  ///
  /// - Parameter answer: called once, on the thread that reads the connection, with the begin of the refresh that has
  ///   shown the picture first, and the time from one refresh to the next in nanoseconds, which is 0 where it is not
  ///   constant. It is called with nil when no refresh has shown the picture.
  /// - Returns: the question, which is given up when it is destroyed; nil when the compositor's clock is not known.
  func ask(
    _ surface: WaylandReference<WLSurface>,
    _ answer: @escaping @Sendable ((shownAt: MonotonicTime, refreshInterval: UInt64)?) -> Void
  ) -> WaylandProxy? {
    let (object, clock) = state.withLock { ($0.object, $0.clock) }
    guard let object, let clock else { return nil }
    return object.feedback(surface) { events in
      events.presented { upperSeconds, lowerSeconds, nanoseconds, refresh, _, _, _ in
        let seconds = UInt64(upperSeconds) << 32 | UInt64(lowerSeconds)
        let time = Self.monotonic(seconds &* 1_000_000_000 &+ UInt64(nanoseconds), of: clock)
        answer(time.map { ($0, UInt64(refresh)) })
      }
      events.discarded { answer(nil) }
    }
  }

  /// A time of one of the system's clocks on the monotonic one. Clocks that count the time since the system's start
  /// differ by what they are adjusted for, which hardly changes between a picture and the answer about it.
  private static func monotonic(_ nanoseconds: UInt64, of clock: clockid_t) -> MonotonicTime? {
    if clock == CLOCK_MONOTONIC { return MonotonicTime(nanoseconds: nanoseconds) }
    var there = timespec()
    guard clock_gettime(clock, &there) == 0 else { return nil }
    let ago = UInt64(there.tv_sec) &* 1_000_000_000 &+ UInt64(there.tv_nsec) &- nanoseconds
    return MonotonicTime(nanoseconds: MonotonicTime.now.nanoseconds &- ago)
  }
}
