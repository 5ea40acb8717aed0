import CGTK
import Dispatch
import Glibc
import PipSinkWindows

/// Runs GLib's main loop and Swift's main actor on one thread, for programs with GTK 3. Without GTK,
/// ``PipSinkWindows/MainLoop`` is enough.
///
/// The jobs of the main actor are in libdispatch's main queue, which announces work through an eventfd. GLib's main
/// loop waits for that descriptor as well. So `@MainActor` code runs between GTK's events and may call GTK.
@MainActor
public enum GTKMainLoop {
  private static var isAttached = false
  private static var loop: OpaquePointer?

  /// Lets a GLib main loop on the main thread (`gtk_main`, `g_application_run`) run the main actor's jobs. It is for
  /// apps that have such a loop. It must be called on the main thread before the loop runs; further calls do nothing.
  public static func attachMainActor() {
    guard !isAttached else { return }
    isAttached = true
    g_unix_fd_add_full(
      G_PRIORITY_DEFAULT, _dispatch_get_main_queue_handle_4CF(), G_IO_IN,
      { descriptor, _, _ in
        GTKMainLoop.drain(descriptor)
        return sourceContinues
      }, nil, nil)
  }

  /// Runs a GLib main loop together with the main actor on the calling thread, which must be the main one. It never
  /// returns: the program ends with `exit`. It is for programs without a main loop.
  public static func run() -> Never {
    attachMainActor()
    let loop = g_main_loop_new(nil, 0)
    g_main_loop_run(loop)
    // Nobody can stop the loop, so this is never reached.
    exit(EXIT_FAILURE)
  }

  /// Runs an app on the main actor, with GLib's main loop on the calling thread, which must be the main one. The
  /// program ends when `body` returns, with status 0. When `body` throws, it ends with status 1 after printing the
  /// error to standard error.
  public static func run(_ body: @escaping @MainActor () async throws -> Void) -> Never {
    MainLoop.begin(body)
    run()
  }

  /// Runs the jobs that are in the main queue.
  private nonisolated static func drain(_ descriptor: Int32) {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    _dispatch_main_queue_callback_4CF(nil)
  }
}

/// `G_SOURCE_CONTINUE` is a macro with a cast, which Swift does not import.
private let sourceContinues: gboolean = 1
