import CWindows
import PipSink

/// What happens to a window, as its server tells it.
enum X11WindowEvent: Sendable {
  /// Where the pointer is, in pixels: in the window, and on the screen.
  struct Place: Sendable {
    let x: Int
    let y: Int
    let screenX: Int
    let screenY: Int
  }

  case resized(PictureSize)
  case exposed
  /// `time` is the server's, in milliseconds.
  case pressed(button: Int, Place, time: UInt32)
  case released(button: Int, Place)
  case moved(Place)
  case entered
  case left
  /// A key was pressed; by its keysym.
  case key(UInt32)
  /// The window manager was asked to close the window.
  case closeRequested
  case stateChanged
  /// Monitors, panels or the workspace are others.
  case screenChanged
  /// The window has been destroyed, or its server or its connection has gone.
  case lost
}

/// Reads a window's events, on the thread on which they come.
///
/// `@unchecked Sendable`: the thread that reads events uses it, and nobody else.
final class X11WindowEvents: @unchecked Sendable {
  private let screen: X11Screen
  private let window: UInt32
  private let randrEvent: UInt8?
  private lazy var keyboard = X11Keyboard(screen.connection)

  init(_ screen: X11Screen, window: UInt32) {
    self.screen = screen
    self.window = window
    randrEvent = pipsink_randr_extension(screen.connection.pointer).flatMap {
      $0.pointee.present != 0 ? $0.pointee.first_event : nil
    }
  }

  /// - Parameter event: nil when the server has gone.
  /// - Returns: nil where the event means nothing.
  func meaning(of event: UnsafePointer<xcb_generic_event_t>?) -> X11WindowEvent? {
    guard let event else { return .lost }
    switch event.kind {
    case XCB_CONFIGURE_NOTIFY:
      let event = event.read(as: xcb_configure_notify_event_t.self)
      return event.window == window
        ? .resized(PictureSize(width: Int(event.width), height: Int(event.height))) : nil
    case XCB_EXPOSE: return event.read(as: xcb_expose_event_t.self).count == 0 ? .exposed : nil
    case XCB_BUTTON_PRESS, XCB_BUTTON_RELEASE:
      // Both have the same fields.
      let button = event.read(as: xcb_button_press_event_t.self)
      X11UserAction.note(button.time)
      let place = place(button.event_x, button.event_y, button.root_x, button.root_y)
      return event.kind == XCB_BUTTON_PRESS
        ? .pressed(button: Int(button.detail), place, time: button.time) : .released(button: Int(button.detail), place)
    case XCB_MOTION_NOTIFY:
      let motion = event.read(as: xcb_motion_notify_event_t.self)
      return .moved(place(motion.event_x, motion.event_y, motion.root_x, motion.root_y))
    case XCB_ENTER_NOTIFY: return .entered
    case XCB_LEAVE_NOTIFY:
      // A button that is held keeps the pointer.
      let mode = event.read(as: xcb_leave_notify_event_t.self).mode
      return mode == UInt8(XCB_NOTIFY_MODE_NORMAL.rawValue) ? .left : nil
    case XCB_KEY_PRESS:
      let key = event.read(as: xcb_key_press_event_t.self)
      X11UserAction.note(key.time)
      let keysym = keyboard.keysym(of: key.detail, modifiers: key.state)
      return keysym == 0 ? nil : .key(keysym)
    case XCB_MAPPING_NOTIFY:
      keyboard.reload()
      return nil
    case XCB_CLIENT_MESSAGE: return meaning(of: event.read(as: xcb_client_message_event_t.self))
    case XCB_PROPERTY_NOTIFY:
      let property = event.read(as: xcb_property_notify_event_t.self)
      if property.window == window { return property.atom == screen.atoms[.state] ? .stateChanged : nil }
      let isScreens = [screen.atoms[.workArea], screen.atoms[.currentDesktop]].contains(property.atom)
      return isScreens ? .screenChanged : nil
    case XCB_DESTROY_NOTIFY:
      return event.read(as: xcb_destroy_notify_event_t.self).window == window ? .lost : nil
    default: return event.pointee.response_type & 0x7f == randrEvent ? .screenChanged : nil
    }
  }

  private func place(_ x: Int16, _ y: Int16, _ screenX: Int16, _ screenY: Int16) -> X11WindowEvent.Place {
    X11WindowEvent.Place(x: Int(x), y: Int(y), screenX: Int(screenX), screenY: Int(screenY))
  }

  private func meaning(of message: xcb_client_message_event_t) -> X11WindowEvent? {
    guard message.type == screen.atoms[.wmProtocols], message.format == 32 else { return nil }
    if message.data.data32.0 == screen.atoms[.wmDeleteWindow] { return .closeRequested }
    if message.data.data32.0 == screen.atoms[.ping] {
      var answer = message
      answer.window = screen.root
      let mask = XCB_EVENT_MASK_SUBSTRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_SUBSTRUCTURE_REDIRECT.rawValue
      withUnsafeBytes(of: &answer) { bytes in
        _ = xcb_send_event(
          screen.connection.pointer, 0, screen.root, UInt32(mask),
          bytes.baseAddress?.assumingMemoryBound(to: CChar.self))
      }
      screen.connection.flush()
    }
    return nil
  }
}
