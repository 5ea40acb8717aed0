import CGStreamer
@_spi(ExperimentalCustomExecutors) import _Concurrency

/// The main actor on GLib's default main context, whichever thread runs that: its jobs are sources of the context, and
/// code is the main actor's while its thread owns the context.
///
/// In a foreign program nobody drains libdispatch's main queue, on which the main actor is otherwise, and only the thread
/// that loaded libdispatch might. GTK's events come on the default main context, so that `@MainActor` code and GTK are on
/// one thread, the one that the program runs its main loop on, or ``MainContextDriver``'s.
final class MainContextExecutor: MainExecutor {
  private static let shared = MainContextExecutor()

  /// Makes this the main actor's executor. To be called before the main actor's first job, in a process whose Swift
  /// runtime is the plugin's alone.
  static func install() {
    _createExecutors(factory: Factory.self)
  }

  private enum Factory: ExecutorFactory {
    static var mainExecutor: any MainExecutor { shared }
    static var defaultExecutor: any TaskExecutor { PlatformExecutorFactory.defaultExecutor }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    g_idle_add_full(
      G_PRIORITY_DEFAULT,
      { job in
        if let job {
          unsafeBitCast(job, to: UnownedJob.self).runSynchronously(on: MainActor.sharedUnownedExecutor)
        }
        return 0
      }, unsafeBitCast(UnownedJob(job), to: UnsafeMutableRawPointer.self), nil)
  }

  func checkIsolated() {
    precondition(isIsolated, "the main actor's code runs on a thread that does not own the default main context")
  }

  func isIsolatingCurrentContext() -> Bool? { isIsolated }

  private var isIsolated: Bool { g_main_context_is_owner(nil) != 0 }

  /// The context is run by the program or by ``MainContextDriver``, never by Swift.
  func run() {}
  func stop() {}
}
