import Logging

extension Logger {
  /// A logger for messages that may contain text of others, such as a server's status line or a stream's ID. Control
  /// characters in its messages and their metadata are escaped before they reach the app's log handler, so that a
  /// handler that prints them does not send commands to the terminal.
  ///
  /// All loggers of PipSink are made with this.
  package init(visible label: String) {
    self.init(visible: Logger(label: label))
  }

  /// Makes the same kind of logger from one that somebody else has made.
  init(visible logger: Logger) {
    self = logger
    handler = VisibleLogHandler(next: logger.handler)
  }
}

/// Escapes control characters and passes messages on to another handler.
private struct VisibleLogHandler: LogHandler {
  var next: any LogHandler

  var logLevel: Logger.Level {
    get { next.logLevel }
    set { next.logLevel = newValue }
  }

  var metadata: Logger.Metadata {
    get { next.metadata }
    set { next.metadata = newValue }
  }

  var metadataProvider: Logger.MetadataProvider? {
    get { next.metadataProvider }
    set { next.metadataProvider = newValue }
  }

  subscript(metadataKey key: String) -> Logger.Metadata.Value? {
    get { next[metadataKey: key] }
    set { next[metadataKey: key] = newValue }
  }

  func log(event: LogEvent) {
    var event = event
    event.message = "\("\(event.message)".visible)"
    event.metadata = event.metadata?.mapValues(\.visible)
    next.log(event: event)
  }
}

extension Logger.MetadataValue {
  fileprivate var visible: Logger.MetadataValue {
    switch self {
    case .string(let text): .string(text.visible)
    case .stringConvertible(let value): .string("\(value)".visible)
    case .array(let values): .array(values.map(\.visible))
    case .dictionary(let values): .dictionary(values.mapValues(\.visible))
    }
  }
}
