import CGStreamer
import Glibc
import PipSink

/// Runs GLib's default main context where the program does not, for as long as there are sessions.
///
/// A program with a GUI toolkit of its own runs it. One that has sources in it is given time to begin. Elsewhere, in a
/// program that only waits for the bus for instance, a thread does it, one turn at a time, so that a main loop of the
/// program's takes over between two turns. Two threads never call GTK at once, since a thread has to own the context for
/// that.
final class MainContextDriver: Sendable {
  static let shared = MainContextDriver()

  private let state = Locked(State())

  private struct State {
    var sessionCount = 0
    /// The context is run until then, so that what the last session leaves to be done is done.
    var lingersUntil = MonotonicTime(nanoseconds: 0)
    /// The program is expected to run the context until then.
    var begins = MonotonicTime(nanoseconds: 0)
    var thread: WorkerThread?
    var mustEnd = false
    var hasEnded = false
  }

  private static let beatMilliseconds: guint = 40
  private static let lingering = Duration.seconds(2)
  /// How long the program may take to begin its loop, and how long a turn of it may take.
  private static let patience = (first: Duration.seconds(5), later: Duration.milliseconds(500))

  /// To be called when a session begins, from any thread.
  func retain() {
    guard MainActorHost.isInstalled, !HostProgram.current.hasToolkit else { return }
    state.withLock { state in
      state.sessionCount += 1
      guard state.thread == nil, !state.mustEnd else { return }
      if HostProgram.current.hasSources { state.begins = .now.advanced(by: Self.patience.first) }
      state.thread = WorkerThread(name: "pipsink-loop") { MainContextDriver.shared.run() }
      // Nothing of GTK's may run beside the destructors of libraries.
      atexit { MainContextDriver.shared.end() }
    }
    state.wakeAll()
  }

  /// To be called when a session has ended.
  func release() {
    state.withLock { state in
      guard state.sessionCount > 0 else { return }
      state.sessionCount -= 1
      state.lingersUntil = .now.advanced(by: Self.lingering)
    }
  }

  private func end() {
    let isOwnThread = state.withLock { state in
      state.mustEnd = true
      return state.thread?.isCurrent ?? true
    }
    state.wakeAll()
    guard !isOwnThread else { return }
    // The thread may wait for something that whoever ends the process holds.
    _ = state.wait(until: .now.advanced(by: .seconds(1))) { $0.hasEnded ? true : nil }
  }

  private func run() {
    defer {
      state.withLock { $0.hasEnded = true }
      state.wakeAll()
    }
    while true {
      let isWanted = state.wait { $0.mustEnd ? false : $0.sessionCount > 0 ? true : nil }
      guard isWanted else { return }
      // Wakes whoever runs the context, and tells who that is.
      let beat = g_timeout_add(
        Self.beatMilliseconds,
        { _ in
          MainContextDriver.shared.noteTurn()
          return 1
        }, nil)
      defer { g_source_remove(beat) }
      while waitForTurn() { drive() }
    }
  }

  /// - Returns: false when nobody wants the context to be run any more.
  private func waitForTurn() -> Bool {
    state.waitStepwise { state in
      let now = MonotonicTime.now
      if state.mustEnd || state.sessionCount == 0 && state.lingersUntil <= now { return .done(false) }
      return state.begins <= now ? .done(true) : .at(state.begins)
    }
  }

  private func drive() {
    guard g_main_context_acquire(nil) != 0 else {
      // Whoever has it is in a turn that takes long.
      return state.withLock { $0.begins = .now.advanced(by: Self.patience.later) }
    }
    g_main_context_iteration(nil, 1)
    g_main_context_release(nil)
    // A loop of the program's that has waited for the context gets it now.
    g_usleep(500)
  }

  private func noteTurn() {
    state.withLock { state in
      guard let thread = state.thread, !thread.isCurrent else { return }
      state.begins = .now.advanced(by: Self.patience.later)
    }
  }
}
