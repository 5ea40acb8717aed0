import CWindows
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests what keys mean: in every layout, with modifiers, and while they are held.
@Suite struct WindowKeyTests {
  private static let (p, q, two, left) = (33 as UInt32, 24 as UInt32, 11 as UInt32, 113 as UInt32)
  private static let (shift, lock, control, alt, numLock, logo, altGr) =
    (1 as UInt32, 2 as UInt32, 4 as UInt32, 8 as UInt32, 16 as UInt32, 64 as UInt32, 128 as UInt32)

  /// A reader of keys with layouts by their XKB names, separated by commas.
  private func reader(_ layouts: String) -> KeyReader {
    let reader = KeyReader()
    reader.setKeymap { context in
      layouts.withCString { layouts in
        var names = xkb_rule_names()
        names.layout = layouts
        return xkb_keymap_new_from_names(context, &names, XKB_KEYMAP_COMPILE_NO_FLAGS)
      }
    }
    return reader
  }

  private func character(
    _ code: UInt32, _ layouts: String, modifiers: UInt32 = 0, layout: UInt32 = 0
  ) -> Character? {
    reader(layouts).key(code, modifiers: modifiers, layout: layout, isRepeat: false)?.command.flatMap {
      Character(keysym: $0)
    }
  }

  @Test(arguments: ["us", "de", "ru", "ua", "gr", "il", "ara", "ir", "in", "th", "jp", "kr", "ge", "am", "fr", "pl"])
  func aLetterIsTheSameKeyInEveryLayout(layout: String) {
    #expect(character(Self.p, layout) == "p")
    #expect(character(Self.p, layout, modifiers: Self.lock) == "p")
    #expect(character(Self.p, layout, modifiers: Self.numLock) == "p")
    #expect(character(65, layout) == " ")
  }

  @Test func aLatinLayoutSaysWhereItsLettersAre() {
    #expect(character(Self.q, "us") == "q" && character(Self.q, "fr") == "a" && character(38, "fr") == "q")
    // Accents are letters of the Latin script, and no keys of another layout.
    #expect(character(Self.two, "fr") == nil && character(Self.two, "us") == "2")
    // The user's own Latin layout counts for keys of the other.
    #expect(character(Self.q, "fr,ru", layout: 1) == "a" && character(Self.q, "us,ru", layout: 1) == "q")
    #expect(character(Self.p, "ru,gr", layout: 1) == "p")
    #expect(character(Self.two, "ru") == "2" && character(Self.two, "ir") == "2")
    #expect(character(26, "de", modifiers: Self.altGr) == nil, "the sign for euros is no e")
  }

  @Test func whatIsTypedIsReportedAsItIsTyped() throws {
    let key = { (layout: String, modifiers: UInt32) in
      reader(layout).key(Self.p, modifiers: modifiers, layout: 0, isRepeat: false)
    }
    #expect(key("ru", 0)?.keysym == UInt32(XKB_KEY_Cyrillic_ze) && key("us", Self.lock)?.name == "P")
    #expect(key("us", Self.shift)?.command == UInt32(XKB_KEY_P), "shift is a part of what is typed")
    #expect(key("us", Self.control | Self.lock)?.modifiers == Self.control | Self.lock)
  }

  @Test(arguments: [4, 8, 64, 4 | 8, 8 | 128, 64 | 2] as [UInt32])
  func withControlAltOrSuperAKeyAsksForNothing(modifiers: UInt32) throws {
    let key = try #require(reader("us").key(Self.p, modifiers: modifiers, layout: 0, isRepeat: false))
    #expect(key.command == nil && key.symbol == UInt32(XKB_KEY_p) && key.modifiers == modifiers)
  }

  @Test func aKeyThatIsHeldAsksOnceUnlessItTypesNothing() throws {
    let command = { reader("us").key($0, modifiers: 0, layout: 0, isRepeat: $1)?.command }
    for code in [Self.p, 65] { #expect(command(code, false) != nil && command(code, true) == nil) }
    #expect(command(Self.left, true) == UInt32(XKB_KEY_Left))
    #expect(reader("us").repeats(Self.p) && !reader("us").repeats(50))
    #expect(KeyReader().key(Self.p, modifiers: 0, layout: 0, isRepeat: false) == nil, "there is no keymap yet")
  }

  // MARK: - On X11

  @MainActor private final class Keys {
    nonisolated init() {}
    private(set) var all: [WindowKey] = []
    func note(_ event: WindowEvent) { if case .key(let key) = event { all.append(key) } }
    /// The characters that ask for something, in their order.
    var commands: String { String(all.compactMap { $0.command.flatMap { Character(keysym: $0) } }) }
  }

  @Test(.enabled(if: XServer.isInstalled, "Xvfb, openbox and the X tools are not installed"))
  func onX11ALayoutThatIsSetLaterCountsAndAHeldKeyIsPressedOnce() async throws {
    let server = try await XServer(managesWindows: false)
    let (keys, display) = (Keys(), server.display)
    let window = try await MainActor.run {
      let window = try X11FloatingWindow(display: display, size: PictureSize(width: 320, height: 180)) {
        keys.note($0)
      }
      window.show()
      return window
    }
    let id = await "\(window.id)"
    let isReady = try await eventually {
      try await server.tool("xdotool", "windowfocus", id, "key", "\(Self.q)")
      return await keys.commands.hasPrefix("q")
    }
    #expect(isReady)
    for (layout, expected) in [("fr", "a"), ("ru", "q"), ("us", "q")] {
      let old = await keys.all.count
      try await server.tool("setxkbmap", layout)
      try await server.tool("xdotool", "key", "\(Self.q)")
      #expect(await eventually { await keys.all.count > old })
      #expect(await keys.commands.suffix(1) == expected, "\(layout)")
    }
    // Two quick presses are two, and one that is held is one.
    let old = await keys.commands.count
    try await server.tool("xdotool", "key", "--delay", "0", "m", "m")
    #expect(await eventually { await keys.commands.count == old + 2 })
    let count = await keys.all.count
    try await server.tool("xdotool", "keydown", "p")
    #expect(await eventually { await keys.all.count > count + 3 })
    try await server.tool("xdotool", "keyup", "p", "key", "n")
    #expect(await eventually { await keys.commands.hasSuffix("mmpn") })
    await window.hide()
  }
}
