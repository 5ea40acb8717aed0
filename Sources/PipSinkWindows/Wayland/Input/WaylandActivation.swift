import CWindows
import PipSink

/// Gets the tokens with which a window is brought to the user, with the user's last action in one of the program's windows
/// as the reason (xdg-activation).
@MainActor
package enum WaylandActivation {
  /// How long a compositor may take to answer.
  private static let patience = Duration.seconds(1)

  /// Asks for a token with which a window on another connection, such as a toolkit's, can be brought to the user.
  ///
  /// - Returns: the token; nil when there was no action of the user, or when the compositor does not support tokens or
  ///   does not answer.
  package static func token() async -> String? {
    guard let connection = WaylandConnection.current, connection.globals.activation != nil else {
      return X11UserAction.announce()
    }
    return await token(connection)
  }

  static func token(_ connection: WaylandConnection) async -> String? {
    // The action may have been in one of PipSink's X11 windows.
    guard let action = connection.globals.lastAction else { return X11UserAction.announce() }
    let (names, continuation) = AsyncStream<String>.makeStream()
    let token = connection.globals.activation?.make(.activationToken, 1, .new, destructor: 4) { _, arguments in
      if let name = arguments.text(0) { continuation.yield(name) }
      continuation.finish()
    }
    guard let token else { return nil }
    token.send(0, .uint(action.serial), .object(action.seat.pointer))
    // Sway from 1.8 on only marks the window as urgent, unless it is told in which surface the action was.
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
