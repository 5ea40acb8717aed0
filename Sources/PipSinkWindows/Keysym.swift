import CWindows

/// Keys' numbers, which X11 and Wayland have in common.
package enum Keysym {
  /// Its name in X11, such as "Left" or "space"; nil for a number that is no key's.
  package static func name(of keysym: UInt32) -> String? {
    // libxkbcommon asks for a buffer of 64 bytes at least.
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { buffer in
      xkb_keysym_get_name(keysym, buffer.baseAddress, buffer.count) > 0
        ? buffer.baseAddress.map { String(cString: $0) } : nil
    }
  }
}
