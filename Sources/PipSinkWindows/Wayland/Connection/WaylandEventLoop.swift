import CWindows
import Glibc
import PipSink

/// Waits for what a Wayland compositor says to one queue of a connection, on a thread of its own.
///
/// The connection is this one's, or somebody else's, whose other queues others read. The thread does the work that it
/// is given by ``perform(_:)``, in its order: objects are destroyed there.
///
/// `@unchecked Sendable`: constant but for what is behind locks; libwayland's displays and queues may be used on every
/// thread.
final class WaylandEventLoop: @unchecked Sendable {
  let display: OpaquePointer
  private let queue: OpaquePointer
  /// The display, whose objects belong to the queue.
  private let wrapper: OpaquePointer
  private let ownsDisplay: Bool
  private let wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
  private let state = Locked(State())
  /// Held while an object is made that has events.
  let making = Locked(())

  private struct State {
    var work: [@Sendable () -> Void] = []
    var timers: [(time: MonotonicTime, key: ObjectIdentifier?, work: @Sendable () -> Void)] = []
    var isLost = false
    var mustEnd = false
    /// Whether the thread does no work any more, so that whoever has some does it.
    var hasEnded = false
    /// Whether the connection may be used no more.
    var isClosed = false
    /// That of ``run()``.
    var thread: pthread_t?
    var lostHandlers: [ObjectIdentifier: @Sendable () -> Void] = [:]
  }

  /// - Parameter name: the compositor's socket, as in WAYLAND_DISPLAY; nil for that of the environment.
  /// - Returns: nil when it cannot be reached.
  convenience init?(_ name: String?) {
    guard let display = wl_display_connect(name) else { return nil }
    self.init(display: display, owned: true)
  }

  /// - Parameter display: a wl_display of somebody else's, which has to live as long as this.
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
  }

  deinit {
    // Objects keep this alive, so that there are none left.
    leaveDisplay()
    close(wakeDescriptor)
  }

  /// Uses the display no more, which may be disconnected then. Called when ``run()`` has returned and all objects have
  /// been destroyed.
  func leaveDisplay() {
    let isFirst = state.withLock { state in
      defer { state.isClosed = true }
      return !state.isClosed
    }
    guard isFirst else { return }
    wl_proxy_wrapper_destroy(UnsafeMutableRawPointer(wrapper))
    wl_event_queue_destroy(queue)
    if ownsDisplay { wl_display_disconnect(display) } else { wl_display_flush(display) }
  }

  // MARK: - From every thread

  /// Whether the compositor has gone, or has ended the connection because of an error.
  var isLost: Bool { state.withLock { $0.isLost } }

  /// Has the thread do something after what it was given before. Where it has ended, it is done at once.
  func perform(_ work: @escaping @Sendable () -> Void) {
    let (isDone, mustWake) = state.withLock { state in
      if !state.hasEnded { state.work.append(work) }
      // The thread itself does its work before it waits.
      let isThread = state.thread.map { pthread_equal($0, pthread_self()) != 0 } ?? false
      return (state.hasEnded && !state.isClosed, !isThread && state.work.count == 1)
    }
    if isDone { work() } else if mustWake { wake() }
  }

  /// The same, after some time. Nothing is done once the thread ends.
  ///
  /// - Parameter key: whose earlier work of this kind is not done any more; nil for none.
  func perform(after delay: Duration, insteadOf key: ObjectIdentifier? = nil, _ work: @escaping @Sendable () -> Void) {
    state.withLock { state in
      if let key { state.timers.removeAll { $0.key == key } }
      state.timers.append((.now.advanced(by: delay), key, work))
    }
    perform {}
  }

  /// Sends the compositor what it was asked for. What does not fit, the thread sends.
  func flush() {
    // A compositor that takes nothing has the thread wait until it does.
    if wl_display_flush(display) < 0, errno == EAGAIN { wake() }
  }

  /// Waits until the compositor has answered all that it was asked before. Not on the loop's own thread.
  ///
  /// - Returns: false when it has gone, or has not answered in time.
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

  /// Calls `answered`, on the loop's thread, when the compositor has answered all that it was asked before.
  ///
  /// - Returns: the question, to be kept until then.
  func ask(_ answered: @escaping @Sendable () -> Void) -> WaylandProxy? {
    make(.callback, from: wrapper, 0, [.new], version: 1, destructor: nil) { _, _ in answered() }
  }

  /// The registry of a connection.
  func makeRegistry(_ handler: @escaping WaylandProxy.Handler) -> WaylandProxy? {
    make(.registry, from: wrapper, 1, [.new], version: 1, destructor: nil, handler: handler)
  }

  /// Calls `handler` when the compositor has gone, on the loop's thread, or at once if it has.
  func onLoss(_ key: ObjectIdentifier, _ handler: @escaping @Sendable () -> Void) {
    let isLost = state.withLock { state in
      state.lostHandlers[key] = handler
      return state.isLost
    }
    if isLost { handler() }
  }

  func forgetLoss(_ key: ObjectIdentifier) { state.withLock { $0.lostHandlers[key] = nil } }

  /// Has ``run()`` return.
  func end() {
    state.withLock { $0.mustEnd = true }
    wake()
  }

  private func wake() { eventfd_write(wakeDescriptor, 1) }

  // MARK: - On the loop's thread

  /// Reads and dispatches until ``end()``. Once the compositor has gone it does nothing but its work.
  func run() {
    state.withLock { $0.thread = pthread_self() }
    while !state.withLock({ $0.mustEnd }) {
      work()
      if isLost { sleepUntilWoken() } else { readOnce(workByTime()) }
    }
    // What is given from here on is done by those who give it, after what is left.
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
      let work = state.withLock { state in
        defer { state.work = [] }
        return state.work
      }
      if work.isEmpty { return }
      for item in work { item() }
    }
  }

  /// Does what is due.
  ///
  /// - Returns: milliseconds until something else is; negative where nothing waits.
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
    // Not before it is due.
    return Int32(clamping: next.nanoseconds(since: .now) / 1_000_000 + 1)
  }

  private func sleepUntilWoken() {
    var descriptor = pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&descriptor, 1, -1)
    var count: UInt64 = 0
    eventfd_read(wakeDescriptor, &count)
  }

  /// - Parameter limit: how long to wait, in milliseconds; negative is as long as it takes.
  private func readOnce(_ limit: Int32) {
    while wl_display_prepare_read_queue(display, queue) != 0 {
      guard dispatch() else { return lose() }
    }
    // EAGAIN: the rest is sent when there is room.
    let isSent = wl_display_flush(display) >= 0
    // A compositor that has gone while there was something to send may still have sent its last words.
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
    // Whoever is making an object has its events handled first.
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
