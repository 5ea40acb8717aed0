import CWindows
import Glibc
import PipSink

/// Reads the events of one queue of a Wayland connection on a thread of its own.
///
/// The connection belongs to this loop, or to a toolkit that reads its other queues. The thread also does the work that
/// is given to ``perform(_:)``, in order; that is where objects are destroyed.
///
/// `@unchecked Sendable`: everything that changes is behind locks, and libwayland allows displays and queues to be used
/// on every thread.
final class WaylandEventLoop: @unchecked Sendable {
  /// The `wl_display`.
  let display: OpaquePointer
  private let queue: OpaquePointer
  /// A wrapper of the display. Objects that are created from it belong to the queue.
  private let wrapper: OpaquePointer
  private let ownsDisplay: Bool
  private let wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
  private let state = Locked(State())
  /// Held while an object that has events is created.
  let making = Locked(())

  private struct State {
    var work: [@Sendable () -> Void] = []
    var timers: [(time: MonotonicTime, key: ObjectIdentifier?, work: @Sendable () -> Void)] = []
    var isLost = false
    var mustEnd = false
    /// Whether the thread does no more work, so that callers of ``perform(_:)`` do theirs themselves.
    var hasEnded = false
    /// Whether the connection may not be used any more.
    var isClosed = false
    /// The thread that called ``run()``.
    var thread: pthread_t?
    var lostHandlers: [ObjectIdentifier: @Sendable () -> Void] = [:]

    var isCurrentThread: Bool { thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false }
  }

  /// Connects to a compositor.
  ///
  /// - Parameter name: the compositor's socket, as in `WAYLAND_DISPLAY`; nil for the one that the environment names.
  /// - Returns: nil when the compositor cannot be reached.
  convenience init?(_ name: String?) {
    guard let display = wl_display_connect(name) else { return nil }
    self.init(display: display, owned: true)
  }

  /// Uses the connection of a toolkit.
  ///
  /// - Parameter display: the toolkit's `wl_display`. It must stay connected until ``leaveDisplay()`` has returned.
  /// - Returns: nil when libwayland cannot allocate memory.
  convenience init?(foreign display: OpaquePointer) { self.init(display: display, owned: false) }

  private init?(display: OpaquePointer, owned: Bool) {
    guard let queue = wl_display_create_queue(display),
      let wrapper = wl_proxy_create_wrapper(UnsafeMutableRawPointer(display))
    else {
      if owned { wl_display_disconnect(display) }
      return nil
    }
    self.wrapper = OpaquePointer(wrapper)
    wl_proxy_set_queue(self.wrapper, queue)
    (self.display, self.queue, ownsDisplay) = (display, queue, owned)
    SurfaceGate.shared.add(self)
  }

  deinit {
    // Objects keep the loop alive, so none are left here.
    leaveDisplay()
    close(wakeDescriptor)
  }

  /// Stops using the display, which may be disconnected afterwards. It is called once ``run()`` has returned and all
  /// objects have been destroyed.
  func leaveDisplay() {
    let isFirst = !state.exchange(\.isClosed, true)
    guard isFirst else { return }
    wl_proxy_wrapper_destroy(UnsafeMutableRawPointer(wrapper))
    wl_event_queue_destroy(queue)
    if ownsDisplay { wl_display_disconnect(display) } else { wl_display_flush(display) }
  }

  // MARK: - On any thread

  /// Whether the compositor has gone, or has ended the connection because of an error.
  var isLost: Bool { state.withLock { $0.isLost } }

  /// Whether the caller is the thread that runs this loop.
  var isCurrentThread: Bool { state.withLock { $0.isCurrentThread } }

  /// Makes the thread do something, after the work that it was given before. If the thread has ended, the work is done
  /// at once by the caller.
  func perform(_ work: @escaping @Sendable () -> Void) {
    let (isDone, mustWake) = state.withLock { state in
      if !state.hasEnded { state.work.append(work) }
      // The thread need not be woken by itself, because it does its work before it waits.
      return (state.hasEnded && !state.isClosed, !state.isCurrentThread && state.work.count == 1)
    }
    if isDone { work() } else if mustWake { wake() }
  }

  /// Makes the thread do something after some time. The work is dropped when the thread ends before that.
  ///
  /// - Parameters:
  ///   - delay: the time to wait.
  ///   - key: the owner of the work, whose earlier delayed work is dropped; nil drops none.
  ///   - work: the work.
  func perform(after delay: Duration, insteadOf key: ObjectIdentifier? = nil, _ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      if let key { state.timers.removeAll { $0.key == key } }
      state.timers.append((.now.advanced(by: delay), key, work))
    }
    perform {}
  }

  /// Sends all pending requests to the compositor. Requests that do not fit into the socket's buffer are sent by the
  /// thread.
  func flush() {
    // The thread waits until the compositor reads again.
    if wl_display_flush(display) < 0, errno == EAGAIN { wake() }
  }

  /// Waits until the compositor has answered all earlier requests. It must not be called on the loop's own thread.
  ///
  /// - Parameter time: the longest time to wait.
  /// - Returns: false when the compositor has gone or has not answered in time.
  func synchronize(waiting time: Duration = .seconds(5)) -> Bool {
    let isAnswered = Locked(false)
    let question = ask {
      isAnswered.withLock { $0 = true }
      isAnswered.wakeAll()
    }
    let key = ObjectIdentifier(isAnswered)
    onLoss(key) { isAnswered.wakeAll() }
    defer { forgetLoss(key) }
    flush()
    defer { question?.destroy() }
    let answer = isAnswered.wait(until: .now.advanced(by: time)) { isAnswered -> Bool? in
      isAnswered ? true : self.isLost ? false : nil
    }
    return answer ?? false
  }

  /// Calls `answered`, on the loop's thread, when the compositor has answered all earlier requests (wl_display.sync).
  ///
  /// - Returns: the callback object, which the caller keeps until then.
  func ask(_ answered: @escaping @Sendable () -> Void) -> WaylandProxy? {
    make(WLDisplay.table.requests.sync, from: wrapper, version: 1) { events in events.done { _ in answered() } }
  }

  /// Creates the connection's registry, which announces the compositor's global objects.
  ///
  /// - Parameter handlers: sets the handlers of its events.
  func makeRegistry(_ handlers: (WaylandHandlers<WLRegistry>) -> Void) -> WaylandObject<WLRegistry>? {
    make(WLDisplay.table.requests.getRegistry, from: wrapper, version: 1, handlers: handlers)
  }

  /// Calls `handler` on the loop's thread when the compositor has gone, or at once if it has gone already.
  func onLoss(_ key: ObjectIdentifier, _ handler: @escaping @Sendable () -> Void) {
    let isLost = state.withLock { state in
      state.lostHandlers[key] = handler
      return state.isLost
    }
    if isLost { handler() }
  }

  /// Removes a handler that was set by ``onLoss(_:_:)``.
  func forgetLoss(_ key: ObjectIdentifier) { state.withLock { $0.lostHandlers[key] = nil } }

  /// Makes ``run()`` return.
  func end() {
    state.withLock { $0.mustEnd = true }
    wake()
  }

  private func wake() { eventfd_write(wakeDescriptor, 1) }

  // MARK: - On the loop's thread

  /// Reads and dispatches events until ``end()``. Once the compositor has gone, it only does the work that is given to
  /// ``perform(_:)``.
  func run() {
    state.withLock { $0.thread = pthread_self() }
    while !state.withLock({ $0.mustEnd }) {
      work()
      if isLost { sleepUntilWoken() } else { readOnce(workByTime()) }
    }
    // The remaining work is done first. Work that is given after that is done by its callers.
    while true {
      work()
      let isOver = state.withLock { state in
        if state.work.isEmpty { state.hasEnded = true }
        return state.hasEnded
      }
      if isOver { break }
    }
  }

  private func work() {
    while true {
      let work = state.exchange(\.work, [])
      if work.isEmpty { return }
      for item in work { item() }
    }
  }

  /// Does the delayed work that is due.
  ///
  /// - Returns: the milliseconds until more work is due, or a negative number when none is waiting.
  private func workByTime() -> Int32 {
    let now = MonotonicTime.now
    let due = state.withLock { state in
      let due = state.timers.filter { $0.time <= now }
      if !due.isEmpty { state.timers.removeAll { $0.time <= now } }
      return due
    }
    for timer in due { timer.work() }
    work()
    guard let next = state.withLock({ $0.timers.map(\.time).min() }) else { return -1 }
    // One is added so that the thread does not wake before the work is due.
    return Int32(clamping: next.nanoseconds(since: .now) / 1_000_000 + 1)
  }

  private func sleepUntilWoken() {
    var descriptor = pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&descriptor, 1, -1)
    var count: UInt64 = 0
    eventfd_read(wakeDescriptor, &count)
  }

  /// Sends pending requests, waits once for events or for ``wake()``, and handles the events.
  ///
  /// - Parameter limit: the longest time to wait, in milliseconds; a negative number sets no limit.
  private func readOnce(_ limit: Int32) {
    guard wl_display_prepare_read_queue(display, queue) == 0 else {
      // Another thread has read these events, as a toolkit's does on its connection. Their handlers may leave work, or
      // work by time, so `limit` is not right any more and the thread must not wait.
      if !dispatch() { lose() }
      return
    }
    // After EAGAIN the rest is sent once the socket has room again.
    let isSent = wl_display_flush(display) >= 0
    // After any other error the compositor may have gone, but its last events can still be read.
    let mustSend = !isSent && errno == EAGAIN
    var descriptors = [
      pollfd(
        fd: wl_display_get_fd(display), events: Int16(POLLIN) | (mustSend ? Int16(POLLOUT) : 0), revents: 0),
      pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
    ]
    let found = poll(&descriptors, 2, limit)
    if descriptors[1].revents != 0 {
      var count: UInt64 = 0
      eventfd_read(wakeDescriptor, &count)
    }
    guard found > 0, descriptors[0].revents & ~Int16(POLLOUT) != 0 else { return wl_display_cancel_read(display) }
    guard wl_display_read_events(display) == 0, dispatch() else { return lose() }
  }

  private func dispatch() -> Bool {
    // An object that is being created gets its handler before its first event is dispatched.
    making.withLock { _ in }
    return wl_display_dispatch_queue_pending(display, queue) >= 0
  }

  private func lose() {
    let handlers = state.withLock { state in
      defer { state.isLost = true }
      return state.isLost ? [] : Array(state.lostHandlers.values)
    }
    for handler in handlers { handler() }
  }
}
