import CWindows
import Dispatch
import Glibc
import PipSink

/// The main actor on a program's main thread, for programs that have no main loop of another kind.
///
/// Windows of this module need no more than that. A program with GTK 3 has `GTKMainLoop` of the product PipSinkGTK instead.
///
/// The main actor's jobs are libdispatch's main queue, which says by an eventfd that it has work. `dispatchMain()` is not
/// used, because it ends the main thread on Linux and runs the main actor on any of libdispatch's threads.
@MainActor
public enum MainLoop {
  /// Carries out the main actor's jobs on the calling thread, which must be the main one, and never returns: the program
  /// ends by `exit`.
  public static func run() -> Never {
    let descriptor = _dispatch_get_main_queue_handle_4CF()
    while true {
      var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&source, 1, -1)
      // It does not block, and wakes this thread again for what comes from here on.
      var count: UInt64 = 0
      _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
      drain()
    }
  }

  /// Runs an app on the main actor, on the calling thread, which must be the main one. The program ends when `body`
  /// returns, with the status 0, or with 1 and the error on standard error when it throws.
  public static func run(_ body: @escaping @MainActor () async throws -> Void) -> Never {
    begin(body)
    run()
  }

  /// Ends the program with what comes of `body`, which runs when the main actor does.
  package static func begin(_ body: @escaping @MainActor () async throws -> Void) {
    Task { @MainActor in
      do {
        try await body()
        exit(EXIT_SUCCESS)
      } catch {
        let text = Array("\(String(describing: error).visible)\n".utf8)
        _ = write(STDERR_FILENO, text, text.count)
        exit(EXIT_FAILURE)
      }
    }
  }

  /// Not isolated: the queue itself is the main actor.
  private nonisolated static func drain() { _dispatch_main_queue_callback_4CF(nil) }
}
