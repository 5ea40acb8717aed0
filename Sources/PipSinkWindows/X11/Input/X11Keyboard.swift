import CWindows

/// Translates the keys of an X server's keyboard. Only one thread may use it.
final class X11Keyboard {
  private let connection: X11Connection
  private let reader = KeyReader()
  private let firstEvent: UInt8
  /// Whether the layout has changed since it was loaded.
  private var isStale = true
  /// The keys that are held.
  private var held: Set<UInt8> = []

  init(_ connection: X11Connection) {
    self.connection = connection
    var firstEvent: UInt8 = 0
    xkb_x11_setup_xkb_extension(
      connection.pointer, UInt16(XKB_X11_MIN_MAJOR_XKB_VERSION), UInt16(XKB_X11_MIN_MINOR_XKB_VERSION),
      XKB_X11_SETUP_XKB_EXTENSION_NO_FLAGS, nil, nil, &firstEvent, nil)
    self.firstEvent = firstEvent
    guard firstEvent != 0 else { return }
    let keyboard = UInt16(XCB_XKB_ID_USE_CORE_KBD.rawValue)
    let events = UInt16(XCB_XKB_EVENT_TYPE_NEW_KEYBOARD_NOTIFY.rawValue | XCB_XKB_EVENT_TYPE_MAP_NOTIFY.rawValue)
    let parts = UInt16(XCB_XKB_MAP_PART_KEY_TYPES.rawValue | XCB_XKB_MAP_PART_KEY_SYMS.rawValue)
    xcb_xkb_select_events(connection.pointer, keyboard, events, 0, events, parts, parts, nil)
    // While a key is held, the server then sends no release before each repetition.
    let repetition = XCB_XKB_PER_CLIENT_FLAG_DETECTABLE_AUTO_REPEAT.rawValue
    let cookie = xcb_xkb_per_client_flags(connection.pointer, keyboard, repetition, repetition, 0, 0, 0)
    xcb_discard_reply(connection.pointer, cookie.sequence)
    connection.flush()
  }

  /// Notes an event that concerns the keyboard: a change of its layout, a release, or the loss of the focus.
  func note(_ event: UnsafePointer<xcb_generic_event_t>) {
    switch event.kind {
    case XCB_KEY_RELEASE: held.remove(event.read(as: xcb_key_release_event_t.self).detail)
    // Releases in other windows are not reported.
    case XCB_FOCUS_OUT: held = []
    case XCB_MAPPING_NOTIFY: isStale = true
    // All events of the extension that were asked for are changes of the layout.
    default: isStale = isStale || (firstEvent != 0 && event.kind == Int32(firstEvent))
    }
  }

  /// Translates a key press. It waits for the server after the layout has changed.
  ///
  /// - Returns: nil for a key that has no keysym.
  func key(_ event: xcb_key_press_event_t) -> WindowKey? {
    if isStale { load() }
    let isRepeat = !held.insert(event.detail).inserted
    // The event's state has the modifiers in the lower eight bits and the layout's number in bits 13 and 14 (X Keyboard
    // Extension).
    return reader.key(
      UInt32(event.detail), modifiers: UInt32(event.state & 0xff), layout: UInt32(event.state >> 13) & 3,
      isRepeat: isRepeat)
  }

  private func load() {
    isStale = false
    let device = xkb_x11_get_core_keyboard_device_id(connection.pointer)
    guard device >= 0 else { return }
    reader.setKeymap { xkb_x11_keymap_new_from_device($0, connection.pointer, device, XKB_KEYMAP_COMPILE_NO_FLAGS) }
  }
}
