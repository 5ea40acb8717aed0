import CGStreamer

/// One named thread that runs a closure and can be joined.
///
/// `@unchecked Sendable`: the handle is constant, and who joins is decided behind a lock.
package final class WorkerThread: @unchecked Sendable {
  private let thread: UnsafeMutablePointer<GThread>
  private let isJoined = Locked(false)

  /// - Parameter name: shown by debuggers and `top -H`; the kernel keeps its first 15 bytes.
  /// - Returns: nil when the system refuses another thread.
  package init?(name: String, body: @escaping @Sendable () -> Void) {
    let box = Unmanaged.passRetained(Box(body))
    let started = g_thread_try_new(
      name,
      { argument in
        if let argument { Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().body() }
        return nil
      }, box.toOpaque(), nil)
    guard let started else {
      box.release()
      return nil
    }
    thread = started
  }

  deinit { g_thread_unref(thread) }

  /// Whether the caller is on this thread.
  package var isCurrent: Bool { g_thread_self() == thread }

  /// Waits for the thread's end. Called on the thread itself it does nothing: a thread ends by itself.
  package func join() {
    guard !isCurrent else { return }
    let isFirst = isJoined.withLock { isJoined in
      defer { isJoined = true }
      return !isJoined
    }
    // A reference of its own: else a later thread could have this one's address, and take itself for this.
    if isFirst { g_thread_join(g_thread_ref(thread)) }
  }

  private final class Box: Sendable {
    let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) {
      self.body = body
    }
  }
}
