/// Whether a window fills its monitor. The program asks for that, and the user changes it through the desktop.
struct FullscreenState {
  /// What was requested last, by the program or by the user.
  private(set) var isOn = false
  /// What the desktop has reported last.
  private var wasReported = false

  /// Notes a request of the program.
  ///
  /// - Returns: whether it is another one than before.
  mutating func request(_ isOn: Bool) -> Bool {
    guard isOn != self.isOn else { return false }
    self.isOn = isOn
    return true
  }

  /// Takes over a change that the user made through the desktop. A report that only repeats the last one is ignored,
  /// because a request of the program may still be on its way.
  mutating func note(report isOn: Bool) {
    if isOn != wasReported { self.isOn = isOn }
    wasReported = isOn
  }

  /// Called when the window is shown anew, so that the desktop's first report is not a change.
  mutating func expect(report isOn: Bool) { wasReported = isOn }
}
