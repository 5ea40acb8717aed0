import PipSink

/// How the user wants windows to look, in all programs of the desktop.
package struct DesktopLook: Equatable, Sendable {
  /// Whether there are animations.
  package var animates = true
  /// By what factor texts, and what belongs to them, are larger than usual.
  package var textScale = 1.0
  /// Whether nothing of the pictures is seen through what lies over them.
  package var hasHighContrast = false

  package init() {}

  /// The factor for texts that a setting stands for, which is from 0.5 to 3, or 1 for a setting that is none.
  package static func textScale(_ factor: Double) -> Double {
    factor.isFinite && factor > 0 ? max(0.5, min(factor, 3)) : 1
  }

  /// The factor that a resolution of texts stands for.
  ///
  /// - Parameter resolution: in 1024ths of a dot per inch. The usual one is 96 dots per inch.
  package static func textScale(resolution: Int) -> Double { textScale(Double(resolution) / (96 * 1024)) }

  /// Whether a theme of toolkits has a high contrast, such as "HighContrast" and "HighContrastInverse".
  package static func hasHighContrast(theme: String) -> Bool { theme.hasPrefix("HighContrast") }
}
