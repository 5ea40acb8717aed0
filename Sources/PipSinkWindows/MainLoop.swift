import CWindows
import Dispatch
import Glibc
import PipSink

/// Runs the main actor on a program's main thread.
///
/// The main actor's jobs are in libdispatch's main queue, which signals pending work on an eventfd. `dispatchMain()` is
/// not used, because on Linux it ends the main thread and runs the main actor on any of libdispatch's threads.
///
/// A program without a main loop calls ``run(_:)`` or ``run()``. A program with GLib's main loop, which GTK and usually
/// Qt have, calls ``attachToGLib()`` before that loop. Any other loop calls ``runPendingJobs()`` when
/// ``fileDescriptor`` can be read, or in each of its turns.
///
/// The loop is not inside of a job of the main actor, as it is after an `await` at the top level of `main.swift` and in
/// an asynchronous `main()`: there Swift itself has taken the main queue, and libdispatch ends the program.
@MainActor
public enum MainLoop {
  private static var isAttached = false

  /// A descriptor that can be read when jobs of the main actor wait to be run.
  ///
  /// Wait for it with `poll`, or with what the program's loop offers for descriptors, and then call
  /// ``runPendingJobs()``. The descriptor belongs to libdispatch and is valid until the program ends: neither read it
  /// nor close it yourself.
  public nonisolated static var fileDescriptor: CInt { _dispatch_get_main_queue_handle_4CF() }

  /// Runs the jobs of the main actor that wait now, and returns. A job that comes meanwhile waits for the next call, so
  /// that jobs which make further jobs do not hold up the program's loop.
  ///
  /// The call must come from the main thread; on another one libdispatch ends the program. In a job of the main actor
  /// it does nothing: a loop that runs inside of a job, such as that of a modal dialog, runs no other jobs.
  public nonisolated static func runPendingJobs() {
    // The descriptor does not block. After this read, new work makes it readable again.
    var count: UInt64 = 0
    _ = read(fileDescriptor, &count, MemoryLayout<UInt64>.size)
    _dispatch_main_queue_callback_4CF(nil)
  }

  /// Lets GLib's main loop on the main thread (`g_main_loop_run`, `gtk_main`, `g_application_run`) run the main actor's
  /// jobs between its events.
  ///
  /// Call it on the main thread before the loop; further calls do nothing. Qt's loop is GLib's where Qt was built with
  /// GLib, as Debian's is, unless QT_NO_GLIB is in the environment.
  public static func attachToGLib() {
    guard !isAttached else { return }
    isAttached = true
    g_unix_fd_add_full(
      G_PRIORITY_DEFAULT, fileDescriptor, G_IO_IN,
      { _, _, _ in
        MainLoop.runPendingJobs()
        return sourceContinues
      }, nil, nil)
  }

  /// Runs the main actor's jobs on the calling thread, which must be the main thread. It never returns: the program
  /// ends with a call of `exit`.
  public static func run() -> Never {
    while true {
      var source = pollfd(fd: fileDescriptor, events: Int16(POLLIN), revents: 0)
      _ = poll(&source, 1, -1)
      runPendingJobs()
    }
  }

  /// Runs an app on the main actor, on the calling thread, which must be the main thread.
  ///
  /// - Parameter body: the app. When it returns, the program exits with status 0. When it throws, the program prints
  ///   the error on standard error and exits with status 1.
  public static func run(_ body: @escaping @MainActor () async throws -> Void) -> Never {
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
    run()
  }
}

/// `G_SOURCE_CONTINUE` is a macro with a cast, which Swift does not import.
private let sourceContinues: gboolean = 1
