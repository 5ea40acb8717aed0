import Glibc
import PipSink

/// Standard output and standard error. Everything that the program prints goes through here, so that every write is
/// checked, and nothing that a terminal obeys gets there from a server, a file or an argument.
enum StandardStream: Int32, CaseIterable, Sendable {
  case output = 1
  case error = 2

  /// Whether they were terminals when the program started: of one that has gone, the system does not tell any more.
  private static let terminals = Set(allCases.filter { isatty($0.rawValue) == 1 })

  /// Makes writing safe for the whole program. To be called before anything else happens in it.
  static func prepare() {
    // Whoever writes to a pipe that nobody reads gets EPIPE instead of a signal.
    signal(SIGPIPE, SIG_IGN)
    // A descriptor that is closed would be the next file's or socket's, which would get what is printed. These cannot be
    // used the way they are meant to be, so that writing still fails.
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) == -1 {
      // The lowest that is free: those below are open.
      let opened = open("/dev/null", mode)
      // Where there is no /dev, a folder is always there.
      if opened < 0 { _ = open("/", O_RDONLY) }
    }
    _ = terminals
  }

  var isTerminal: Bool { Self.terminals.contains(self) }

  /// Prints lines for people, if there is anybody to read them: a reader that has gone (`| head -1`), a terminal that has
  /// gone, and a descriptor that was closed from the start have nothing to lose.
  ///
  /// - Throws: ``DemoError`` when the lines get lost otherwise, on a full disk for instance.
  func print(_ text: String) throws(DemoError) {
    guard let code = OutputFile.errorOfWriting(Array((text.visibleLines + "\n").utf8), to: rawValue) else { return }
    if [EPIPE, EBADF].contains(code) || isTerminal { return }
    let name = self == .output ? "output" : "error"
    throw DemoError(.failed, "standard \(name) cannot be written: \(OutputFileError(code: code))")
  }

  /// Writes a result for another program, which must not get lost.
  ///
  /// - Throws: ``DemoError`` when it cannot be written, whatever the reason.
  func deliver(_ bytes: some Sequence<UInt8>, as name: String) throws(DemoError) {
    do throws(OutputFileError) {
      try OutputFile.write(Array(bytes), to: rawValue)
      try OutputFile.checkClosing(rawValue)
    } catch {
      throw DemoError(.failed, "\(name) cannot be written to standard output: \(error)")
    }
  }

  /// Prints lines for people who may or may not see them. It is all the same to the program.
  func say(_ text: String) { sayRaw(text.visibleLines + "\n") }

  /// The same with what a terminal obeys in it, and without a line break.
  func sayRaw(_ text: String) { _ = OutputFile.errorOfWriting(Array(text.utf8), to: rawValue) }
}
