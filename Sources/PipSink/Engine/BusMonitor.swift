import CGStreamer

/// A thread that waits on a pipeline's bus, calls a handler for every message, and looks after things now and then.
final class BusMonitor: Sendable {
  private let thread: WorkerThread
  private let wake: @Sendable () -> Void
  private let isStopping: Locked<Bool>

  private static let stopName = "pipsink-stop-bus-monitor"

  /// - Parameters:
  ///   - interval: seconds from one tick to the next.
  ///   - tick: called on the monitor's thread.
  ///   - handler: called on the monitor's thread, one message at a time; the message is borrowed.
  /// - Returns: nil when the system refuses a thread.
  init?(
    pipeline: Pipeline, interval: Double, tick: @escaping @Sendable () -> Void,
    handler: @escaping @Sendable (UnsafeMutablePointer<GstMessage>) -> Void
  ) {
    let bus = Bus(of: pipeline)
    let isStopping = Locked(false)
    self.isStopping = isStopping
    wake = {
      gst_bus_post(bus.pointer, gst_message_new_application(nil, gst_structure_new_empty(Self.stopName)))
    }
    let thread = WorkerThread(name: "pipsink-bus") {
      var nextTick = MonotonicTime.now.advanced(bySeconds: interval)
      while true {
        let message = gst_bus_timed_pop(bus.pointer, GstClockTime(nextTick.nanoseconds(since: .now)))
        if MonotonicTime.now >= nextTick {
          tick()
          nextTick = MonotonicTime.now.advanced(bySeconds: interval)
        }
        guard let message else { continue }
        defer { gst_message_unref(message) }
        if gst_message_has_name(message, Self.stopName) != 0 { return }
        handler(message)
        // Stopped by the handler itself, the pipeline has closed the bus and no wake-up arrives.
        if isStopping.withLock({ $0 }) { return }
      }
    }
    guard let thread else { return nil }
    self.thread = thread
  }

  /// Ends the thread and waits for it; the handler is not called afterwards. Must come before the pipeline goes to
  /// NULL, which closes the bus.
  func stop() {
    isStopping.withLock { $0 = true }
    wake()
    thread.join()
  }

  /// `@unchecked Sendable`: a GstBus is made for use from all threads.
  private final class Bus: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GstBus>

    init(of pipeline: Pipeline) {
      pointer = gst_element_get_bus(pipeline.element)
    }

    deinit {
      gst_object_unref(pointer)
    }
  }
}
