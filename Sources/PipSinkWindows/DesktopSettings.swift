import CWindows

/// What the user has set for all programs of the desktop.
enum DesktopSettings {
  /// Whether the user wants animations.
  ///
  /// No toolkit says so here, so that it is looked up where desktops write it: in GTK's settings files, which Plasma and
  /// others keep as well, and in GNOME's settings, where GNOME is the desktop. An X server's clients hear it by XSETTINGS,
  /// too (``X11Screen/settings``).
  static var wantsAnimations: Bool {
    !["gtk-4.0", "gtk-3.0"].contains { isSwitchedOff(inFileOf: $0) } && gnomeWantsAnimations
  }

  private static func isSwitchedOff(inFileOf version: String) -> Bool {
    guard let folder = g_get_user_config_dir() else { return false }
    let file = g_key_file_new()
    defer { g_key_file_unref(file) }
    let path = "\(String(cString: folder))/\(version)/settings.ini"
    let (group, key) = ("Settings", "gtk-enable-animations")
    guard g_key_file_load_from_file(file, path, G_KEY_FILE_NONE, nil) != 0,
      let text = g_key_file_get_value(file, group, key, nil)
    else { return false }
    defer { g_free(text) }
    return ["0", "false"].contains(String(cString: text))
  }

  /// Asked once: GNOME's settings come with a connection to the session bus.
  private static let gnomeWantsAnimations: Bool = {
    let desktop = g_getenv("XDG_CURRENT_DESKTOP").map { String(cString: $0) } ?? ""
    guard desktop.split(separator: ":").contains("GNOME"), let source = g_settings_schema_source_get_default(),
      let schema = g_settings_schema_source_lookup(source, "org.gnome.desktop.interface", 1)
    else { return true }
    defer { g_settings_schema_unref(schema) }
    guard g_settings_schema_has_key(schema, "enable-animations") != 0,
      let settings = g_settings_new_full(schema, nil, nil)
    else { return true }
    defer { g_object_unref(settings) }
    return g_settings_get_boolean(settings, "enable-animations") != 0
  }()
}
