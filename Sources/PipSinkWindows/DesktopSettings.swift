import CWindows

/// Settings that the user has chosen for all programs on the desktop.
enum DesktopSettings {
  /// How windows look.
  ///
  /// No toolkit is loaded that could be asked, so this reads the places where desktops store the settings: GTK's
  /// settings files, which Plasma and others also write, and GNOME's settings when GNOME is the desktop. On X11 some of
  /// them also arrive through XSETTINGS, which ``X11WindowEvents`` reads.
  static var look: DesktopLook {
    var look = DesktopLook()
    for version in gtkVersions {
      if isSwitchedOff(inFileOf: version) { look.animates = false }
      let theme = setting("gtk-theme-name", inFileOf: version)
      if theme.map({ DesktopLook.hasHighContrast(theme: $0) }) == true { look.hasHighContrast = true }
    }
    if let settings = gnome.pointer {
      if g_settings_get_boolean(settings, "enable-animations") == 0 { look.animates = false }
      look.textScale = DesktopLook.textScale(g_settings_get_double(settings, "text-scaling-factor"))
      if gnomeHasHighContrast { look.hasHighContrast = true }
    }
    return look
  }

  private static var gnomeHasHighContrast: Bool {
    if let settings = gnomeAccessibility.pointer, g_settings_get_boolean(settings, "high-contrast") != 0 { return true }
    guard let settings = gnome.pointer, let name = g_settings_get_string(settings, "gtk-theme") else { return false }
    defer { g_free(name) }
    return DesktopLook.hasHighContrast(theme: String(cString: name))
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

  /// GNOME's settings where GNOME is the desktop. They are made only once, because they open a connection to the session
  /// bus, and are up to date whenever they are read.
  ///
  /// `@unchecked Sendable`: all threads may read GSettings.
  private struct GNOMESettings: @unchecked Sendable {
    let pointer: UnsafeMutablePointer<GSettings>?
  }

  private static let gnome = gnomeSettings(
    "org.gnome.desktop.interface", ["enable-animations", "icon-theme", "gtk-theme", "text-scaling-factor"])
  /// The schema is one of GNOME 40 and later.
  private static let gnomeAccessibility = gnomeSettings("org.gnome.desktop.a11y.interface", ["high-contrast"])

  /// - Parameter keys: what the settings must have. Reading another key would end the program.
  private static func gnomeSettings(_ name: String, _ keys: [String]) -> GNOMESettings {
    let desktop = g_getenv("XDG_CURRENT_DESKTOP").map { String(cString: $0) } ?? ""
    guard desktop.split(separator: ":").contains("GNOME"), let source = g_settings_schema_source_get_default(),
      let schema = g_settings_schema_source_lookup(source, name, 1)
    else { return GNOMESettings(pointer: nil) }
    defer { g_settings_schema_unref(schema) }
    guard keys.allSatisfy({ g_settings_schema_has_key(schema, $0) != 0 }) else { return GNOMESettings(pointer: nil) }
    return GNOMESettings(pointer: g_settings_new_full(schema, nil, nil))
  }
}
