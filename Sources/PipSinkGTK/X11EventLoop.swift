import CGTK
import Glibc
import PipSink

/// Waits for what happens to one window, on a thread of its own.
///
/// The wait is on the connection's descriptor, which can be ended from outside. Whoever speaks to the server calls
/// ``drain()`` afterwards, since the answer may have brought events along.
///
/// `@unchecked Sendable`: constant but for what is behind the lock.
final class X11EventLoop: @unchecked Sendable {
  enum Event {
    case resized(PictureSize)
    case mapped(Bool)
    case obscured(Bool)
    case exposed
    /// The window has been destroyed, or the server has gone.
    case lost
  }

  private let connection: X11Connection
  private let window: UInt32
  private let handler: @Sendable (Event) -> Void
  private let wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
  private let mustEnd = Locked(false)

  init(connection: X11Connection, window: UInt32, handler: @escaping @Sendable (Event) -> Void) {
    self.connection = connection
    self.window = window
    self.handler = handler
  }

  deinit {
    close(wakeDescriptor)
  }

  /// Waits and handles until the window or its server has gone, or until ``end()``.
  func run() {
    while !mustEnd.withLock({ $0 }) {
      var descriptors = [
        pollfd(fd: xcb_get_file_descriptor(connection.pointer), events: Int16(POLLIN), revents: 0),
        pollfd(fd: wakeDescriptor, events: Int16(POLLIN), revents: 0),
      ]
      _ = poll(&descriptors, 2, -1)
      guard drain() else { return }
    }
  }

  func end() {
    mustEnd.withLock { $0 = true }
    eventfd_write(wakeDescriptor, 1)
  }

  /// Handles what has arrived.
  ///
  /// - Returns: false when nothing more will.
  @discardableResult
  func drain() -> Bool {
    while let next = connection.nextEvent() {
      defer { free(next) }
      guard let event = meaning(of: next) else { continue }
      handler(event)
      if case .lost = event { return false }
    }
    guard connection.isBroken else { return true }
    handler(.lost)
    return false
  }

  private func meaning(of event: UnsafeMutablePointer<xcb_generic_event_t>) -> Event? {
    let bytes = UnsafeRawPointer(event)
    // The highest bit says that another client has sent it.
    switch Int32(event.pointee.response_type & 0x7f) {
    case XCB_CONFIGURE_NOTIFY:
      let event = bytes.loadUnaligned(as: xcb_configure_notify_event_t.self)
      return event.window == window
        ? .resized(PictureSize(width: Int(event.width), height: Int(event.height))) : nil
    case XCB_MAP_NOTIFY: return .mapped(true)
    case XCB_UNMAP_NOTIFY: return .mapped(false)
    case XCB_VISIBILITY_NOTIFY:
      let state = bytes.loadUnaligned(as: xcb_visibility_notify_event_t.self).state
      return .obscured(state == UInt8(XCB_VISIBILITY_FULLY_OBSCURED.rawValue))
    case XCB_EXPOSE: return bytes.loadUnaligned(as: xcb_expose_event_t.self).count == 0 ? .exposed : nil
    case XCB_DESTROY_NOTIFY:
      return bytes.loadUnaligned(as: xcb_destroy_notify_event_t.self).window == window ? .lost : nil
    default: return nil
    }
  }
}
