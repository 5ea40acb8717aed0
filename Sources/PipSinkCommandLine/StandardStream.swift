import Glibc
import PipSink

/// Standard output and standard error. Everything that the program prints goes through this type, so that every write
/// is checked, and no control characters from a server, a file or an argument reach the terminal.
package enum StandardStream: Int32, CaseIterable, Sendable {
  case output = 1
  case error = 2

  /// The streams that were terminals when the program started. The system cannot tell that any more after a terminal
  /// has gone.
  private static let terminals = Set(allCases.filter { isatty($0.rawValue) == 1 })

  /// Makes writing safe for the whole program. Call it before anything else.
  static func prepare() {
    // Writing to a pipe without a reader returns EPIPE then, and raises no signal.
    signal(SIGPIPE, SIG_IGN)
    // A file that would become larger than `ulimit -f` allows is an error then, also in the elements of pipelines.
    signal(SIGXFSZ, SIG_IGN)
    // The next file or socket would get the number of a closed standard descriptor, and receive what is printed. So
    // closed ones are opened here, in the wrong direction, so that using them still fails.
    for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDONLY), (STDERR_FILENO, O_RDONLY)]
    where fcntl(descriptor, F_GETFD) == -1 {
      // open(2) returns the lowest free number, and all lower ones are open.
      let opened = open("/dev/null", mode)
      // Without /dev, the root folder always exists.
      if opened < 0 { _ = open("/", O_RDONLY) }
    }
    _ = terminals
  }

  package var isTerminal: Bool { Self.terminals.contains(self) }

  /// Prints lines for people. It is no error when the reader has gone (`| head -1`), when the terminal has gone, or
  /// when the descriptor was closed from the start.
  ///
  /// - Throws: ``CommandError`` when the lines are lost for another reason, such as a full disk.
  package func print(_ text: String) throws(CommandError) {
    guard let code = OutputFile.errorOfWriting(Array((text.visibleLines + "\n").utf8), to: rawValue) else { return }
    if [EPIPE, EBADF].contains(code) || isTerminal { return }
    let name = self == .output ? "output" : "error"
    throw CommandError(.failed, "standard \(name) cannot be written: \(OutputFileError(code: code))")
  }

  /// Writes a result for another program, which must not be lost.
  ///
  /// - Throws: ``CommandError`` when it cannot be written, for any reason.
  package func deliver(_ bytes: some Sequence<UInt8>, as name: String) throws(CommandError) {
    do throws(OutputFileError) {
      try OutputFile.write(Array(bytes), to: rawValue)
      try OutputFile.checkClosing(rawValue)
    } catch {
      throw CommandError(.failed, "\(name) cannot be written to standard output: \(error)")
    }
  }

  /// Prints lines for people, and ignores errors.
  package func say(_ text: String) { sayRaw(text.visibleLines + "\n") }

  /// Prints a text as it is, with control characters and without a line break, and ignores errors.
  package func sayRaw(_ text: String) { _ = OutputFile.errorOfWriting(Array(text.utf8), to: rawValue) }
}
