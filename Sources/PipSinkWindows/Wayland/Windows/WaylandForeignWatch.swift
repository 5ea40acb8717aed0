import PipSink

/// Watches whether the compositor shows a toolkit's window, by the frame events of a transparent pixel over the window.
@MainActor
package final class WaylandForeignWatch {
  private let connection: WaylandForeignConnection
  private let surface: OpaquePointer
  private let commit: @MainActor () -> Void
  private let watch: WaylandFrameWatch

  /// Starts watching a window.
  ///
  /// - Parameters:
  ///   - connection: the toolkit's connection.
  ///   - surface: the window's wl_surface, which must exist as long as this object.
  ///   - commit: makes the toolkit commit the surface, which adds the pixel to it.
  ///   - changed: called when the compositor stops or resumes showing the window.
  /// - Returns: nil when libwayland cannot allocate memory.
  package init?(
    _ connection: WaylandForeignConnection, surface: OpaquePointer, commit: @escaping @MainActor () -> Void,
    changed: @escaping @MainActor @Sendable (_ isFrameMissing: Bool) -> Void
  ) {
    guard let probe = WaylandFrameProbe(connection.globals, over: WaylandReference(surface)) else { return nil }
    (self.connection, self.surface, self.commit) = (connection, surface, commit)
    watch = WaylandFrameWatch(connection.loop, probe) { isMissing in Task { @MainActor in changed(isMissing) } }
    connection.watchTiles(ObjectIdentifier(self)) { [weak self] in self?.raise() }
    commit()
  }

  isolated deinit {
    connection.watchTiles(ObjectIdentifier(self), nil)
    watch.end()
  }

  /// Puts the pixel on top of the window again. Compositors may send no frame events to a pixel that an opaque picture
  /// covers.
  private func raise() {
    guard let probe = WaylandFrameProbe(connection.globals, over: WaylandReference(surface)) else { return }
    watch.replaceProbe(probe)
    commit()
  }
}
