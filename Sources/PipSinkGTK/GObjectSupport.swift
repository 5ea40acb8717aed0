import CGTK

typealias GtkWidgetPointer = UnsafeMutablePointer<GtkWidget>

/// What GTK's cast macros do. The types are GTK's own and are known at every call.
extension UnsafeMutablePointer where Pointee == GtkWidget {
  func cast<Other>(to type: Other.Type = Other.self) -> UnsafeMutablePointer<Other> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: Other.self)
  }

  var asWindow: UnsafeMutablePointer<GtkWindow> { cast() }
}

extension GdkWindowState {
  /// Whether it is one in which nobody sees the window.
  var isMinimized: Bool { rawValue & (GDK_WINDOW_STATE_ICONIFIED.rawValue | GDK_WINDOW_STATE_WITHDRAWN.rawValue) != 0 }
}

/// Signal handlers that belong to one Swift object; they are disconnected when this goes away. Each is a closure, which
/// must not keep that object.
@MainActor
final class SignalConnections {
  private var connections: [(object: UnsafeMutableRawPointer, id: gulong)] = []

  /// What a signal calls. GLib has it until the signal is disconnected.
  private final class Handler: Sendable {
    let body: @MainActor (UnsafePointer<GValue>) -> Bool

    init(_ body: @escaping @MainActor (UnsafePointer<GValue>) -> Bool) {
      self.body = body
    }
  }

  isolated deinit {
    disconnectAll()
  }

  /// Handles a signal whose parameters do not matter. Where others handle it as well, they hear of it, too.
  func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void) {
    connect(object, signal) { (_: UnsafePointer<GValue>) in
      body()
      return false
    }
  }

  /// Handles an event of a widget's.
  ///
  /// - Parameter body: returns whether the event ends with it.
  func connect<Event>(
    _ widget: GtkWidgetPointer, event signal: String, _ body: @escaping @MainActor (Event) -> Bool
  ) {
    connect(widget, signal) { (parameters: UnsafePointer<GValue>) in
      g_value_get_boxed(parameters + 1).map { body($0.assumingMemoryBound(to: Event.self).pointee) } ?? false
    }
  }

  /// Has `body` paint a widget by a cairo_t.
  func connectPainting(of widget: GtkWidgetPointer, _ body: @escaping @MainActor (OpaquePointer) -> Void) {
    connect(widget, "draw") { (parameters: UnsafePointer<GValue>) in
      if let context = g_value_get_boxed(parameters + 1) { body(OpaquePointer(context)) }
      return true
    }
  }

  /// - Parameter body: gets the signal's parameters, of which the object that emits it is the first; returns what is
  ///   answered to a signal that asks.
  func connect(
    _ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor (UnsafePointer<GValue>) -> Bool
  ) {
    let handler = Unmanaged.passRetained(Handler(body)).toOpaque()
    let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), handler)
    g_closure_add_finalize_notifier(closure, handler) { handler, _ in
      if let handler { Unmanaged<Handler>.fromOpaque(handler).release() }
    }
    g_closure_set_marshal(closure) { closure, answer, _, parameters, _, _ in
      let address = UInt(bitPattern: parameters)
      let result = withObject(closure?.pointee.data, as: Handler.self) { handler in
        UnsafePointer(bitPattern: address).map { handler.body($0) } ?? false
      }
      // Only signals that ask have a place for the answer.
      if let answer { g_value_set_boolean(answer, result == true ? 1 : 0) }
    }
    g_object_ref(object)
    connections.append((object, g_signal_connect_closure(object, signal, closure, 0)))
  }

  func disconnectAll() {
    for connection in connections {
      if g_signal_handler_is_connected(connection.object, connection.id) != 0 {
        g_signal_handler_disconnect(connection.object, connection.id)
      }
      g_object_unref(connection.object)
    }
    connections = []
  }
}

/// Calls `body` with the Swift object that a C function was registered with. For functions that are called on GTK's
/// thread.
///
/// - Returns: nil where the function has no object.
@discardableResult
func withObject<Object: AnyObject & Sendable, Result: Sendable>(
  _ context: UnsafeMutableRawPointer?, as type: Object.Type, _ body: @MainActor (Object) -> Result
) -> Result? {
  guard let context else { return nil }
  let object = Unmanaged<Object>.fromOpaque(context).takeUnretainedValue()
  return MainActor.assumeIsolated { body(object) }
}
