import Synchronization

/// Tells a session that the demand for streams may have changed: a stream is shown somewhere else, or what shows it has
/// another size or visibility. Several changes that come before the session looks are told once.
///
/// Any thread may give notice, also under a lock.
final class DemandNotice: Sendable {
  private let isDue = Atomic(false)
  private let handler = Locked<(@Sendable () -> Void)?>(nil)

  /// Sets what is called on the thread that gives notice. It must return at once.
  func set(_ handler: @escaping @Sendable () -> Void) { self.handler.withLock { $0 = handler } }

  /// Gives notice.
  func callAsFunction() {
    if !isDue.exchange(true, ordering: .sequentiallyConsistent) { handler.withLock { $0 }?() }
  }

  /// Called before the session looks, so that it is told of later changes again.
  func begin() { isDue.store(false, ordering: .sequentiallyConsistent) }
}
