import Glibc
import PipSink
import PipSinkWindows

/// Where the main actor runs, and the way there for the element's other threads.
enum MainActorHost {
  private static let isInstalled = Locked(false)

  /// Gives the main actor a thread of its own in a foreign program. To be called when the plugin is loaded; further calls
  /// do nothing. A Swift program whose runtime this code shares runs its main actor itself.
  static func install() {
    isInstalled.withLock { isInstalled in
      guard !isInstalled, !sharesSwiftRuntime else { return }
      isInstalled = true
      PluginExecutor.install()
    }
  }

  /// Whether the program is written in Swift, and this code runs on its runtime: the type `Int` is the same one, in the
  /// program, the libraries that it is linked with, or those that it has loaded for all.
  private static var sharesSwiftRuntime: Bool {
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

  /// Has the main actor do something, after everything that was posted before. From any thread; waits for nothing.
  static func post(_ job: @escaping @MainActor () -> Void) { jobs.yield(job) }

  /// How long a display server may take to answer a state change.
  private static let patience = Duration.seconds(2)

  /// Asks whether a display server can be reached. A server that takes longer than two seconds to answer counts as one that
  /// can: what becomes of it is told later.
  ///
  /// - Returns: the kind of server; nil while there is no answer.
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
