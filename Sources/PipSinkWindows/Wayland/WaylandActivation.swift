import CWindows
import PipSink

/// Gets tokens with which a compositor shows a window because of what the user did last in one of the program's
/// (xdg-activation).
@MainActor
package enum WaylandActivation {
  /// How long a compositor may take to answer.
  private static let patience = Duration.seconds(1)

  /// Asks for a token with which a window of another connection's can be shown, such as a toolkit's.
  ///
  /// - Returns: the token; nil where the user did nothing, or the compositor has no tokens or does not answer.
  package static func token() async -> String? {
    guard let connection = WaylandConnection.current, connection.globals.activation != nil else {
      return X11UserAction.announce()
    }
    return await token(connection)
  }

  static func token(_ connection: WaylandConnection) async -> String? {
    // Done in an X11 window of ours, if at all.
    guard let action = connection.globals.lastAction else { return X11UserAction.announce() }
    let (names, continuation) = AsyncStream<String>.makeStream()
    let token = connection.globals.activation?.make(.activationToken, 1, .new, destructor: 4) { _, arguments in
      if let name = arguments.text(0) { continuation.yield(name) }
      continuation.finish()
    }
    guard let token else { return nil }
    token.send(0, .uint(action.serial), .object(action.seat.pointer))
    // Compositors (sway from 1.8 on) mark the window as urgent only, where they are not told in which one it was done.
    token.send(2, .object(action.surface))
    token.send(3)
    connection.loop.flush()
    let timer = Task {
      try? await Task.sleep(for: patience)
      continuation.finish()
    }
    var answers = names.makeAsyncIterator()
    let name = await answers.next()
    timer.cancel()
    return withExtendedLifetime(token) { name }
  }
}
