import CWindows
import Glibc

/// What the keys of a seat's keyboard mean. One thread uses it.
final class WaylandKeyboard {
  private let context = xkb_context_new(XKB_CONTEXT_NO_FLAGS)
  private var state: OpaquePointer?

  deinit {
    xkb_state_unref(state)
    xkb_context_unref(context)
  }

  /// - Parameter descriptor: of a text of `size` bytes, which is closed here.
  func setKeymap(_ format: UInt32, _ descriptor: Int32, _ size: Int) {
    defer { close(descriptor) }
    guard format == 1, size > 0, let context,
      let text = mmap(nil, size, PROT_READ, MAP_PRIVATE, descriptor, 0), text != MAP_FAILED
    else { return }
    defer { munmap(text, size) }
    // The text ends with a zero, which is no part of it.
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

  func setModifiers(_ depressed: UInt32, _ latched: UInt32, _ locked: UInt32, layout: UInt32) {
    guard let state else { return }
    xkb_state_update_mask(state, depressed, latched, locked, 0, 0, layout)
  }

  /// - Parameter key: Linux's code.
  /// - Returns: 0 for none.
  func keysym(of key: UInt32) -> UInt32 {
    // Layouts count from 8 on, as X11 does.
    state.map { xkb_state_key_get_one_sym($0, key + 8) } ?? 0
  }

  /// Whether the key is pressed again and again while it is held: not those for capital letters and the like.
  func repeats(_ key: UInt32) -> Bool {
    state.map { xkb_keymap_key_repeats(xkb_state_get_keymap($0), key + 8) != 0 } ?? false
  }
}
