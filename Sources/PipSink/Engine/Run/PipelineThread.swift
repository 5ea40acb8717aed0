import CGStreamer

/// The thread of a running pipeline. It alone changes the pipeline's state, and it reads the pipeline's bus.
///
/// A state change holds the element's state lock and may block for any time, for instance in a source that waits for a
/// server that does not answer. Every other state change of the same pipeline waits for that lock. So other threads
/// leave their requests here as work, and wait for it with a deadline or not at all.
///
/// `@unchecked Sendable`: the bus is constant and may be used from all threads; everything else is behind a lock.
final class PipelineThread: @unchecked Sendable {
  /// Requests to the thread.
  struct Work {
    var isStopping = false
    /// Whether to bring the pipeline to its wanted state.
    var mustUpdateState = false
    /// Whether to suspend and resume decoders according to the current settings.
    var mustUpdateDecoding = false
    /// Closures to call, each once: on the thread with true, or with false when the thread has ended.
    var calls: [@Sendable (_ isRunning: Bool) -> Void] = []

    var isEmpty: Bool { !isStopping && !mustUpdateState && !mustUpdateDecoding && calls.isEmpty }
  }

  private struct State {
    var work = Work()
    var hasEnded = false

    /// Removes and returns the work. A request to stop stays.
    mutating func takeWork() -> Work {
      defer { work = Work(isStopping: work.isStopping) }
      return work
    }
  }

  private let state = Locked(State())
  private let bus: UnsafeMutablePointer<GstBus>
  private let thread = Locked<WorkerThread?>(nil)
  private let clock: SchedulingClock

  /// - Parameters:
  ///   - pipeline: is not retained.
  ///   - clock: measures the time between ticks.
  init(of pipeline: Pipeline, clock: SchedulingClock) {
    bus = gst_element_get_bus(pipeline.element)
    self.clock = clock
  }

  deinit { gst_object_unref(bus) }

  /// Starts the thread, which retains `body` until it ends.
  ///
  /// - Throws: ``PipSinkError/System/resourceExhausted(_:inUse:limit:)``.
  func start(_ body: @escaping @Sendable () -> Void) throws(PipSinkError) {
    guard let worker = WorkerThread(name: "pipsink-bus", body: body) else { throw ResourceLimits.threadRefused }
    thread.withLock { $0 = worker }
  }

  /// Joins the thread, which must be about to end. Does nothing on the thread itself.
  func join() { thread.withLock { $0 }?.join() }

  /// Leaves work for the thread, without waiting for it.
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
    // One message is enough for any amount of work: the bus is not read while a state change blocks.
    if isNew { wake() }
  }

  /// Wakes the thread when it waits for a message.
  private func wake() { gst_bus_post(bus, BusNote.work.message()) }

  var isStopping: Bool { state.withLock { $0.work.isStopping } }

  // MARK: - On the thread

  /// Does the work of other threads, handles the messages on the bus and ticks, until it is to stop. Messages that have
  /// been posted by then are still handled.
  ///
  /// - Parameters:
  ///   - interval: the time between two ticks.
  ///   - perform: does work.
  ///   - tick: is called at every tick.
  ///   - handler: handles one message, which is borrowed.
  func serve(
    interval: Duration, perform: (Work) -> Void, tick: () -> Void, handler: (UnsafeMutablePointer<GstMessage>) -> Void
  ) {
    var nextTick = clock.moment(in: interval)
    var lastMessages = 256
    while lastMessages > 0 {
      // This comes before the wait for the bus, since a message that was posted while the pipeline was in NULL is lost.
      let work = takeWork()
      if work.isStopping {
        lastMessages -= 1
        for call in work.calls { call(false) }
      } else if !work.isEmpty {
        perform(work)
      }
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

  /// Waits for a request to stop, and refuses all other work.
  func waitForStop() {
    while !isStopping {
      for call in state.wait(for: { $0.work.isEmpty ? nil : $0.takeWork() }).calls { call(false) }
    }
  }

  /// Ends the thread's service. Work that is left, now and later, is refused.
  func end() {
    let work = state.withLock { state in
      state.hasEnded = true
      return state.takeWork()
    }
    for call in work.calls { call(false) }
  }

  private func takeWork() -> Work { state.withLock { $0.takeWork() } }
}
