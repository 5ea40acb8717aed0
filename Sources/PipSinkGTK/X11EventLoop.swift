import CGTK
import Glibc
import PipSink

/// Waits for what happens to one window, on a thread of its own.
///
/// XNextEvent is called only when there is an event: libX11 1.8.4 reads through a null pointer when the server goes
/// away while it waits. So the wait is on the connection's descriptor, and whoever speaks to the server calls
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
  private let windowID: UInt
  private let handler: @Sendable (Event) -> Void
  private let wakeDescriptor = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
  private let mustEnd = Locked(false)

  init(connection: X11Connection, windowID: UInt, handler: @escaping @Sendable (Event) -> Void) {
    self.connection = connection
    self.windowID = windowID
    self.handler = handler
  }

  deinit {
    close(wakeDescriptor)
  }

  /// Waits and handles until the window or its server has gone, or until ``end()``.
  func run() {
    while !mustEnd.withLock({ $0 }) {
      var descriptors = [
        pollfd(fd: XConnectionNumber(connection.display), events: Int16(POLLIN), revents: 0),
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
    while true {
      var next = XEvent()
      let isThere = connection.use {
        guard XPending(connection.display) > 0 else { return false }
        XNextEvent(connection.display, &next)
        return true
      }
      guard isThere == true else { break }
      if let event = meaning(of: next) {
        handler(event)
        if case .lost = event { return false }
      }
    }
    guard connection.isBroken else { return true }
    handler(.lost)
    return false
  }

  private func meaning(of event: XEvent) -> Event? {
    switch event.type {
    case ConfigureNotify where event.xconfigure.window == windowID:
      .resized(PictureSize(width: Int(event.xconfigure.width), height: Int(event.xconfigure.height)))
    case MapNotify: .mapped(true)
    case UnmapNotify: .mapped(false)
    case VisibilityNotify: .obscured(event.xvisibility.state == VisibilityFullyObscured)
    case Expose where event.xexpose.count == 0: .exposed
    case DestroyNotify where event.xdestroywindow.window == windowID: .lost
    default: nil
    }
  }
}
