import Dispatch
import Glibc

/// Calls a closure for every key that is pressed on the terminal, without waiting for the return key.
final class TerminalKeys {
  private let source: any DispatchSourceRead
  private var original: termios

  /// - Returns: nil when standard input is no terminal.
  init?(handler: @escaping @Sendable (Character) -> Void) {
    var original = termios()
    // In the background a program that sets up the terminal is stopped.
    guard isatty(STDIN_FILENO) == 1, tcgetpgrp(STDIN_FILENO) == getpgrp(), tcgetattr(STDIN_FILENO, &original) == 0
    else {
      return nil
    }
    self.original = original
    var keys = original
    keys.c_lflag &= ~tcflag_t(ICANON | ECHO)
    tcsetattr(STDIN_FILENO, TCSANOW, &keys)
    source = DispatchSource.makeReadSource(fileDescriptor: STDIN_FILENO, queue: .global())
    source.setEventHandler { [source] in
      var byte: UInt8 = 0
      // The end of the input would be reported for ever.
      guard read(STDIN_FILENO, &byte, 1) == 1 else { return source.cancel() }
      handler(Character(Unicode.Scalar(byte)))
    }
    source.resume()
  }

  func cancel() {
    source.cancel()
    tcsetattr(STDIN_FILENO, TCSANOW, &original)
  }
}
