import CGTK
import PipSink

/// A surface of our own over GTK's window, which takes no pointer and no touch: GTK's window gets those.
///
/// Made and destroyed on GTK's thread. It is there for the user once GTK has painted the window again.
struct WaylandSubsurface {
  let surface: OpaquePointer
  let subsurface: OpaquePointer

  /// How many have been made. A new one lies above its parent's others.
  static let madeCount = Locked(0)

  /// - Parameter parent: the window's wl_surface.
  /// - Returns: nil when libwayland has no memory.
  init?(_ connection: WaylandConnection, over parent: OpaquePointer) {
    guard let surface = wl_compositor_create_surface(connection.compositor) else { return nil }
    guard let subsurface = wl_subcompositor_get_subsurface(connection.subcompositor, surface, parent) else {
      wl_surface_destroy(surface)
      return nil
    }
    self.surface = surface
    self.subsurface = subsurface
    Self.madeCount.withLock { $0 += 1 }
    wl_subsurface_set_desync(subsurface)
    if let nothing = wl_compositor_create_region(connection.compositor) {
      wl_surface_set_input_region(surface, nothing)
      wl_region_destroy(nothing)
    }
  }

  func hide() {
    wl_surface_attach(surface, nil, 0, 0)
    wl_surface_commit(surface)
  }

  func destroy() {
    wl_subsurface_destroy(subsurface)
    wl_surface_destroy(surface)
  }
}

/// Says once that the compositor has shown what is committed next on a surface (wl_surface.frame).
///
/// Nothing is said after it has been let go.
@MainActor
final class WaylandFrameCallback {
  private var callback: OpaquePointer?
  private let shown: () -> Void

  /// - Parameters:
  ///   - surface: a wl_surface, for which there is something to commit.
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
      withObject(context, as: WaylandFrameCallback.self) { callback in
        callback.forget()
        callback.shown()
      }
    }))
}
