import CWindows
import Glibc
import PipSink

/// Waits for what an X server says on a connection, on a thread of its own.
///
/// The wait is on the connection's descriptor, which can be ended from outside. Whoever has waited for an answer of the
/// server, or has sent something, by a function of XCB calls ``drain()`` or ``wake()`` afterwards: XCB may have taken
/// events along. ``X11Connection/answer(_:)`` and ``X11Connection/flush()`` do it by themselves.
///
/// `@unchecked Sendable`: constant but for what is behind the lock.
final class X11EventLoop: @unchecked Sendable {
  private let connection: X11Connection
  /// Gets an event for the time of the call, or nil when the server has gone; returns whether more are wanted.
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

  /// Waits and handles until ``end()``. Once the handler wants no more it only waits: the thread is there as long as
  /// whoever joins it.
  func run() {
    // What has come before the thread.
    var isOver = !drain()
    while !mustEnd.withLock({ $0 }) {
      // A negative descriptor is passed over.
      var descriptors = [
        pollfd(
          fd: isOver ? -1 : xcb_get_file_descriptor(connection.pointer), events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&descriptors, 2, -1)
      var count: UInt64 = 0
      if descriptors[1].revents != 0 { eventfd_read(wakeDescriptor, &count) }
      if !isOver { isOver = !drain() }
    }
  }

  func end() {
    mustEnd.withLock { $0 = true }
    wake()
  }

  /// Has the thread look at what has arrived.
  func wake() { eventfd_write(wakeDescriptor, 1) }

  /// Handles what has arrived.
  ///
  /// - Returns: false when nothing more will.
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
  /// The highest bit of an event's number says that another client has sent it.
  var kind: Int32 { Int32(pointee.response_type & 0x7f) }

  /// XCB allocates each event, so that all of them are aligned.
  func read<Event>(as type: Event.Type) -> Event { UnsafeRawPointer(self).load(as: Event.self) }
}
