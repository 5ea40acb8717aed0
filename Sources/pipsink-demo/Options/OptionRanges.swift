import PipSinkCommandLine

extension OptionRange where Number == Double {
  /// The duration of a run: at most 31 years.
  static let duration = OptionRange(range: 0.001...1_000_000_000, unit: "seconds")
  /// The time that a pipeline may take to stop.
  static let stopTimeout = OptionRange(range: 0.1...3600, unit: "seconds")
  /// The opacity of a window.
  static let opacity = OptionRange(range: 0.1...1, unit: "as the opacity")
  /// The time of an action in a run.
  static let time = OptionRange(range: 0...1_000_000_000, unit: "seconds")
}

extension OptionRange where Number == Int {
  static let retries = OptionRange(range: 0...1_000_000_000, unit: "retries")
}
