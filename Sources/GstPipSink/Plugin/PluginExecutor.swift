import Glibc
import PipSink
import Synchronization
@_spi(ExperimentalCustomExecutors) import _Concurrency

/// Runs the main actor on a thread of the plugin, one job after the other.
///
/// By default the main actor runs on libdispatch's main queue. A program that is not written in Swift does not drain
/// that queue, and only the thread that loaded libdispatch might. The plugin's thread needs nothing from the program:
/// no main loop, no toolkit and no thread.
final class PluginExecutor: MainExecutor {
  private static let shared = PluginExecutor()

  /// `@unchecked Sendable`: a job is run once, by one thread, and so may go from one thread to another.
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
  /// The ID of the process that started the thread. A child process inherits the memory, but not the thread.
  private let process = Atomic<pid_t>(0)

  /// How long the end of the program waits for the job that runs.
  private static let patience = Duration.seconds(1)

  /// Makes this the main actor's executor. Call it before the main actor's first job, in a process in which only the
  /// plugin uses the Swift runtime.
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
      // The thread starts with the first job, so that programs that only inspect the plugin get no thread.
      guard state.thread == nil, !state.mustEnd else { return }
      state.thread = WorkerThread(name: "pipsink-main") { PluginExecutor.shared.work() }
      guard state.thread != nil else { return }
      process.store(getpid(), ordering: .relaxed)
      // No code of the windows may run while the destructors of libraries run.
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

  /// Begins no further job, and waits for the job that runs, unless that job ends the program. The wait is bounded,
  /// because the job may itself wait for something that the thread which ends the program holds.
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

  /// The executor starts and ends its thread itself, so that Swift never has to.
  func run() {}
  func stop() {}
}
