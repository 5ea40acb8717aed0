import CGTK
import PipSink

/// What a Wayland compositor offers for surfaces of one's own in GTK's windows: shared memory and subsurfaces.
///
/// `@unchecked Sendable`: constant, and libwayland's requests can be made on every thread. Events come on GTK's.
final class WaylandConnection: @unchecked Sendable {
  let display: OpaquePointer
  let compositor: OpaquePointer
  let subcompositor: OpaquePointer
  let sharedMemory: OpaquePointer
  /// xdg_activation_v1; nil where the compositor has none.
  let activation: OpaquePointer?

  /// - Returns: nil when the compositor does not offer them.
  @MainActor
  init?(_ gdkDisplay: OpaquePointer) {
    guard let display = gdk_wayland_display_get_wl_display(gdkDisplay),
      let compositor = gdk_wayland_display_get_wl_compositor(gdkDisplay),
      let queue = wl_display_create_queue(display)
    else { return nil }
    defer { wl_event_queue_destroy(queue) }
    guard let wrapper = wl_proxy_create_wrapper(UnsafeMutableRawPointer(display)) else { return nil }
    // Answers to these questions only are waited for, and no event of GDK's comes meanwhile.
    wl_proxy_set_queue(OpaquePointer(wrapper), queue)
    let registry = wl_display_get_registry(OpaquePointer(wrapper))
    wl_proxy_wrapper_destroy(wrapper)
    guard let registry else { return nil }
    defer { wl_registry_destroy(registry) }
    let globals = UnsafeMutablePointer<Globals>.allocate(capacity: 1)
    globals.initialize(to: Globals())
    defer { globals.deallocate() }
    wl_registry_add_listener(registry, Self.registryListener.table, globals)
    guard wl_display_roundtrip_queue(display, queue) >= 0, let sharedMemory = globals.pointee.sharedMemory,
      let subcompositor = globals.pointee.subcompositor
    else { return nil }
    // Its formats; every compositor has XRGB8888.
    wl_display_roundtrip_queue(display, queue)
    activation = globals.pointee.activation
    for proxy in [sharedMemory, subcompositor, activation].compactMap(\.self) { wl_proxy_set_queue(proxy, nil) }
    (self.display, self.compositor) = (display, compositor)
    (self.sharedMemory, self.subcompositor) = (sharedMemory, subcompositor)
  }

  private struct Globals {
    var sharedMemory: OpaquePointer?
    var subcompositor: OpaquePointer?
    var activation: OpaquePointer?
  }

  private static let registryListener = WaylandListener(
    wl_registry_listener(
      global: { globals, registry, name, interface, _ in
        guard let globals = globals?.assumingMemoryBound(to: Globals.self), let interface else { return }
        switch String(cString: interface) {
        case "wl_shm": globals.pointee.sharedMemory = pipsink_bind_shm(registry, name)
        case "wl_subcompositor": globals.pointee.subcompositor = pipsink_bind_subcompositor(registry, name)
        case "xdg_activation_v1": globals.pointee.activation = pipsink_bind_activation(registry, name)
        default: break
        }
      },
      global_remove: { _, _, _ in }))
}

/// The functions for an object's events, of which libwayland keeps the address.
///
/// `@unchecked Sendable`: never changed, never freed.
struct WaylandListener<Table>: @unchecked Sendable {
  let table: UnsafePointer<Table>

  init(_ functions: Table) {
    let table = UnsafeMutablePointer<Table>.allocate(capacity: 1)
    table.initialize(to: functions)
    self.table = UnsafePointer(table)
  }
}
