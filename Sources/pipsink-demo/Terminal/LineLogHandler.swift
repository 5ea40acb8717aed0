import Glibc
import Logging
import PipSink
import PipSinkCommandLine

/// Writes every log message as one line to standard error: the time, the level, the label, the message, and its
/// metadata.
struct LineLogHandler: LogHandler {
  let label: String
  var metadata: Logger.Metadata = [:]
  var logLevel: Logger.Level

  /// On a terminal, clears the status line that may be there.
  private static let lineStart = StandardStream.error.isTerminal ? "\r\u{1B}[K" : ""

  /// The default levels. The program itself reports what the session logs at lower levels.
  private static let defaultLevels = "pipsink.session:error,pipsink.pip:error,pipsink.audio:error"

  /// Sets up logging for the whole program, which must happen only once. The levels are those given, or else those in
  /// the environment, or else the default levels.
  static func install(_ levels: LogLevels?) throws(PipSinkError) {
    let levels =
      if let levels { levels } else if let wanted = try LogLevels.ofEnvironment() { wanted } else {
        try LogLevels(defaultLevels)
      }
    LoggingSystem.bootstrap { LineLogHandler(label: $0, logLevel: levels.level(of: $0)) }
    if levels.namesGStreamer { try GStreamerLog.install(levels: levels) }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { metadata[key] }
    set { metadata[key] = newValue }
  }

  func log(event: LogEvent) {
    let details = metadata.merging(event.metadata ?? [:]) { $1 }.sorted { $0.key < $1.key }.map { " \($0)=\($1)" }
    let line = "\(Self.timeOfDay) \(event.level) \(label): \(event.message)\(details.joined())".visible
    // The line is written in one call, so that lines of several threads do not mix.
    StandardStream.error.sayRaw("\(Self.lineStart)\(line)\n")
  }

  /// The local time of day in milliseconds.
  private static var timeOfDay: String {
    var now = timeval()
    gettimeofday(&now, nil)
    var parts = tm()
    localtime_r(&now.tv_sec, &parts)
    let time = [parts.tm_hour, parts.tm_min, parts.tm_sec].map { $0.text(digits: 2) }.joined(separator: ":")
    return time + "." + (now.tv_usec / 1000).text(digits: 3)
  }
}
