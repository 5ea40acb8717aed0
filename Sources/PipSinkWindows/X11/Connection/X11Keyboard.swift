import CWindows

/// Translates the keys of an X server's keyboard to keysyms. Only one thread may use it.
final class X11Keyboard {
  private let connection: X11Connection
  private let context: OpaquePointer?
  private var state: OpaquePointer?

  /// Loads the keyboard's layout, and waits for the server.
  init(_ connection: X11Connection) {
    self.connection = connection
    context = xkb_context_new(XKB_CONTEXT_NO_FLAGS)
    xkb_x11_setup_xkb_extension(
      connection.pointer, UInt16(XKB_X11_MIN_MAJOR_XKB_VERSION), UInt16(XKB_X11_MIN_MINOR_XKB_VERSION),
      XKB_X11_SETUP_XKB_EXTENSION_NO_FLAGS, nil, nil, nil, nil)
    reload()
  }

  deinit {
    xkb_state_unref(state)
    xkb_context_unref(context)
  }

  /// Loads the keyboard's layout again, because it has changed.
  func reload() {
    xkb_state_unref(state)
    state = nil
    let device = xkb_x11_get_core_keyboard_device_id(connection.pointer)
    guard device >= 0, let context,
      let keymap = xkb_x11_keymap_new_from_device(
        context, connection.pointer, device, XKB_KEYMAP_COMPILE_NO_FLAGS)
    else { return }
    state = xkb_state_new(keymap)
    xkb_keymap_unref(keymap)
  }

  /// Translates a key press.
  ///
  /// - Parameters:
  ///   - keycode: the key's number in the event.
  ///   - modifiers: the event's `state`, which has the modifiers in the lower eight bits and the layout's number in
  ///     bits 13 and 14 (X Keyboard Extension).
  /// - Returns: a keysym, or 0 for none.
  func keysym(of keycode: UInt8, modifiers: UInt16) -> UInt32 {
    guard let state else { return 0 }
    xkb_state_update_mask(state, UInt32(modifiers & 0xff), 0, 0, 0, 0, UInt32(modifiers >> 13) & 3)
    return xkb_state_key_get_one_sym(state, UInt32(keycode))
  }
}
