import CWindows
import PipSink

/// Translates a window's X events to ``WindowEvent``, on the thread that reads them.
///
/// `@unchecked Sendable`: only the thread that reads events uses it, except for ``signs``, which has a lock.
final class X11WindowEvents: @unchecked Sendable {
  private let screen: X11Screen
  private let window: UInt32
  private lazy var keyboard = X11Keyboard(screen.connection)
  /// What the events say about whether the user can see the window.
  let signs = Locked(BackgroundSigns())
  /// The upper left corner of the window on the screen, in pixels, as the server or the window manager has reported it
  /// last.
  let origin = Locked<SIMD2<Int>?>(nil)
  private var isInFrame = false
  /// What the desktop's settings say.
  let settings = Locked(Settings())
  /// The window that has the desktop's settings, or 0.
  private var settingsOwner: UInt32 = 0
  /// The window's size as the server has reported it, in pixels.
  private var size: PictureSize?

  struct Settings: Equatable {
    var scale = 1
    var animates = true
    /// By what factor texts are larger than usual; nil where no program says that.
    var textScale: Double?
  }

  init(_ screen: X11Screen, window: UInt32) {
    self.screen = screen
    self.window = window
    readSettings()
  }

  /// Reads the desktop's settings, which may have changed, or belong to another program.
  ///
  /// - Returns: an event that says so when what is in the window has another scale now.
  @discardableResult
  private func readSettings() -> WindowEvent? {
    let (owner, settings) = screen.watchSettings()
    settingsOwner = owner
    let new = Settings(
      scale: screen.scale(settings), animates: settings.numbers["Gtk/EnableAnimations"] != 0,
      textScale: settings.numbers["Gdk/UnscaledDPI"].map { DesktopLook.textScale(resolution: $0) })
    let isScaled = self.settings.withLock { settings in
      defer { settings = new }
      return settings.scale != new.scale || settings.textScale != new.textScale
    }
    return isScaled ? size.map { .resized($0) } : nil
  }

  /// Translates one event.
  ///
  /// - Parameter event: the event, or nil when the server has gone.
  /// - Returns: nil for an event that has no meaning for the window.
  func meaning(of event: UnsafePointer<xcb_generic_event_t>?) -> WindowEvent? {
    guard let event else { return .lost }
    switch event.kind {
    case XCB_CONFIGURE_NOTIFY:
      let event = event.read(as: xcb_configure_notify_event_t.self)
      if event.window == screen.root { return .screenChanged }
      guard event.window == window else { return nil }
      let size = PictureSize(width: Int(event.width), height: Int(event.height))
      self.size = size
      // In a frame, the server reports the place in that. The window manager sends the one on the screen (ICCCM 4.1.5).
      let isFromManager = event.response_type & 0x80 != 0
      if isFromManager || !isInFrame { origin.withLock { $0 = [Int(event.x), Int(event.y)] } }
      return .resized(size)
    case XCB_REPARENT_NOTIFY:
      isInFrame = event.read(as: xcb_reparent_notify_event_t.self).parent != screen.root
      return nil
    case XCB_EXPOSE: return event.read(as: xcb_expose_event_t.self).count == 0 ? .exposed : nil
    case XCB_BUTTON_PRESS, XCB_BUTTON_RELEASE:
      // Press and release events have the same fields.
      let button = event.read(as: xcb_button_press_event_t.self)
      X11UserAction.note(button.time)
      let place = place(button.event_x, button.event_y, button.root_x, button.root_y)
      let isPress = event.kind == XCB_BUTTON_PRESS
      // X reports steps of the wheel as the buttons 4 to 7: up, down, left and right.
      switch button.detail {
      case 4...7:
        let step = button.detail % 2 == 0 ? -1.0 : 1
        guard isPress else { return nil }
        return button.detail < 6 ? .scrolled(place, deltaX: 0, deltaY: step) : .scrolled(place, deltaX: step, deltaY: 0)
      default:
        return isPress
          ? .pressed(button: Int(button.detail), place, time: button.time)
          : .released(button: Int(button.detail), place)
      }
    case XCB_MOTION_NOTIFY:
      let motion = event.read(as: xcb_motion_notify_event_t.self)
      return .moved(place(motion.event_x, motion.event_y, motion.root_x, motion.root_y))
    case XCB_ENTER_NOTIFY:
      let event = event.read(as: xcb_enter_notify_event_t.self)
      return .entered(place(event.event_x, event.event_y, event.root_x, event.root_y))
    case XCB_LEAVE_NOTIFY:
      let event = event.read(as: xcb_leave_notify_event_t.self)
      // A leave event is ignored when it comes from a grab of the pointer, or when the pointer enters a child window.
      let isInside = event.detail == UInt8(XCB_NOTIFY_DETAIL_INFERIOR.rawValue)
      return event.mode == UInt8(XCB_NOTIFY_MODE_NORMAL.rawValue) && !isInside ? .left : nil
    case XCB_KEY_PRESS:
      let key = event.read(as: xcb_key_press_event_t.self)
      X11UserAction.note(key.time)
      return keyboard.key(key).map { .key($0) }
    case XCB_KEY_RELEASE, XCB_MAPPING_NOTIFY:
      keyboard.note(event)
      return nil
    case XCB_FOCUS_IN, XCB_FOCUS_OUT:
      // The keyboard is asked about its events before its first key is pressed.
      keyboard.note(event)
      // A grab of the keyboard, for instance by a shortcut, does not change the focus.
      guard event.read(as: xcb_focus_in_event_t.self).mode == UInt8(XCB_NOTIFY_MODE_NORMAL.rawValue) else { return nil }
      let isHere = event.kind == XCB_FOCUS_IN
      signs.withLock { $0.isFocused = isHere }
      return .keyboard(isHere)
    case XCB_MAP_NOTIFY, XCB_UNMAP_NOTIFY, XCB_VISIBILITY_NOTIFY: return note(event) ? .stateChanged : nil
    case XCB_CLIENT_MESSAGE: return meaning(of: event.read(as: xcb_client_message_event_t.self))
    case XCB_PROPERTY_NOTIFY:
      let property = event.read(as: xcb_property_notify_event_t.self)
      let isState = [.state, .desktop, .wmState].contains { property.atom == screen.atoms[$0] }
      if property.window == window { return isState ? .stateChanged : nil }
      if property.window == settingsOwner || property.atom == UInt32(XCB_ATOM_RESOURCE_MANAGER.rawValue) {
        return readSettings()
      }
      if property.atom == screen.atoms[.showingDesktop] { return .stateChanged }
      // The list of windows changes when a panel appears.
      let isScreens = [.workArea, .currentDesktop, .clientList].contains { property.atom == screen.atoms[$0] }
      return isScreens ? .screenChanged : nil
    case XCB_DESTROY_NOTIFY:
      let destroyed = event.read(as: xcb_destroy_notify_event_t.self).window
      return destroyed == window ? .lost : destroyed == settingsOwner ? readSettings() : nil
    default:
      if event.pointee.response_type & 0x7f == screen.connection.monitorEventBase { return .screenChanged }
      keyboard.note(event)
      return nil
    }
  }

  /// Updates ``signs`` from an event.
  ///
  /// - Returns: whether anything has changed.
  private func note(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
    signs.withLock { signs in
      let old = (signs.isMapped, signs.isObscured)
      switch event.kind {
      case XCB_MAP_NOTIFY:
        if event.read(as: xcb_map_notify_event_t.self).window == window { signs.isMapped = true }
      case XCB_UNMAP_NOTIFY:
        if event.read(as: xcb_unmap_notify_event_t.self).window == window { signs.isMapped = false }
      case XCB_VISIBILITY_NOTIFY:
        let state = event.read(as: xcb_visibility_notify_event_t.self).state
        signs.isObscured = state == UInt8(XCB_VISIBILITY_FULLY_OBSCURED.rawValue)
      default: break
      }
      return old != (signs.isMapped, signs.isObscured)
    }
  }

  private func place(_ x: Int16, _ y: Int16, _ screenX: Int16, _ screenY: Int16) -> WindowEvent.Place {
    WindowEvent.Place(x: Double(x), y: Double(y), onScreen: SIMD2(Double(screenX), Double(screenY)))
  }

  /// Handles a message from the window manager: a request to close the window, or a ping, which is answered (EWMH,
  /// _NET_WM_PING).
  private func meaning(of message: xcb_client_message_event_t) -> WindowEvent? {
    // A program says so when it begins to provide the desktop's settings (ICCCM 2.8).
    if message.type == screen.atoms[.manager] { return readSettings() }
    guard message.type == screen.atoms[.wmProtocols], message.format == 32 else { return nil }
    if message.data.data32.0 == screen.atoms[.wmDeleteWindow] { return .closeRequested }
    if message.data.data32.0 == screen.atoms[.ping] {
      var answer = message
      answer.window = screen.root
      screen.sendToRoot(answer)
      screen.connection.flush()
    }
    return nil
  }
}
