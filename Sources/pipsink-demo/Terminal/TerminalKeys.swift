import Dispatch
import Glibc

/// Calls a closure, on a global queue, for every key that is pressed on the terminal, without waiting for the return
/// key.
final class TerminalKeys {
  private let source: any DispatchSourceRead
  private var original: termios

  /// - Returns: nil when standard input is no terminal, or when the program runs in the background.
  init?(handler: @escaping @Sendable (Character) -> Void) {
    var original = termios()
    // The system stops a background program that changes the terminal's settings.
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
      var bytes = [UInt8](repeating: 0, count: 64)
      let count = read(STDIN_FILENO, &bytes, bytes.count)
      // Without this, the end of the input would be reported for ever.
      guard count > 0 else { return source.cancel() }
      for key in Self.keys(in: bytes.prefix(count)) { handler(key) }
    }
    source.resume()
  }

  /// The keys that bytes stand for. A cursor or function key is a sequence that begins with ESC and arrives in one
  /// piece. Such a sequence is one key, which is reported as ESC.
  static func keys(in bytes: some Collection<UInt8>) -> [Character] {
    let escape: UInt8 = 0x1B
    let characters = bytes.prefix { $0 != escape }.map { Character(Unicode.Scalar($0)) }
    return bytes.contains(escape) ? characters + [Character(Unicode.Scalar(escape))] : characters
  }

  func cancel() {
    source.cancel()
    tcsetattr(STDIN_FILENO, TCSANOW, &original)
  }
}
