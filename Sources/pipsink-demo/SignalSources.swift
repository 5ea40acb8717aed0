import Dispatch
import Foundation

/// Calls a closure on Ctrl-C and on SIGTERM. The second one ends the process at once.
final class SignalSources {
  private var sources: [any DispatchSourceSignal] = []

  init(handler: @escaping @Sendable () -> Void) {
    for number in [SIGINT, SIGTERM] {
      signal(number, SIG_IGN)
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        signal(number, SIG_DFL)
        handler()
      }
      source.resume()
      sources.append(source)
    }
  }

  func cancel() {
    for source in sources { source.cancel() }
  }
}
