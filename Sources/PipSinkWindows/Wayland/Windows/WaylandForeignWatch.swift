import PipSink

/// Tells whether a compositor shows a window of another toolkit's, by the frames of a single transparent pixel over it.
@MainActor
package final class WaylandForeignWatch {
  private let connection: WaylandForeignConnection
  private let surface: OpaquePointer
  private let commit: @MainActor () -> Void
  private let watch: WaylandFrameWatch

  /// - Parameters:
  ///   - surface: the window's wl_surface, which has to live as long as this.
  ///   - commit: has the toolkit commit the surface, whose next commit shows the pixel.
  ///   - changed: called when frames begin or end to be missing.
  /// - Returns: nil when libwayland has no memory.
  package init?(
    _ connection: WaylandForeignConnection, surface: OpaquePointer, commit: @escaping @MainActor () -> Void,
    changed: @escaping @MainActor @Sendable (_ isFrameMissing: Bool) -> Void
  ) {
    guard let probe = WaylandFrameProbe(connection.globals, over: surface) else { return nil }
    (self.connection, self.surface, self.commit) = (connection, surface, commit)
    watch = WaylandFrameWatch(connection.loop, probe) { isMissing in Task { @MainActor in changed(isMissing) } }
    connection.watchTiles(ObjectIdentifier(self)) { [weak self] in self?.raise() }
    commit()
  }

  isolated deinit {
    connection.watchTiles(ObjectIdentifier(self), nil)
    watch.end()
  }

  /// Compositors may say nothing of the frames of what an opaque picture hides.
  private func raise() {
    guard let probe = WaylandFrameProbe(connection.globals, over: surface) else { return }
    watch.replaceProbe(probe)
    commit()
  }
}
