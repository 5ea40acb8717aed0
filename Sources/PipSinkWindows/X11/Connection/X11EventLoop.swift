import CWindows
import Glibc
import PipSink

/// Waits for the events of an X connection on a thread of its own.
///
/// It waits on the connection's descriptor, so that the wait can be ended from outside. Code that has waited for an
/// answer or sent requests by calling XCB directly calls ``drain()`` or ``wake()`` afterwards, because XCB may have
/// read events at the same time. ``X11Connection/answer(_:)`` and ``X11Connection/flush()`` do that themselves.
///
/// `@unchecked Sendable`: everything that changes is behind a lock.
final class X11EventLoop: @unchecked Sendable {
  private let connection: X11Connection
  /// Called with each event, which is valid only during the call, or with nil when the server has gone. It returns
  /// whether it wants more events.
  private let handler: @Sendable (UnsafePointer<xcb_generic_event_t>?) -> Bool
  private let wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
  private let mustEnd = Locked(false)

  init(_ connection: X11Connection, handler: @escaping @Sendable (UnsafePointer<xcb_generic_event_t>?) -> Bool) {
    self.connection = connection
    self.handler = handler
    connection.onEventsTaken { [weak self] in self?.wake() }
  }

  deinit {
    close(wakeDescriptor)
  }

  /// Waits for events and handles them until ``end()``, or until the handler wants no more events. Nobody waits for the
  /// thread, because it may itself wait for a server that does not answer, when it reads the keyboard's layout.
  func run() {
    // Events that arrived before the thread started are handled first.
    var isOver = !drain()
    while !isOver, !mustEnd.withLock({ $0 }) {
      var descriptors = [
        pollfd(fd: xcb_get_file_descriptor(connection.pointer), events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&descriptors, 2, -1)
      var count: UInt64 = 0
      if descriptors[1].revents != 0 { eventfd_read(wakeDescriptor, &count) }
      isOver = !drain()
    }
  }

  /// Makes ``run()`` return.
  func end() {
    mustEnd.withLock { $0 = true }
    wake()
  }

  /// Makes the thread look for events that have arrived.
  func wake() { eventfd_write(wakeDescriptor, 1) }

  /// Handles the events that have arrived. It can be called on any thread.
  ///
  /// - Returns: false when no more events will be handled.
  @discardableResult
  func drain() -> Bool {
    while let event = connection.nextEvent() {
      defer { free(event) }
      guard handler(event) else { return false }
    }
    return connection.isBroken ? handler(nil) : true
  }
}

extension UnsafePointer<xcb_generic_event_t> {
  /// The number of the event's kind. The highest bit, which means that another client has sent the event, is removed.
  var kind: Int32 { Int32(pointee.response_type & 0x7f) }

  /// Returns a copy of the event as the structure of its kind. XCB allocates each event, so all of them are aligned.
  func read<Event>(as type: Event.Type) -> Event { UnsafeRawPointer(self).load(as: Event.self) }
}
