import CWindows
import Glibc

/// Translates the keys of a seat's keyboard to keysyms. Only one thread may use it.
final class WaylandKeyboard {
  private let context = xkb_context_new(XKB_CONTEXT_NO_FLAGS)
  private var state: OpaquePointer?

  deinit {
    xkb_state_unref(state)
    xkb_context_unref(context)
  }

  /// Loads the keyboard's layout from the event wl_keyboard.keymap.
  ///
  /// - Parameters:
  ///   - format: the keymap's format. Only 1, which is xkb's text format, is supported.
  ///   - descriptor: the file with the keymap, which is closed here.
  ///   - size: the keymap's size, in bytes.
  func setKeymap(_ format: UInt32, _ descriptor: Int32, _ size: Int) {
    defer { close(descriptor) }
    guard format == 1, size > 0, let context,
      let text = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), text != MAP_FAILED
    else { return }
    defer { munmap(text, size) }
    // The text ends with a zero byte, which must not be parsed.
    let length = strnlen(text.assumingMemoryBound(to: CChar.self), size)
    guard
      let keymap = xkb_keymap_new_from_buffer(
        context, text.assumingMemoryBound(to: CChar.self), length, XKB_KEYMAP_FORMAT_TEXT_V1,
        XKB_KEYMAP_COMPILE_NO_FLAGS)
    else { return }
    xkb_state_unref(state)
    state = xkb_state_new(keymap)
    xkb_keymap_unref(keymap)
  }

  /// Sets the modifiers and the layout's number from the event wl_keyboard.modifiers.
  func setModifiers(_ depressed: UInt32, _ latched: UInt32, _ locked: UInt32, layout: UInt32) {
    guard let state else { return }
    xkb_state_update_mask(state, depressed, latched, locked, 0, 0, layout)
  }

  /// Translates a key press.
  ///
  /// - Parameter key: the key's code in Linux's input layer.
  /// - Returns: a keysym, or 0 for none.
  func keysym(of key: UInt32) -> UInt32 {
    // The codes in xkb keymaps are larger by 8, as in X11.
    state.map { xkb_state_key_get_one_sym($0, key + 8) } ?? 0
  }

  /// Whether the key repeats while it is held. Keys such as shift do not.
  func repeats(_ key: UInt32) -> Bool {
    state.map { xkb_keymap_key_repeats(xkb_state_get_keymap($0), key + 8) != 0 } ?? false
  }
}
