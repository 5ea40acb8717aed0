import CGTK
import Dispatch
import Glibc
import PipSinkWindows

/// GLib's main loop and Swift's main actor on one thread, for programs with GTK 3. Without GTK,
/// ``PipSinkWindows/MainLoop`` is enough.
///
/// The main actor's jobs are libdispatch's main queue, which says by an eventfd that it has work; that is one more
/// thing for GLib's main loop to wait for. So `@MainActor` code runs between GTK's events, and may call GTK.
@MainActor
public enum GTKMainLoop {
  private static var isAttached = false
  private static var loop: OpaquePointer?

  /// Lets a GLib main loop that runs on the main thread (`gtk_main`, `g_application_run`) carry out the main actor's
  /// jobs. For apps that have such a loop; to be called once, on the main thread, before it runs. Further calls do
  /// nothing.
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

  /// Runs a GLib main loop with the main actor on the calling thread, which must be the main one, and never returns:
  /// the program ends by `exit`. For programs that have no main loop of their own.
  public static func run() -> Never {
    attachMainActor()
    let loop = g_main_loop_new(nil, 0)
    g_main_loop_run(loop)
    // Nobody has the loop to stop it.
    exit(EXIT_FAILURE)
  }

  /// Runs an app on the main actor, with GLib's main loop on the calling thread, which must be the main one. The program
  /// ends when `body` returns, with the status 0, or with 1 and the error on standard error when it throws.
  public static func run(_ body: @escaping @MainActor () async throws -> Void) -> Never {
    MainLoop.begin(body)
    run()
  }

  private nonisolated static func drain(_ descriptor: Int32) {
    var count: UInt64 = 0
    _ = read(descriptor, &count, MemoryLayout<UInt64>.size)
    _dispatch_main_queue_callback_4CF(nil)
  }
}

/// `G_SOURCE_CONTINUE` is a macro with a cast, which Swift does not import.
private let sourceContinues: gboolean = 1
