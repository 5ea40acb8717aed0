import CGTK

/// Says once that the compositor has shown what GTK commits next on a surface (wl_surface.frame).
///
/// Nothing is said after it has been let go.
@MainActor
final class WaylandFrameCallback {
  private var callback: OpaquePointer?
  private let shown: () -> Void

  /// - Parameters:
  ///   - surface: the wl_surface of a window of GTK's, which has something to commit.
  ///   - shown: called on GTK's thread.
  /// - Returns: nil when libwayland has no memory.
  init?(_ surface: OpaquePointer, shown: @escaping () -> Void) {
    guard let callback = wl_surface_frame(surface) else { return nil }
    self.callback = callback
    self.shown = shown
    wl_callback_add_listener(callback, Self.listener.table, Unmanaged.passUnretained(self).toOpaque())
  }

  isolated deinit {
    if !GTKDisplay.isLost { forget() }
  }

  private func forget() {
    if let callback { wl_callback_destroy(callback) }
    callback = nil
  }

  private nonisolated static let listener = WaylandListener(
    wl_callback_listener(done: { context, _, _ in
      let address = UInt(bitPattern: context)
      MainActor.assumeIsolated {
        guard let this = object(UnsafeMutableRawPointer(bitPattern: address), as: WaylandFrameCallback.self) else {
          return
        }
        this.forget()
        this.shown()
      }
    }))
}
