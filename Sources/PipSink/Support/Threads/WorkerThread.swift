import CGStreamer

/// A named thread that runs one closure and can be joined.
///
/// `@unchecked Sendable`: the handle is constant, and a lock decides who joins.
package final class WorkerThread: @unchecked Sendable {
  private let thread: UnsafeMutablePointer<GThread>
  private let isJoined = Locked(false)

  /// Starts the thread.
  ///
  /// - Parameters:
  ///   - name: shown by debuggers and `top -H`; the kernel keeps the first 15 bytes.
  ///   - body: what the thread runs. The thread ends when it returns.
  /// - Returns: nil when the system refuses another thread.
  package init?(name: String, body: @escaping @Sendable () -> Void) {
    let context = ClosureBox<Void>(body).retained()
    let started = g_thread_try_new(
      name,
      { argument in
        ClosureBox<Void>.take(argument)?.body(())
        return nil
      }, context, nil)
    guard let started else {
      ClosureBox<Void>.take(context)
      return nil
    }
    thread = started
  }

  deinit { g_thread_unref(thread) }

  /// Whether the caller runs on this thread.
  package var isCurrent: Bool { g_thread_self() == thread }

  /// Waits until the thread has ended. On the thread itself it does nothing.
  package func join() {
    guard !isCurrent else { return }
    let isFirst = !isJoined.exchange(true)
    // The thread is kept by another reference: otherwise a later thread could get the same address and mistake itself
    // for this one.
    if isFirst { g_thread_join(g_thread_ref(thread)) }
  }
}
