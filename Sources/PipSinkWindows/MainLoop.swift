import CWindows
import Dispatch
import Glibc
import PipSink

/// Runs the main actor on a program's main thread, for programs that have no other main loop.
///
/// The windows of this module need nothing else. A program with GTK 3 uses `GTKMainLoop` from the product PipSinkGTK
/// instead.
///
/// The main actor's jobs are in libdispatch's main queue, which signals pending work on an eventfd. `dispatchMain()` is
/// not used, because on Linux it ends the main thread and runs the main actor on any of libdispatch's threads.
@MainActor
public enum MainLoop {
  /// Runs the main actor's jobs on the calling thread, which must be the main thread. It never returns: the program
  /// ends with a call of `exit`.
  public static func run() -> Never {
    let descriptor = _dispatch_get_main_queue_handle_4CF()
    while true {
      var source = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&source, 1, -1)
      // The descriptor does not block. After this read, new work makes it readable again.
      var count: UInt64 = 0
      _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
      drain()
    }
  }

  /// Runs an app on the main actor, on the calling thread, which must be the main thread.
  ///
  /// - Parameter body: the app. When it returns, the program exits with status 0. When it throws, the program prints
  ///   the error on standard error and exits with status 1.
  public static func run(_ body: @escaping @MainActor () async throws -> Void) -> Never {
    begin(body)
    run()
  }

  /// Starts `body` as a task on the main actor, and exits the program with its result as ``run(_:)`` does. The caller
  /// runs the main actor.
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

  /// Runs the jobs that are queued now. It is not isolated to the main actor, because the queue is the main actor.
  private nonisolated static func drain() { _dispatch_main_queue_callback_4CF(nil) }
}
