import Glibc

/// A line on standard error that is rewritten, if standard error is a terminal.
package final class TerminalLine {
  package let isTerminal = StandardStream.error.isTerminal
  private var isOpen = false

  package init() {}

  /// Replaces the text of the line. Does nothing unless standard error is a terminal.
  package func show(_ text: String) {
    guard isTerminal else { return }
    StandardStream.error.sayRaw("\r\u{1B}[K" + text.visible.prefix(width))
    isOpen = true
  }

  /// Prints a message on a line of its own, which stays.
  package func say(_ message: String) {
    clear()
    StandardStream.error.say(message)
  }

  /// Ends the line, which stays, and goes to the next one.
  package func end() {
    if isOpen { StandardStream.error.sayRaw("\n") }
    isOpen = false
  }

  /// Clears the line.
  package func clear() {
    if isOpen { StandardStream.error.sayRaw("\r\u{1B}[K") }
    isOpen = false
  }

  private var width: Int {
    var size = winsize()
    return ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0 && size.ws_col > 1 ? Int(size.ws_col) - 1 : 79
  }
}
