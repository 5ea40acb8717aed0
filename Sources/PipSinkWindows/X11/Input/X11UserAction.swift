import CWindows
import Glibc
import PipSink

/// The user's last action in one of PipSink's X11 windows.
///
/// A window manager lets a program bring a window to the user if the user's last action was in that program. The
/// program tells it the time of that action, and a toolkit only knows the actions in its own windows.
package enum X11UserAction {
  private struct State {
    var time: UInt32?
    var announced = 0
  }

  private static let state = Locked(State())

  /// The time of the last action in milliseconds of the server's clock, which starts again from 0 after 49 days. It is
  /// nil when there was no action yet. It can be read on any thread.
  package static var time: UInt32? { state.withLock { $0.time } }

  /// Records the time of an action.
  static func note(_ time: UInt32) { state.withLock { $0.time = time } }

  /// Returns the later of the last action's time and another time, where 0 means no time.
  package static func latest(_ other: UInt32) -> UInt32 {
    guard let time else { return other }
    return other == 0 || Int32(bitPattern: time &- other) > 0 ? time : other
  }

  /// Announces the action to the desktop as if it started a program (Startup Notification Protocol 0.1).
  ///
  /// This is for programs that also have Wayland windows. GNOME accepts the identifier of such a start as an
  /// xdg-activation token, which a Wayland program could otherwise get only for an action in one of its Wayland
  /// windows. The call waits for the server.
  ///
  /// - Returns: the identifier, once the server knows it, or nil when there was no action or no server can be reached.
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
    // The text is sent in pieces of twenty bytes, and ends with a zero byte (Startup Notification Protocol).
    let bytes = Array(text.utf8) + [0]
    for start in stride(from: 0, to: bytes.count, by: 20) {
      var event = xcb_client_message_event_t()
      event.response_type = UInt8(XCB_CLIENT_MESSAGE)
      event.format = 8
      event.window = window
      event.type = screen.atoms[start == 0 ? .startupInfoBegin : .startupInfo]
      withUnsafeMutableBytes(of: &event.data) { $0.copyBytes(from: bytes[start..<min(start + 20, bytes.count)]) }
      screen.sendToRoot(event, mask: UInt32(XCB_EVENT_MASK_PROPERTY_CHANGE.rawValue))
    }
    xcb_destroy_window(connection.pointer, window)
    connection.synchronize()
    return name
  }
}
