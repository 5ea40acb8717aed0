import CGStreamer

/// The thread of a running pipeline. It alone changes the pipeline's state, and it handles the messages on the pipeline's
/// bus.
///
/// A state change holds the element's state lock and may block for any time, for instance in a source that waits for a
/// server that does not answer. Every other state change of the same pipeline waits for that lock. So other threads
/// leave their requests here as work, and wait for it with a deadline or not at all.
///
/// Messages are taken from the bus on the threads that post them, and wait here. The bus has a queue of its own, which
/// may lose some (seen with GStreamer 1.22). By its source, it does so when it grows while several threads post: the
/// reader goes on to the new part although a place in the old one is reserved and not filled yet.
final class PipelineThread: Sendable {
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
    /// The messages, each with a reference, in the order in which they were posted. Those before `next` are taken.
    var messages: [Message] = []
    var next = 0

    mutating func takeMessage() -> Message? {
      guard next < messages.count else { return nil }
      defer {
        next += 1
        if next == messages.count || next >= 1024 {
          messages.removeFirst(next)
          next = 0
        }
      }
      return messages[next]
    }

    /// Removes and returns all messages.
    mutating func takeMessages() -> ArraySlice<Message> {
      defer { (messages, next) = ([], 0) }
      return messages[next...]
    }

    /// Removes and returns the work. A request to stop stays.
    mutating func takeWork() -> Work {
      defer { work = Work(isStopping: work.isStopping) }
      return work
    }
  }

  /// A message, which any thread may release.
  private struct Message: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstMessage>
  }

  /// The frames that the pipeline's elements drop.
  let lateFrames = LateFrames()
  private let state = Locked(State())
  private let thread = Locked<WorkerThread?>(nil)
  private let clock: SchedulingClock

  /// - Parameters:
  ///   - pipeline: is not retained. Its bus retains the thread.
  ///   - clock: measures the time between ticks.
  init(of pipeline: GstElementPointer, clock: SchedulingClock) {
    self.clock = clock
    guard let bus = gst_element_get_bus(pipeline) else { return }
    defer { gst_object_unref(bus) }
    gst_bus_set_sync_handler(
      bus,
      { _, message, context in
        guard let message, let context else { return GST_BUS_PASS }
        Unmanaged<PipelineThread>.fromOpaque(context)._withUnsafeGuaranteedRef { $0.take(message) }
        return GST_BUS_DROP
      }, Unmanaged.passRetained(self).toOpaque(),
      { context in if let context { Unmanaged<PipelineThread>.fromOpaque(context).release() } })
  }

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
    let late = state.withLock { state in
      change(&state.work)
      guard state.hasEnded else { return Work() }
      defer { state.work = Work(isStopping: true) }
      return state.work
    }
    for call in late.calls { call(false) }
    state.wakeAll()
  }

  /// Takes over a message, on the thread that posts it. A source that is far behind has a QoS message for each of its
  /// frames, so these are counted here. Messages that come after the end are dropped.
  private func take(_ message: UnsafeMutablePointer<GstMessage>) {
    if message.pointee.type == GST_MESSAGE_QOS {
      lateFrames.note(message)
      return gst_message_unref(message)
    }
    let isTaken = state.withLock { state in
      if !state.hasEnded { state.messages.append(Message(pointer: message)) }
      return !state.hasEnded
    }
    if isTaken { state.wakeAll() } else { gst_message_unref(message) }
  }

  /// Drops all messages. Those about an earlier attempt to start the pipeline are of no use in the next one.
  func forgetMessages() {
    for message in state.withLock({ $0.takeMessages() }) { gst_message_unref(message.pointer) }
  }

  /// Removes the first error, and the messages before it.
  ///
  /// - Returns: the message, which the caller owns; nil where there is none.
  func takeFirstError() -> UnsafeMutablePointer<GstMessage>? {
    while let message = state.withLock({ $0.takeMessage() })?.pointer {
      if message.pointee.type == GST_MESSAGE_ERROR { return message }
      gst_message_unref(message)
    }
    return nil
  }

  var isStopping: Bool { state.withLock { $0.work.isStopping } }

  // MARK: - On the thread

  /// Does the work of other threads, handles the messages and ticks, until it is to stop. Messages that have been posted
  /// by then are still handled.
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
      let (work, message) = waitForWork(until: nextTick)
      defer { if let message { gst_message_unref(message) } }
      if work.isStopping {
        lastMessages -= 1
        for call in work.calls { call(false) }
        if message == nil { return }
      } else if !work.isEmpty {
        perform(work)
      }
      if clock.now >= nextTick {
        tick()
        nextTick = clock.moment(in: interval)
      }
      if let message { handler(message) }
    }
  }

  /// Waits until there is work, or a message, which the caller owns then; or for the moment.
  private func waitForWork(until moment: MonotonicTime) -> (Work, UnsafeMutablePointer<GstMessage>?) {
    let next = state.wait(until: moment, by: clock) { state -> (Work, Message?)? in
      let message = state.takeMessage()
      return message == nil && state.work.isEmpty ? nil : (state.takeWork(), message)
    }
    return (next?.0 ?? Work(), next?.1?.pointer)
  }

  /// Waits for a request to stop, and refuses all other work.
  func waitForStop() {
    while !isStopping {
      for call in state.wait(for: { $0.work.isEmpty ? nil : $0.takeWork() }).calls { call(false) }
    }
  }

  /// Ends the thread's service. Work that is left, now and later, is refused, and messages are dropped.
  func end() {
    let work = state.withLock { state in
      state.hasEnded = true
      return state.takeWork()
    }
    forgetMessages()
    for call in work.calls { call(false) }
  }

  private func takeWork() -> Work { state.withLock { $0.takeWork() } }
}
