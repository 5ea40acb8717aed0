import CGTK
import Glibc
import PipSink
import PipSinkGTK

/// Where the main actor runs, and the way there for the element's other threads.
enum MainActorHost {
  private static let installed = Locked(false)

  /// Whether the main actor is GLib's default main context. Otherwise the process is a Swift program, and runs it itself.
  static var isInstalled: Bool { installed.withLock { $0 } }

  /// Gives the main actor its place in a foreign program. To be called when the plugin is loaded; further calls do
  /// nothing.
  static func install() {
    installed.withLock { isInstalled in
      guard !isInstalled, !HostProgram.sharesSwiftRuntime else { return }
      isInstalled = true
      MainContextExecutor.install()
    }
  }

  private static let jobs: AsyncStream<@MainActor () -> Void>.Continuation = {
    let (stream, continuation) = AsyncStream.makeStream(of: (@MainActor () -> Void).self)
    Task { @MainActor in
      for await job in stream { job() }
    }
    return continuation
  }()

  /// Has the main actor do something, after everything that was posted before. From any thread; waits for nothing.
  static func post(_ job: @escaping @MainActor () -> Void) { jobs.yield(job) }

  // MARK: - The display

  /// Connects to the display where nobody has yet: on this thread if nobody runs the main context, else on the one that
  /// does. It never waits for a thread that may wait for this one: without an answer within two seconds, and in a
  /// Swift program, it returns, and a failure is reported later.
  ///
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  static func openDisplay() throws(PipSinkError) {
    guard isInstalled else { return }
    if HostProgram.current.hasGTK4 {
      throw .system(.displayUnavailable(reason: "the program uses GTK 4, and these windows are of GTK 3"))
    }
    if g_main_context_acquire(nil) != 0 {
      defer { g_main_context_release(nil) }
      try MainActor.assumeIsolated { open() }.get()
    } else {
      let answer = Locked<Result<Void, PipSinkError>?>(nil)
      post {
        let opened = open()
        answer.withLock { $0 = opened }
        answer.wakeAll()
      }
      try answer.wait(until: .now.advanced(by: .seconds(2))) { $0 }?.get()
    }
  }

  /// The elements' pipelines end with an error when the display server goes. That is to be said once.
  @MainActor private static let watchForLoss: Void = GTKDisplay.onLossInHost {
    Session.failAll("The display server has gone.", "Its connection has broken.")
  }

  @MainActor private static func open() -> Result<Void, PipSinkError> {
    // The program's locale is its own business.
    if gdk_display_get_default() == nil { gtk_disable_setlocale() }
    return Result { () throws(PipSinkError) -> Void in
      try GTKDisplay.open()
      _ = watchForLoss
    }
  }
}
