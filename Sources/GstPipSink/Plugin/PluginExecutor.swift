import Glibc
import PipSink
import Synchronization
@_spi(ExperimentalCustomExecutors) import _Concurrency

/// The main actor on a thread of the plugin's own, which takes its jobs one after the other.
///
/// In a foreign program nobody drains libdispatch's main queue, on which the main actor is otherwise, and only the thread
/// that loaded libdispatch might. This thread needs nothing of the program: no main loop, no toolkit, no thread.
final class PluginExecutor: MainExecutor {
  private static let shared = PluginExecutor()

  /// A job is run once, by one thread, and so may go from one to another.
  private struct Job: @unchecked Sendable {
    let job: UnownedJob
  }

  private struct State {
    var jobs: [Job] = []
    var thread: WorkerThread?
    var isWorking = false
    var mustEnd = false
  }

  private let state = Locked(State())
  /// Whose thread it is: a child process inherits the memory, but not the thread.
  private let process = Atomic<pid_t>(0)

  /// How long the end of a program waits for a job.
  private static let patience = Duration.seconds(1)

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
    let job = Job(job: UnownedJob(job))
    state.withLock { state in
      state.jobs.append(job)
      // With the first job: programs that only ask what the plugin has get none.
      guard state.thread == nil, !state.mustEnd else { return }
      state.thread = WorkerThread(name: "pipsink-main") { PluginExecutor.shared.work() }
      guard state.thread != nil else { return }
      process.store(getpid(), ordering: .relaxed)
      // Nothing of the windows' may run beside the destructors of libraries.
      atexit { PluginExecutor.shared.end() }
    }
    state.wakeAll()
  }

  private func work() {
    var jobs: [Job] = []
    while true {
      let isWanted = state.wait { state in
        guard !state.mustEnd else { return false }
        state.isWorking = !state.jobs.isEmpty
        swap(&jobs, &state.jobs)
        return state.isWorking ? true : nil
      }
      guard isWanted else { return }
      for job in jobs {
        guard !state.withLock(\.mustEnd) else { break }
        job.job.runSynchronously(on: MainActor.sharedUnownedExecutor)
      }
      jobs.removeAll(keepingCapacity: true)
      state.withLock { $0.isWorking = false }
      state.wakeAll()
    }
  }

  /// Begins no further job, and waits for the one that runs, unless that is what ends the program. It may wait for
  /// something that whoever ends the program holds, so that the wait is bounded.
  private func end() {
    guard process.load(ordering: .relaxed) == getpid() else { return }
    let isOwnThread = state.withLock { state in
      state.mustEnd = true
      return state.thread?.isCurrent ?? true
    }
    state.wakeAll()
    guard !isOwnThread else { return }
    _ = state.wait(until: .now.advanced(by: Self.patience)) { $0.isWorking ? nil : true }
  }

  func checkIsolated() {
    precondition(isIsolated, "the main actor's code runs on another thread than the plugin's")
  }

  func isIsolatingCurrentContext() -> Bool? { isIsolated }

  private var isIsolated: Bool { state.withLock { $0.thread?.isCurrent ?? false } }

  /// The thread is the executor's own business, never Swift's.
  func run() {}
  func stop() {}
}
