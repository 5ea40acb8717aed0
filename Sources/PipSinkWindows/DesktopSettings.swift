import CWindows

/// Settings that the user has chosen for all programs on the desktop.
enum DesktopSettings {
  /// Whether the user wants animations.
  ///
  /// No toolkit is loaded that could be asked, so this reads the places where desktops store the setting: GTK's
  /// settings files, which Plasma and others also write, and GNOME's settings when GNOME is the desktop. On X11 the
  /// setting also arrives through XSETTINGS, which ``X11WindowEvents`` reads.
  static var wantsAnimations: Bool {
    !gtkVersions.contains { isSwitchedOff(inFileOf: $0) } && gnomeWantsAnimations
  }

  /// The name of the icon theme, from the same places; nil where none of them has it.
  static var iconTheme: String? {
    if let settings = gnome.pointer, let name = g_settings_get_string(settings, "icon-theme") {
      defer { g_free(name) }
      return String(cString: name)
    }
    return gtkVersions.lazy.compactMap { setting("gtk-icon-theme-name", inFileOf: $0) }.first
  }

  private static let gtkVersions = ["gtk-4.0", "gtk-3.0"]

  private static func isSwitchedOff(inFileOf version: String) -> Bool {
    setting("gtk-enable-animations", inFileOf: version).map { ["0", "false"].contains($0) } ?? false
  }

  private static func setting(_ key: String, inFileOf version: String) -> String? {
    guard let folder = g_get_user_config_dir() else { return nil }
    return KeyFile(from: "\(String(cString: folder))/\(version)/settings.ini")?.text("Settings", key)
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
    let hasKey = { (key: String) in g_settings_schema_has_key(schema, key) != 0 }
    guard hasKey("enable-animations"), hasKey("icon-theme") else { return GNOMESettings(pointer: nil) }
    return GNOMESettings(pointer: g_settings_new_full(schema, nil, nil))
  }()
}
