import CGStreamer

/// The thread of a pipeline that runs: it alone changes the pipeline's state, and it reads the pipeline's bus.
///
/// A state change holds the element's state lock and may block for as long as the element likes: a source that
/// connects to a server that does not answer, for instance. Every other change of the same pipeline waits for that
/// lock. So whoever wants something leaves it here as work, and waits for it with a deadline or not at all.
///
/// `@unchecked Sendable`: the bus is constant and made for use from all threads; everything else is behind a lock.
final class PipelineThread: @unchecked Sendable {
  /// What others want of the thread.
  struct Work {
    var isStopping = false
    /// Whether the pipeline is to be brought to the state that is wanted now.
    var mustSettle = false
    /// Whether decoders are to stand still or to go on, as is wanted now.
    var mustUpdateDecoding = false
    /// Each is called once: on the thread, or with false where that has come to its end.
    var calls: [@Sendable (_ isRunning: Bool) -> Void] = []

    var isEmpty: Bool { !isStopping && !mustSettle && !mustUpdateDecoding && calls.isEmpty }
  }

  private struct State {
    var work = Work()
    var hasEnded = false

    /// The wish to stop stays.
    mutating func takeWork() -> Work {
      defer { work = Work(isStopping: work.isStopping) }
      return work
    }
  }

  private let state = Locked(State())
  private let bus: UnsafeMutablePointer<GstBus>
  private let thread = Locked<WorkerThread?>(nil)
  private let clock: SchedulingClock

  /// - Parameter clock: what ticks are waited for by.
  init(of pipeline: Pipeline, clock: SchedulingClock) {
    bus = gst_element_get_bus(pipeline.element)
    self.clock = clock
  }

  deinit { gst_object_unref(bus) }

  /// Starts the thread, which keeps what `body` keeps until it ends.
  ///
  /// - Throws: ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``.
  func start(_ body: @escaping @Sendable () -> Void) throws(PipSinkError) {
    guard let worker = WorkerThread(name: "pipsink-bus", body: body) else { throw ResourceLimits.threadRefused }
    thread.withLock { $0 = worker }
  }

  /// Whether the caller is on this thread.
  var isCurrent: Bool { thread.withLock { $0 }?.isCurrent ?? false }

  /// Waits for the thread's end, which has to be near. Does nothing on the thread itself.
  func join() { thread.withLock { $0 }?.join() }

  /// Leaves work for the thread. Never waits for what the thread does.
  func want(_ change: (inout Work) -> Void) {
    let (isNew, late) = state.withLock { state in
      let wasEmpty = state.work.isEmpty
      change(&state.work)
      guard state.hasEnded else { return (wasEmpty && !state.work.isEmpty, Work()) }
      defer { state.work = Work(isStopping: true) }
      return (false, state.work)
    }
    for call in late.calls { call(false) }
    state.wakeAll()
    // One message is enough, however much work there is: the bus is not read while a state change blocks.
    if isNew { wake() }
  }

  /// Has the thread look for work where it waits for a message.
  private func wake() { gst_bus_post(bus, BusNote.work.message()) }

  var isStopping: Bool { state.withLock { $0.work.isStopping } }

  // MARK: - On the thread

  /// Does the work that others leave, calls a handler for every message on the bus, and looks after things now and
  /// then, until it is to stop. What has been posted by then is handled.
  ///
  /// - Parameters:
  ///   - interval: the time from one tick to the next.
  ///   - handler: called for one message at a time, which is borrowed.
  func serve(
    interval: Duration, perform: (Work) -> Void, tick: () -> Void, handler: (UnsafeMutablePointer<GstMessage>) -> Void
  ) {
    var nextTick = clock.moment(in: interval)
    var lastMessages = 256
    while lastMessages > 0 {
      // Before the bus is waited for: the message of work that came while the pipeline was in NULL is lost.
      let work = takeWork()
      if work.isStopping { lastMessages -= 1 } else if !work.isEmpty { perform(work) }
      let message = work.isStopping ? gst_bus_pop(bus) : waitForMessage(until: nextTick)
      defer { if let message { gst_message_unref(message) } }
      if message == nil, work.isStopping { return }
      if clock.now >= nextTick {
        tick()
        nextTick = clock.moment(in: interval)
      }
      if let message, !BusNote.work.isIn(message) { handler(message) }
    }
  }

  private func waitForMessage(until moment: MonotonicTime) -> UnsafeMutablePointer<GstMessage>? {
    clock.wait(
      until: moment, wokenBy: { [self] in wake() },
      body: { gst_bus_timed_pop(bus, GstClockTime($0.nanoseconds(since: .now))) })
  }

  /// Waits for nothing but the stop.
  func waitForStop() {
    while !isStopping {
      for call in state.wait(for: { $0.work.isEmpty ? nil : $0.takeWork() }).calls { call(false) }
    }
  }

  /// From here on nothing is done.
  func end() {
    let work = state.withLock { state in
      state.hasEnded = true
      return state.takeWork()
    }
    for call in work.calls { call(false) }
  }

  private func takeWork() -> Work { state.withLock { $0.takeWork() } }
}
