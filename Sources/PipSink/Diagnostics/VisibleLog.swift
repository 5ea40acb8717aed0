import Logging

extension Logger {
  /// A logger for what may hold text of others, such as a server's status line or a stream's ID: its messages and their
  /// metadata come to the app's log handler with control characters written out, so that a handler that prints them on a
  /// terminal does not print what the terminal obeys.
  ///
  /// All of PipSink's loggers are made by this.
  package init(visible label: String) {
    self.init(visible: Logger(label: label))
  }

  /// The same with a logger that somebody else has made.
  init(visible logger: Logger) {
    self = logger
    handler = VisibleLogHandler(next: logger.handler)
  }
}

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
