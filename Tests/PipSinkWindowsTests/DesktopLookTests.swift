import Foundation
import Testing

@testable import PipSinkWindows
@testable import TestSupport

/// What the user has chosen for all windows of the desktop.
@Suite struct DesktopLookTests {
  /// Writes a file into a folder for a user's configuration.
  private func write(_ text: String, to path: String, in folder: TemporaryFolder) throws {
    let file = folder.url.appendingPathComponent(path)
    try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try text.write(to: file, atomically: true, encoding: .utf8)
  }

  @Test(
    arguments: [
      ("gtk-3.0", "HighContrast", true), ("gtk-4.0", "HighContrastInverse", true), ("gtk-3.0", "Adwaita", false),
    ])
  func theThemeSaysThatTheContrastIsHigh(version: String, theme: String, isHigh: Bool) async throws {
    let folder = try TemporaryFolder()
    try write("[Settings]\ngtk-theme-name=\(theme)\n", to: "\(version)/settings.ini", in: folder)
    await #expect(processExitsWith: .success) { [path = folder.url.path as String, isHigh = isHigh as Bool] in
      setenv("XDG_CONFIG_HOME", path, 1)
      unsetenv("XDG_CURRENT_DESKTOP")
      let look = DesktopSettings.look
      #expect(look.hasHighContrast == isHigh && look.animates && look.textScale == 1)
    }
  }

  private static let hasSchemas = FileManager.default.fileExists(
    atPath: "/usr/share/glib-2.0/schemas/org.gnome.desktop.a11y.interface.gschema.xml")

  @Test(
    .enabled(if: hasSchemas, "GNOME's settings are not installed"),
    arguments: [("true", "Adwaita", true), ("false", "HighContrast", true), ("false", "Adwaita", false)])
  func gnomeSaysHowLargeTextsAreAndThatTheContrastIsHigh(key: String, theme: String, isHigh: Bool) async throws {
    let folder = try TemporaryFolder()
    try write(
      """
      [org/gnome/desktop/interface]
      text-scaling-factor=1.25
      enable-animations=false
      gtk-theme='\(theme)'
      [org/gnome/desktop/a11y/interface]
      high-contrast=\(key)

      """, to: "glib-2.0/settings/keyfile", in: folder)
    await #expect(processExitsWith: .success) { [path = folder.url.path as String, isHigh = isHigh as Bool] in
      for (name, value) in [
        ("XDG_CONFIG_HOME", path), ("XDG_CURRENT_DESKTOP", "ubuntu:GNOME"), ("GSETTINGS_BACKEND", "keyfile"),
      ] { setenv(name, value, 1) }
      let look = DesktopSettings.look
      #expect(look.textScale == 1.25 && look.hasHighContrast == isHigh && !look.animates)
    }
  }

  @Test(arguments: [(1, 1), (1.5, 1.5), (0.1, 0.5), (50, 3), (0, 1), (-2, 1), (.nan, 1)] as [(Double, Double)])
  func aSettingThatIsNoFactorForTextsCountsAsTheUsualOne(setting: Double, factor: Double) {
    #expect(DesktopLook.textScale(setting) == factor)
  }

  @Test func aResolutionOfTextsStandsForAFactor() {
    #expect([-1, 98_304, 122_880, 147_456].map { DesktopLook.textScale(resolution: $0) } == [1, 1, 1.25, 1.5])
  }
}
