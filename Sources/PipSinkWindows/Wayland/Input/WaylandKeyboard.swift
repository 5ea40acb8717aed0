import CWindows
import Glibc

/// Translates the keys of a seat's keyboard. Only one thread may use it.
final class WaylandKeyboard {
  private let reader = KeyReader()
  private var modifiers: UInt32 = 0
  private var layout: UInt32 = 0
  // The codes in xkb keymaps are larger by 8 than those of Linux's input layer, as in X11.
  private static let codeOffset: UInt32 = 8

  /// Loads the keyboard's layout from the event wl_keyboard.keymap.
  ///
  /// - Parameters:
  ///   - format: the keymap's format. Only xkb's text format is supported.
  ///   - file: the file with the keymap, which is closed here.
  ///   - size: the keymap's size, in bytes.
  func setKeymap(_ format: WLKeyboard.KeymapFormat, _ file: WaylandDescriptor, _ size: Int) {
    defer { close(file.number) }
    guard format == .xkbV1, size > 0, let text = mmap(nil, size, PROT_READ, MAP_PRIVATE, file.number, 0),
      text != MAP_FAILED
    else { return }
    defer { munmap(text, size) }
    // The text ends with a zero byte, which must not be parsed.
    let length = strnlen(text.assumingMemoryBound(to: CChar.self), size)
    reader.setKeymap { context in
      xkb_keymap_new_from_buffer(
        context, text.assumingMemoryBound(to: CChar.self), length, XKB_KEYMAP_FORMAT_TEXT_V1,
        XKB_KEYMAP_COMPILE_NO_FLAGS)
    }
  }

  /// Sets the modifiers and the layout's number from the event wl_keyboard.modifiers.
  func setModifiers(_ depressed: UInt32, _ latched: UInt32, _ locked: UInt32, layout: UInt32) {
    (modifiers, self.layout) = ((depressed | latched | locked) & 0xff, layout)
  }

  /// Translates a key press.
  ///
  /// - Parameters:
  ///   - key: the key's code in Linux's input layer.
  ///   - isRepeat: whether the key is held.
  /// - Returns: nil for a key that has no keysym.
  func key(_ key: UInt32, isRepeat: Bool) -> WindowKey? {
    reader.key(key + Self.codeOffset, modifiers: modifiers, layout: layout, isRepeat: isRepeat)
  }

  /// Whether the key repeats while it is held. Keys such as shift do not.
  func repeats(_ key: UInt32) -> Bool { reader.repeats(key + Self.codeOffset) }
}
