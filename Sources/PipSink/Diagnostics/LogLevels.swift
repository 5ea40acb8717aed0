import Glibc
import Logging

/// Which messages are logged, by the labels of their loggers. The syntax is that of GStreamer's `GST_DEBUG`, with
/// swift-log's levels.
///
/// `pipsink.*:info,pipsink.engine:debug` is a list of patterns (fnmatch(3): `*` matches any characters) with levels. A
/// level without a pattern applies to all labels. If several patterns match, the last one counts; if none does, the
/// level is `notice`.
///
/// A library must not set up the logging system. An app does it, with a handler that takes its level from here:
/// ```swift
/// let levels = try LogLevels.ofEnvironment() ?? LogLevels("info")
/// LoggingSystem.bootstrap { label in
///   var handler = StreamLogHandler.standardError(label: label)
///   handler.logLevel = levels.level(of: label)
///   return handler
/// }
/// ```
public struct LogLevels: Equatable, Sendable {
  /// A pattern for labels, and the level for the labels that match it.
  struct Rule: Equatable, Sendable {
    let pattern: String
    let level: Logger.Level
  }

  /// The environment variable that ``ofEnvironment()`` reads.
  package static let environmentVariable = "PIPSINK_DEBUG"

  let rules: [Rule]

  /// Parses a list of patterns and levels.
  ///
  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)`` for an entry that is not a pattern with a level, or a
  ///   level.
  public init(_ specification: String) throws(PipSinkError) {
    var rules: [Rule] = []
    for entry in specification.parts(between: ",") {
      let text = entry.trimmed
      guard !text.isEmpty else { continue }
      let halves = text.divided(at: ":")
      let parts = halves.map { [$0.before.trimmed, $0.behind.trimmed] } ?? [text]
      guard let level = Logger.Level(rawValue: parts[parts.count - 1].lowercased()), !parts[0].isEmpty else {
        let known = Logger.Level.allCases.map(\.rawValue).joined(separator: ", ")
        throw .system(.invalidArgument(text, reason: "give it as LABEL:LEVEL or LEVEL, where the levels are \(known)"))
      }
      rules.append(Rule(pattern: parts.count == 1 ? "*" : parts[0], level: level))
    }
    self.rules = rules
  }

  /// The levels that `PIPSINK_DEBUG` specifies; nil where it is not set.
  ///
  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)`` for an entry that is not a pattern with a level, or a
  ///   level.
  package static func ofEnvironment() throws(PipSinkError) -> LogLevels? {
    guard let value = getenv(environmentVariable) else { return nil }
    return try LogLevels(String(cString: value))
  }

  /// Whether a rule is about GStreamer's log (``GStreamerLog``).
  package var namesGStreamer: Bool { rules.contains { $0.pattern.hasPrefix(GStreamerLog.labelPrefix) } }

  /// The lowest level at which messages with this label are logged.
  package func level(of label: String) -> Logger.Level {
    rules.last { fnmatch($0.pattern, label, 0) == 0 }?.level ?? .notice
  }
}
