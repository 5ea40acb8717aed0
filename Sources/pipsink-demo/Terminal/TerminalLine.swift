import Glibc

/// A line on standard error that is rewritten, where that is a terminal.
class TerminalLine {
  let isTerminal = StandardStream.error.isTerminal
  private var isOpen = false

  /// Puts the text in the place of what the line showed. Only on a terminal.
  func show(_ text: String) {
    guard isTerminal else { return }
    StandardStream.error.sayRaw("\r\u{1B}[K" + text.visible.prefix(width))
    isOpen = true
  }

  /// A message of its own, which stays.
  func say(_ message: String) {
    clear()
    StandardStream.error.say(message)
  }

  /// Leaves the line as it is, and goes to the next.
  func end() {
    if isOpen { StandardStream.error.sayRaw("\n") }
    isOpen = false
  }

  /// Takes the line away.
  func clear() {
    if isOpen { StandardStream.error.sayRaw("\r\u{1B}[K") }
    isOpen = false
  }

  private var width: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) - 1 : 79
  }
}
