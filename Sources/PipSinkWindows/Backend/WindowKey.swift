import CWindows

/// A key press in a window.
package struct WindowKey: Equatable, Sendable {
  /// The keysym that the user has typed, with all modifiers.
  package var keysym: UInt32
  /// The keysym that actions are bound to: that of the key without Caps Lock, and the Latin one where the layout is that
  /// of another script.
  package var symbol: UInt32
  /// The modifiers that are active, as the eight bits of the X protocol: shift, lock, control and the five others.
  package var modifiers: UInt32
  /// Whether the key is held, and this is a repetition of the press.
  package var isRepeat: Bool

  /// Creates a key press.
  package init(keysym: UInt32, symbol: UInt32, modifiers: UInt32 = 0, isRepeat: Bool = false) {
    (self.keysym, self.symbol, self.modifiers, self.isRepeat) = (keysym, symbol, modifiers, isRepeat)
  }

  /// Control, Alt and Super: with one of them, a key is a shortcut of somebody else.
  private static let shortcutModifiers: UInt32 = 1 << 2 | 1 << 3 | 1 << 6

  /// The keysym of an action that the press may ask for. It is nil for a key with Control, Alt or Super, and for the
  /// repetition of a key that types a character, which would switch something again and again.
  package var command: UInt32? {
    let isCharacter = isRepeat && Character(keysym: symbol) != nil
    return modifiers & Self.shortcutModifiers == 0 && !isCharacter ? symbol : nil
  }

  /// The key's X11 name, such as "Left" or "space", or nil when the keysym does not belong to a key.
  package var name: String? {
    // libxkbcommon's documentation requires at least 64 bytes.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      xkb_keysym_get_name(keysym, buffer.baseAddress, buffer.count) > 0
        ? buffer.baseAddress.map { String(cString: $0) } : nil
    }
  }
}

extension Character {
  /// The ASCII character of a keysym, which has the same number; nil for other keys.
  package init?(keysym: UInt32) {
    guard keysym < 128, let scalar = Unicode.Scalar(keysym) else { return nil }
    self.init(scalar)
  }
}

/// Finds what the keys of a keyboard mean in its layout. Only one thread may use it.
final class KeyReader {
  private let context = xkb_context_new(XKB_CONTEXT_NO_FLAGS)
  private var state: OpaquePointer?
  /// The state of a keyboard with the layout of the United States, which is used when no layout of the user's is Latin.
  private lazy var latin: OpaquePointer? = "us".withCString { layout in
    var names = xkb_rule_names()
    names.layout = layout
    return makeState(xkb_keymap_new_from_names(context, &names, XKB_KEYMAP_COMPILE_NO_FLAGS))
  }

  deinit {
    xkb_state_unref(state)
    xkb_state_unref(latin)
    xkb_context_unref(context)
  }

  /// Uses another layout.
  ///
  /// - Parameter compile: makes the keymap in a context, or returns nil where it cannot. The keymap is released here.
  func setKeymap(_ compile: (OpaquePointer) -> OpaquePointer?) {
    guard let context, let new = makeState(compile(context)) else { return }
    xkb_state_unref(state)
    state = new
  }

  private func makeState(_ keymap: OpaquePointer?) -> OpaquePointer? {
    guard let keymap else { return nil }
    defer { xkb_keymap_unref(keymap) }
    return xkb_state_new(keymap)
  }

  /// Translates a key press.
  ///
  /// - Parameters:
  ///   - code: the key's code in the keymap.
  ///   - modifiers: the eight bits of the modifiers that are active.
  ///   - layout: the number of the layout that is active.
  ///   - isRepeat: whether the key is held.
  /// - Returns: nil for a key that has no keysym.
  func key(_ code: UInt32, modifiers: UInt32, layout: UInt32, isRepeat: Bool) -> WindowKey? {
    let keysym = keysym(of: code, modifiers, layout, in: state)
    guard keysym != 0 else { return nil }
    // The second bit is Caps Lock.
    let unlocked = modifiers & ~2
    var symbol = self.keysym(of: code, unlocked, layout, in: state)
    if isOfOtherScript(symbol) {
      let count = xkb_keymap_num_layouts(xkb_state_get_keymap(state))
      let own = (0..<count).lazy.map { self.keysym(of: code, unlocked, $0, in: self.state) }
      symbol = own.first { Character(keysym: $0) != nil } ?? self.keysym(of: code, unlocked, 0, in: latin)
    }
    return WindowKey(keysym: keysym, symbol: symbol, modifiers: modifiers, isRepeat: isRepeat)
  }

  private func keysym(of code: UInt32, _ modifiers: UInt32, _ layout: UInt32, in state: OpaquePointer?) -> UInt32 {
    guard let state else { return 0 }
    xkb_state_update_mask(state, modifiers, 0, 0, 0, 0, layout)
    return xkb_state_key_get_one_sym(state, code)
  }

  /// Whether a keysym is a letter, a sign of writing or a digit, but not of the Latin script.
  private func isOfOtherScript(_ keysym: UInt32) -> Bool {
    // Before U+0370 and from U+1E00 to U+1EFF, all letters are Latin.
    guard let scalar = Unicode.Scalar(xkb_keysym_to_utf32(keysym)), scalar.value >= 0x370,
      !(0x1E00...0x1EFF).contains(scalar.value)
    else { return false }
    return switch scalar.properties.generalCategory {
    case .uppercaseLetter, .lowercaseLetter, .titlecaseLetter, .modifierLetter, .otherLetter, .nonspacingMark,
      .spacingMark, .decimalNumber:
      true
    default: false
    }
  }

  /// Whether the key repeats while it is held. Keys such as shift do not.
  func repeats(_ code: UInt32) -> Bool {
    state.map { xkb_keymap_key_repeats(xkb_state_get_keymap($0), code) != 0 } ?? false
  }
}
