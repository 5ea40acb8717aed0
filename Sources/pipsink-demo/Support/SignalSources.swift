import Dispatch
import Glibc

/// Calls a closure on Ctrl-C, on SIGTERM, and when the terminal goes (SIGHUP). A second Ctrl-C or SIGTERM ends the process
/// at once.
final class SignalSources {
  private var sources: [any DispatchSourceSignal] = []

  init(handler: @escaping @Sendable () -> Void) {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number, SIG_IGN).map { unsafeBitCast($0, to: Int.self) }
      // nohup(1) has the program ignore the terminal's going.
      if number == SIGHUP, before == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
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

  func cancel() {
    for source in sources { source.cancel() }
  }
}
