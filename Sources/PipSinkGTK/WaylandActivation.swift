import CGTK
import PipSink
import PipSinkWindows

/// Has a Wayland compositor show a window of the program because of what the user has just done in another one.
///
/// GTK 3 asks for that, too, but does not say in which window the user did it, and compositors (sway from 1.8 on) then only
/// mark the window as urgent. So this follows the pointer by itself: where it is, and the serial of its last button event.
@MainActor
final class WaylandActivation {
  private let activation: OpaquePointer
  private let seat: OpaquePointer
  private let pointer: OpaquePointer
  /// The surface that the pointer is on. It may have been destroyed since, so that it is looked up before it is used.
  private var entered: OpaquePointer?
  private var serial: UInt32?
  private var token: OpaquePointer?
  private var window: GtkWidgetPointer?

  // Of wl_pointer.
  private nonisolated static let enter: UInt32 = 0
  private nonisolated static let leave: UInt32 = 1
  private nonisolated static let button: UInt32 = 3

  /// - Returns: nil where the compositor has no xdg-activation, or no pointer.
  init?(_ connection: WaylandConnection) {
    guard let activation = connection.activation, let display = gdk_display_get_default(),
      let gdkSeat = gdk_display_get_default_seat(display), Self.hasPointer(gdkSeat),
      let seat = gdk_wayland_seat_get_wl_seat(gdkSeat), let pointer = wl_seat_get_pointer(seat)
    else { return nil }
    (self.activation, self.seat, self.pointer) = (activation, seat, pointer)
    // Whatever events there are in later versions, one function takes them all.
    wl_proxy_add_dispatcher(
      pointer,
      { _, target, opcode, _, arguments in
        guard let target, let arguments else { return 0 }
        let serial = arguments[0].u
        let surface = opcode == WaylandActivation.enter ? UInt(bitPattern: arguments[1].o) : 0
        withObject(wl_proxy_get_user_data(OpaquePointer(target)), as: WaylandActivation.self) {
          $0.note(opcode, serial, OpaquePointer(bitPattern: surface))
        }
        return 0
      }, nil, Unmanaged.passUnretained(self).toOpaque())
  }

  /// Whether the compositor has a pointer. It ends the connection of whoever asks a seat without one for it, and GDK has
  /// one of its own there: only a physical one says it.
  private static func hasPointer(_ seat: UnsafeMutablePointer<GdkSeat>) -> Bool {
    let devices = gdk_seat_get_slaves(seat, GDK_SEAT_CAPABILITY_POINTER)
    defer { g_list_free(devices) }
    return devices != nil
  }

  isolated deinit {
    guard !GTKDisplay.isLost else { return }
    forgetToken()
    wl_proxy_destroy(pointer)
  }

  private func note(_ opcode: UInt32, _ serial: UInt32, _ surface: OpaquePointer?) {
    switch opcode {
    case Self.enter: entered = surface
    case Self.leave: entered = nil
    case Self.button: self.serial = serial
    default: break
    }
  }

  /// Asks for the window to be shown, where the pointer is on one of the program's windows and a button of it was used;
  /// else because of what was done last in an X11 window of the program's.
  func show(_ window: GtkWidgetPointer) {
    guard let serial, let entered, isAWindows(entered) else {
      if let surface = Self.surface(of: window), let name = X11UserAction.announce() {
        pipsink_activate(activation, name, surface)
      }
      return
    }
    forgetToken()
    guard let token = pipsink_request_activation(activation, serial, seat, entered) else { return }
    (self.token, self.window) = (token, window)
    wl_proxy_add_dispatcher(
      token,
      { _, target, _, _, arguments in
        guard let target, let arguments, let text = arguments[0].s else { return 0 }
        let name = String(cString: text)
        withObject(wl_proxy_get_user_data(OpaquePointer(target)), as: WaylandActivation.self) { $0.use(name) }
        return 0
      }, nil, Unmanaged.passUnretained(self).toOpaque())
  }

  /// A window that is destroyed is not to be shown any more.
  func forget(_ window: GtkWidgetPointer) {
    if self.window == window { forgetToken() }
  }

  private func use(_ name: String) {
    if let window, let surface = Self.surface(of: window) { pipsink_activate(activation, name, surface) }
    forgetToken()
  }

  private func forgetToken() {
    if let token { pipsink_destroy_activation_token(token) }
    (token, window) = (nil, nil)
  }

  private func isAWindows(_ surface: OpaquePointer) -> Bool {
    let windows = gtk_window_list_toplevels()
    defer { g_list_free(windows) }
    var next = windows
    while let item = next {
      if let window = item.pointee.data, Self.surface(of: window.assumingMemoryBound(to: GtkWidget.self)) == surface {
        return true
      }
      next = item.pointee.next
    }
    return false
  }

  private static func surface(of window: GtkWidgetPointer) -> OpaquePointer? {
    gtk_widget_get_window(window).flatMap { gdk_wayland_window_get_wl_surface($0) }
  }
}
