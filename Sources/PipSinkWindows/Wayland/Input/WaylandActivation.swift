import CWindows
import PipSink

/// Brings a window to the user, with the user's last action in one of the program's windows as the reason
/// (xdg-activation).
package enum WaylandActivation {
  /// Brings a window of PipSink's to the user.
  ///
  /// - Returns: an object that the caller keeps until the window is shown, or nil when there is nothing to wait for.
  static func show(_ surface: WaylandProxy, _ connection: WaylandConnection) -> WaylandProxy? {
    guard let activation = connection.globals.activation else { return nil }
    let loop = connection.loop
    // The token arrives on the connection's thread. The surface is also destroyed there, so it cannot go in between.
    return token(connection) { [weak surface] name in
      guard let surface else { return }
      activation.send(2, .text(name), .object(surface.pointer))
      loop.flush()
    }
  }

  /// Asks for a token with which a window on another connection, such as a toolkit's, can be brought to the user.
  ///
  /// - Parameter use: called once with the token. It is never called when there was no action of the user, or when the
  ///   compositor does not support tokens.
  /// - Returns: an object that the caller keeps until then, or nil when there is nothing to wait for.
  @MainActor
  package static func token(_ use: @escaping @MainActor @Sendable (String) -> Void) -> (any Sendable)? {
    guard let connection = WaylandConnection.current, connection.globals.activation != nil else {
      if let name = X11UserAction.announce() { use(name) }
      return nil
    }
    return token(connection) { name in Task { @MainActor in use(name) } }
  }

  /// - Parameter use: called with the token, at once if the last action was in an X11 window, otherwise on the
  ///   connection's thread.
  private static func token(
    _ connection: WaylandConnection, _ use: @escaping @Sendable (String) -> Void
  ) -> WaylandProxy? {
    guard let action = connection.globals.lastAction else {
      // The action may have been in one of PipSink's X11 windows.
      if let name = X11UserAction.announce() { use(name) }
      return nil
    }
    let token = connection.globals.activation?.make(.activationToken, 1, .new, destructor: 4) { _, arguments in
      if let name = arguments.text(0) { use(name) }
    }
    guard let token else { return nil }
    token.send(0, .uint(action.serial), .object(action.seat.pointer))
    // Sway from 1.8 on only marks the window as urgent, unless it is told in which surface the action was.
    token.send(2, .object(action.surface))
    token.send(3)
    connection.loop.flush()
    return token
  }
}
