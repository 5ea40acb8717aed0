import CWindows
import Glibc
import PipSink

/// What the user has done last in one of our X11 windows.
///
/// Window managers show a window that a program wants to have shown if the user did something in that program last; the
/// program says when that was, and a toolkit knows only what was done in its own windows.
package enum X11UserAction {
  private struct State {
    var time: UInt32?
    var announced = 0
  }

  private static let state = Locked(State())

  /// In milliseconds, by the server's clock, which begins again after 49 days; nil when nothing was done yet.
  package static var time: UInt32? { state.withLock { $0.time } }

  static func note(_ time: UInt32) { state.withLock { $0.time = time } }

  /// The later of the last time and another one.
  package static func latest(_ other: UInt32) -> UInt32 {
    guard let time else { return other }
    return other == 0 || Int32(bitPattern: time &- other) > 0 ? time : other
  }

  /// Announces the action to a desktop of which the program has Wayland windows, too, as if it began a program (Startup
  /// Notification Protocol 0.1). GNOME takes the name of such a beginning for a token of xdg-activation, for which
  /// Wayland programs else need an action in one of their Wayland windows.
  ///
  /// - Returns: the name, once the server knows of it; nil when the user has done nothing, or no server can be reached.
  package static func announce() -> String? {
    guard let time, let connection = X11Connection(nil),
      let screen = X11Screen(connection, number: connection.screenNumber)
    else { return nil }
    let number = state.withLock { state in
      state.announced += 1
      return state.announced
    }
    let name = "pipsink-\(getpid())-\(number)_TIME\(time)"
    let window = xcb_generate_id(connection.pointer)
    xcb_create_window(
      connection.pointer, 0, window, screen.root, -1, -1, 1, 1, 0, UInt16(XCB_WINDOW_CLASS_INPUT_ONLY.rawValue), 0, 0,
      nil)
    let text = "new: ID=\"\(name)\" NAME=\"\(WindowIdentity.title)\" SCREEN=\(connection.screenNumber)"
    // A text in pieces of twenty bytes, the last of which ends with a zero.
    let bytes = Array(text.utf8) + [0]
    for start in stride(from: 0, to: bytes.count, by: 20) {
      var event = xcb_client_message_event_t()
      event.response_type = UInt8(XCB_CLIENT_MESSAGE)
      event.format = 8
      event.window = window
      event.type = screen.atoms[start == 0 ? .startupInfoBegin : .startupInfo]
      withUnsafeMutableBytes(of: &event.data) { $0.copyBytes(from: bytes[start..<min(start + 20, bytes.count)]) }
      withUnsafeBytes(of: &event) { event in
        _ = xcb_send_event(
          connection.pointer, 0, screen.root, UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue),
          event.baseAddress?.assumingMemoryBound(to: CChar.self))
      }
    }
    xcb_destroy_window(connection.pointer, window)
    connection.synchronize()
    return name
  }
}
