import Glibc
import PipSink
import PipSinkWindows

/// Decides where the main actor runs, and hands it work from the element's other threads.
enum MainActorHost {
  private static let isInstalled = Locked(false)

  /// Gives the main actor a thread of its own in a program that is not written in Swift. It is called when the plugin
  /// is loaded; further calls do nothing. A Swift program whose runtime this code shares runs the main actor itself.
  static func install() {
    isInstalled.withLock { isInstalled in
      guard !isInstalled, !sharesSwiftRuntime else { return }
      isInstalled = true
      PluginExecutor.install()
    }
  }

  /// Whether the program is written in Swift and this code runs on its runtime. That is so when the type `Int` is the
  /// same one here and in the program, the libraries that it is linked with, or those that it has loaded globally.
  static var sharesSwiftRuntime: Bool {
    guard let program = dlopen(nil, RTLD_LAZY) else { return false }
    defer { dlclose(program) }
    return dlsym(program, "$sSiN").map { UnsafeRawPointer($0) } == unsafeBitCast(Int.self, to: UnsafeRawPointer.self)
  }

  private static let jobs: AsyncStream<@MainActor () -> Void>.Continuation = {
    let (stream, continuation) = AsyncStream.makeStream(of: (@MainActor () -> Void).self)
    Task { @MainActor in
      for await job in stream { job() }
    }
    return continuation
  }()

  /// Runs a job on the main actor, after all jobs that were posted before. It may be called from any thread, and does
  /// not wait.
  static func post(_ job: @escaping @MainActor () -> Void) { jobs.yield(job) }

  /// How long a state change of the element waits for the display server's answer.
  private static let patience = Duration.seconds(2)

  /// Finds out whether a display server can be reached. A server that takes longer than two seconds to answer counts as
  /// reachable; whether a window can be opened there is reported later.
  ///
  /// - Returns: the kind of server; nil when it has not answered in time.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  static func checkDisplay() throws(PipSinkError) -> WindowSystem? {
    let answer = Locked<Result<WindowSystem, PipSinkError>?>(nil)
    _ = WorkerThread(name: "pip-display") {
      let result = Result { () throws(PipSinkError) in try WindowSystem.current() }
      answer.withLock { $0 = result }
      answer.wakeAll()
    }
    return try answer.wait(until: .now.advanced(by: patience)) { $0 }?.get()
  }
}
