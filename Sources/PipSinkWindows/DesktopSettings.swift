import CWindows

/// Settings that the user has chosen for all programs on the desktop.
enum DesktopSettings {
  /// Whether the user wants animations.
  ///
  /// No toolkit is loaded that could be asked, so this reads the places where desktops store the setting: GTK's
  /// settings files, which Plasma and others also write, and GNOME's settings when GNOME is the desktop. On X11 the
  /// setting also arrives through XSETTINGS, which ``X11WindowEvents`` reads.
  static var wantsAnimations: Bool {
    !["gtk-4.0", "gtk-3.0"].contains { isSwitchedOff(inFileOf: $0) } && gnomeWantsAnimations
  }

  private static func isSwitchedOff(inFileOf version: String) -> Bool {
    guard let folder = g_get_user_config_dir() else { return false }
    let file = KeyFile(from: "\(String(cString: folder))/\(version)/settings.ini")
    return file?.text("Settings", "gtk-enable-animations").map { ["0", "false"].contains($0) } ?? false
  }

  private static var gnomeWantsAnimations: Bool {
    gnome.pointer.map { g_settings_get_boolean($0, "enable-animations") != 0 } ?? true
  }

  /// GNOME's settings where GNOME is the desktop. They are made only once, because they open a connection to the session
  /// bus, and are up to date whenever they are read.
  ///
  /// `@unchecked Sendable`: all threads may read GSettings.
  private struct GNOMESettings: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GSettings>?
  }

  private static let gnome: GNOMESettings = {
    let desktop = g_getenv("XDG_CURRENT_DESKTOP").map { String(cString: $0) } ?? ""
    guard desktop.split(separator: ":").contains("GNOME"), let source = g_settings_schema_source_get_default(),
      let schema = g_settings_schema_source_lookup(source, "org.gnome.desktop.interface", 1)
    else { return GNOMESettings(pointer: nil) }
    defer { g_settings_schema_unref(schema) }
    guard g_settings_schema_has_key(schema, "enable-animations") != 0 else { return GNOMESettings(pointer: nil) }
    return GNOMESettings(pointer: g_settings_new_full(schema, nil, nil))
  }()
}
