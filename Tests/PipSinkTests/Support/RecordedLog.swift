import Logging

@testable import PipSink

/// Records what is logged.
final class RecordedLog: Sendable {
  struct Entry: Sendable {
    let label: String
    let level: Logger.Level
    let message: String
    let object: String?
  }

  private let state = Locked<[Entry]>([])

  var entries: [Entry] { state.withLock { $0 } }

  func makeLogger(_ label: String, level: Logger.Level) -> Logger {
    Logger(label: label) { Handler(label: $0, log: self, logLevel: level) }
  }

  private struct Handler: LogHandler {
    let label: String
    let log: RecordedLog
    var metadata: Logger.Metadata = [:]
    var logLevel: Logger.Level

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
      get { metadata[key] }
      set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
      let object = event.metadata?["object"].map { "\($0)" }
      log.state.withLock {
        $0.append(Entry(label: label, level: event.level, message: "\(event.message)", object: object))
      }
    }
  }
}
