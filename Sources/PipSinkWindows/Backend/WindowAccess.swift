import PipSink

/// Guards the use of a window that belongs to another toolkit or program, and lets the owner wait until nobody uses it.
///
/// Every request about the window is made within ``use(_:)``, and its answer is awaited before that call ends. After
/// that, no request can still reach the window.
package final class WindowAccess: Sendable {
  private struct State {
    var isRevoked = false
    var userCount = 0
    var ending: (@Sendable () -> Void)?

    /// Returns the closure to call once the window may not be used any more and nobody uses it.
    mutating func takeEnding() -> (@Sendable () -> Void)? {
      guard isRevoked, userCount == 0 else { return nil }
      defer { ending = nil }
      return ending
    }
  }

  private let state = Locked(State())

  /// Creates an access that permits use of the window.
  package init() {}

  /// Whether the window may not be used any more.
  package var isRevoked: Bool { state.withLock { $0.isRevoked } }

  /// Calls `body` if the window may be used. Several threads can be within this call at the same time.
  ///
  /// - Returns: the result of `body`, or nil without a call when the window may not be used any more.
  package func use<Result, Failure: Error>(_ body: () throws(Failure) -> Result) throws(Failure) -> Result? {
    let mayUse = state.withLock { state in
      if !state.isRevoked { state.userCount += 1 }
      return !state.isRevoked
    }
    guard mayUse else { return nil }
    defer {
      let ending = state.withLock { state in
        state.userCount -= 1
        return state.takeEnding()
      }
      ending?()
      state.wakeAll()
    }
    return try body()
  }

  /// Calls `body` once the window may not be used any more and nobody uses it. It is called at once if that is already
  /// so, and otherwise before ``revoke(waiting:)`` returns.
  package func whenRevoked(_ body: @escaping @Sendable () -> Void) {
    let ending = state.withLock { state in
      state.ending = body
      return state.takeEnding()
    }
    ending?()
  }

  /// Forbids any further use of the window and waits until nobody uses it. It can be called on any thread that is not
  /// within ``use(_:)``.
  ///
  /// - Parameter time: the longest time to wait. A display server that has stopped would block its users for ever.
  /// - Returns: false when the window was still in use at the end of that time.
  @discardableResult
  package func revoke(waiting time: Duration = .seconds(2)) -> Bool {
    let ending = state.withLock { state in
      state.isRevoked = true
      return state.takeEnding()
    }
    ending?()
    return state.wait(until: .now.advanced(by: time)) { $0.userCount == 0 ? true : nil } ?? false
  }
}
