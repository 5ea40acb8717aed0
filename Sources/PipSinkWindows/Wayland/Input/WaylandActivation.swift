import PipSink

/// Gets tokens with which a window can be brought to the user. The reason is the user's last action in one of the
/// program's windows (xdg-activation).
@MainActor
package enum WaylandActivation {
  /// The longest time to wait for the compositor's answer.
  private static let patience = Duration.seconds(1)

  /// Asks for a token with which a window on another connection, such as a toolkit's, can be brought to the user.
  ///
  /// - Returns: the token, or nil when there was no action of the user, or when the compositor does not support tokens
  ///   or does not answer.
  package static func token() async -> String? {
    guard let connection = WaylandConnection.current, connection.globals.activation != nil else {
      return X11UserAction.announce()
    }
    return await token(connection)
  }

  /// Asks for a token with which a window on PipSink's connection can be brought to the user.
  ///
  /// - Returns: the token, or nil when there was no action of the user, or when the compositor does not answer.
  static func token(_ connection: WaylandConnection) async -> String? {
    // The action may have been in one of PipSink's X11 windows.
    guard let action = connection.globals.lastAction else { return X11UserAction.announce() }
    let (names, continuation) = AsyncStream<String>.makeStream()
    let token = connection.globals.activation?.getActivationToken { events in
      events.done { name in
        continuation.yield(name)
        continuation.finish()
      }
    }
    guard let token else { return nil }
    token.setSerial(action.serial, action.seat.reference)
    // Sway from 1.8 on only marks the window as urgent, unless it is told in which surface the action was.
    token.setSurface(action.surface)
    token.commit()
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

extension WaylandWindow {
  /// Asks the compositor to give the window the keyboard and to show it, because of the user's last action in one of the
  /// program's windows (xdg-activation).
  func activate() async {
    guard let surface, let name = await WaylandActivation.token(connection), surface === self.surface else { return }
    globals.activation?.activate(name, surface.surface.reference)
    flush()
  }
}
