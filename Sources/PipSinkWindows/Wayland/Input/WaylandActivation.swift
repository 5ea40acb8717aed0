import CWindows
import PipSink

/// Has a compositor show a window because of what the user did last in one of the program's (xdg-activation).
package enum WaylandActivation {
  /// - Returns: what has to be kept until the window is shown; nil where nothing has to be waited for.
  static func show(_ surface: WaylandProxy, _ connection: WaylandConnection) -> WaylandProxy? {
    guard let activation = connection.globals.activation else { return nil }
    let loop = connection.loop
    // The window's surface goes on the connection's thread, where the token comes, and after it is asked for.
    return token(connection) { [weak surface] name in
      guard let surface else { return }
      activation.send(2, .text(name), .object(surface.pointer))
      loop.flush()
    }
  }

  /// Asks for a token with which a window of another connection's can be shown, such as a toolkit's.
  ///
  /// - Parameter use: called once with the token, or never, where the user did nothing or the compositor has no tokens.
  /// - Returns: what has to be kept until then; nil where nothing has to be waited for.
  @MainActor
  package static func token(_ use: @escaping @MainActor @Sendable (String) -> Void) -> (any Sendable)? {
    guard let connection = WaylandConnection.current, connection.globals.activation != nil else {
      if let name = X11UserAction.announce() { use(name) }
      return nil
    }
    return token(connection) { name in Task { @MainActor in use(name) } }
  }

  /// - Parameter use: called at once where the user did it in an X11 window, else on the connection's thread.
  private static func token(
    _ connection: WaylandConnection, _ use: @escaping @Sendable (String) -> Void
  ) -> WaylandProxy? {
    guard let action = connection.globals.lastAction else {
      // Done in an X11 window of ours, if at all.
      if let name = X11UserAction.announce() { use(name) }
      return nil
    }
    let token = connection.globals.activation?.make(.activationToken, 1, .new, destructor: 4) { _, arguments in
      if let name = arguments.text(0) { use(name) }
    }
    guard let token else { return nil }
    token.send(0, .uint(action.serial), .object(action.seat.pointer))
    // Compositors (sway from 1.8 on) mark the window as urgent only, where they are not told in which one it was done.
    token.send(2, .object(action.surface))
    token.send(3)
    connection.loop.flush()
    return token
  }
}
