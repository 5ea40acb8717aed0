import Dispatch
import Glibc

/// Calls a closure, on a global queue, on Ctrl-C (SIGINT), SIGTERM, and the loss of the terminal (SIGHUP). A second
/// Ctrl-C or SIGTERM ends the process at once.
package final class SignalSources {
  private var sources: [any DispatchSourceSignal] = []

  package init(handler: @escaping @Sendable () -> Void) {
    for number in [SIGINT, SIGTERM, SIGHUP] {
      let before = signal(number, SIG_IGN).map { unsafeBitCast($0, to: Int.self) }
      // nohup(1) starts the program with SIGHUP ignored, which must stay so.
      if number == SIGHUP, before == unsafeBitCast(SIG_IGN, to: Int.self) { continue }
      let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
      source.setEventHandler {
        // SIGHUP may come twice, from the terminal and from a shell.
        if number != SIGHUP { signal(number, SIG_DFL) }
        handler()
      }
      source.resume()
      sources.append(source)
    }
  }

  package func cancel() {
    for source in sources { source.cancel() }
  }
}
