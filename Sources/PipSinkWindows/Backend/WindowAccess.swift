import PipSink

/// Whether a window of somebody else's may be used, and a way for its owner to wait until nobody does.
///
/// Whoever speaks to the display server about the window does it within ``use(_:)``, and has the answer before that
/// ends: then nothing that was asked for can reach the window any more.
package final class WindowAccess: Sendable {
  private struct State {
    var isRevoked = false
    var userCount = 0
    var ending: (@Sendable () -> Void)?

    /// What is to be done now that nobody may use the window and nobody does.
    mutating func takeEnding() -> (@Sendable () -> Void)? {
      guard isRevoked, userCount == 0 else { return nil }
      defer { ending = nil }
      return ending
    }
  }

  private let state = Locked(State())

  package init() {}

  package var isRevoked: Bool { state.withLock { $0.isRevoked } }

  /// Calls `body` while the window may be used, on several threads at once where they want to.
  ///
  /// - Returns: nil, without a call, when it may be used no more.
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

  /// Has something done once the window may not be used any more, before ``revoke(waiting:)`` returns; at once if that is so
  /// now.
  package func whenRevoked(_ body: @escaping @Sendable () -> Void) {
    let ending = state.withLock { state in
      state.ending = body
      return state.takeEnding()
    }
    ending?()
  }

  /// Lets nobody use the window from now on, and waits until nobody does. From any thread that does not use it.
  ///
  /// - Parameter seconds: how long to wait at most: a display server that has stopped keeps its users waiting for ever.
  /// - Returns: false when somebody used it still when the time was over.
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
