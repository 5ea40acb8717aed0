import PipSink

/// Keeps PipSink's new Wayland surfaces apart from its X11 windows that appear in the session's Xwayland.
///
/// GNOME's compositor, mutter (43 to the beta of 51), gets the number of an X11 window's surface from the X server. If
/// it does not know that surface yet, it takes the next surface that gets this number, of whatever client. A program
/// that makes a surface while its X11 window appears can lose the surface to that window. Then mutter ends the program's
/// connection: "wl_surface@27 already has a different role".
final class SurfaceGate: Sendable {
  static let shared = SurfaceGate()

  /// How long an X11 window is waited for. A window manager may not show the window at all.
  private let patience: Duration

  private struct State {
    var loops: [WeakLoop] = []
    /// The number of surfaces that are being made.
    var making = 0
    /// The windows that appear now, by their connections, and the moments until which they are waited for.
    var appearing: [ObjectIdentifier: MonotonicTime] = [:]
    /// The questions to the compositor whose answers end the wait for these windows.
    var questions: [ObjectIdentifier: WaylandProxy] = [:]
  }

  private struct WeakLoop {
    weak var loop: WaylandEventLoop?
  }

  private let state = Locked(State())

  init(patience: Duration = .seconds(1)) {
    self.patience = patience
  }

  /// Adds a Wayland connection on which surfaces are made.
  func add(_ loop: WaylandEventLoop) {
    state.withLock { state in
      state.loops.removeAll { $0.loop == nil }
      state.loops.append(WeakLoop(loop: loop))
    }
  }

  private var loops: [WaylandEventLoop] {
    state.withLock { $0.loops.compactMap(\.loop) }.filter { !$0.isLost }
  }

  /// Calls `body`, which makes surfaces, when no X11 window is appearing. It waits no longer than the gate's patience,
  /// and not at all on a connection's own thread, which reads the answer that ends the wait.
  func make<Result>(_ body: () -> Result) -> Result {
    guard !loops.contains(where: \.isCurrentThread) else { return body() }
    state.waitStepwise { state -> Locked<State>.Step<Void> in
      state.appearing = state.appearing.filter { $0.value > .now }
      if let deadline = state.appearing.values.min() { return .at(deadline) }
      state.making += 1
      return .done(())
    }
    defer {
      state.withLock { $0.making -= 1 }
      state.wakeAll()
    }
    return body()
  }

  /// Called before an X11 window is mapped. It waits until the compositor knows all surfaces that have been made. It
  /// must not be called on a Wayland connection's own thread.
  func close(for connection: X11Connection) {
    let loops = loops
    // Without a connection to a Wayland compositor, the window is not in a Wayland session, or there are no surfaces.
    guard !loops.isEmpty else { return }
    let deadline = MonotonicTime.now.advanced(by: patience)
    state.withLock { $0.appearing[ObjectIdentifier(connection)] = deadline }
    _ = state.wait(until: deadline) { $0.making == 0 ? true : nil }
    for loop in loops { _ = loop.synchronize(waiting: patience) }
  }

  /// Called when the server has mapped the window. Surfaces are made again once the compositor knows the window's own.
  func open(for connection: X11Connection) {
    let key = ObjectIdentifier(connection)
    guard state.withLock({ $0.appearing[key] != nil }) else { return }
    // Xwayland has sent its requests about the window's surface before it answers this.
    connection.synchronize()
    // The compositor reads from all clients before it sends the answer.
    let question = loops.first.flatMap { loop in
      defer { loop.flush() }
      return loop.ask { [weak self] in self?.forget(key) }
    }
    guard let question else { return forget(key) }
    // The answer may have come already.
    state.withLock { if $0.appearing[key] != nil { $0.questions[key] = question } }
  }

  private func forget(_ key: ObjectIdentifier) {
    let question = state.withLock { state in
      state.appearing[key] = nil
      return state.questions.removeValue(forKey: key)
    }
    state.wakeAll()
    question?.destroy()
  }
}
