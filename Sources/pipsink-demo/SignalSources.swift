import Dispatch
import Foundation

/// Calls a closure on Ctrl-C, on SIGTERM, and when the terminal goes (SIGHUP). A second Ctrl-C or SIGTERM ends the process
/// at once.
final class SignalSources {
  private var sources: [any DispatchSourceSignal] = []

  init(handler: @escaping @Sendable () -> Void) {
    for number in [SIGINT, SIGTERM, SIGHUP] where !Self.isToBeIgnored(number) {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        // A shell says SIGHUP once more than the terminal does.
        if number != SIGHUP { signal(number, SIG_DFL) }
        handler()
      }
      source.resume()
      sources.append(source)
    }
  }

  /// By nohup(1).
  private static func isToBeIgnored(_ number: Int32) -> Bool {
    guard number == SIGHUP else { return false }
    var action = sigaction()
    sigaction(number, nil, &action)
    return action.__sigaction_handler.sa_handler.map { unsafeBitCast($0, to: Int.self) }
      == unsafeBitCast(SIG_IGN, to: Int.self)
  }

  func cancel() {
    for source in sources { source.cancel() }
  }
}
