import CGTK

typealias GtkWidgetPointer = UnsafeMutablePointer<GtkWidget>

/// Replacements for GTK's cast macros. The types are GTK's own and are known at every call.
extension UnsafeMutablePointer where Pointee == GtkWidget {
  func cast<Other>(to type: Other.Type = Other.self) -> UnsafeMutablePointer<Other> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: Other.self)
  }

  var asWindow: UnsafeMutablePointer<GtkWindow> { cast() }
}

extension GdkWindowState {
  /// Whether the window is minimised or withdrawn.
  var isMinimized: Bool { rawValue & (GDK_WINDOW_STATE_ICONIFIED.rawValue | GDK_WINDOW_STATE_WITHDRAWN.rawValue) != 0 }
}

/// Signal handlers that belong to one Swift object. They are disconnected when this is released. Each handler is a
/// closure, which must not keep that object alive.
@MainActor
final class SignalConnections {
  private var connections: [(object: UnsafeMutableRawPointer, id: gulong)] = []

  /// The closure for a signal. GLib keeps it until the signal is disconnected.
  private final class Handler: Sendable {
    let body: @MainActor (UnsafePointer<GValue>) -> Bool

    init(_ body: @escaping @MainActor (UnsafePointer<GValue>) -> Bool) {
      self.body = body
    }
  }

  isolated deinit {
    disconnectAll()
  }

  /// Handles a signal whose parameters do not matter. Other handlers of the signal are called as well.
  func connect(_ object: UnsafeMutableRawPointer, _ signal: String, _ body: @escaping @MainActor () -> Void) {
    connect(object, signal) { (_: UnsafePointer<GValue>) in
      body()
      return false
    }
  }

  /// Handles an event of a widget.
  ///
  /// - Parameter body: returns whether the event has been handled and must not be passed on.
  func connect<Event>(
    _ widget: GtkWidgetPointer, event signal: String, _ body: @escaping @MainActor (Event) -> Bool
  ) {
    connect(widget, signal) { (parameters: UnsafePointer<GValue>) in
      g_value_get_boxed(parameters + 1).map { body($0.assumingMemoryBound(to: Event.self).pointee) } ?? false
    }
  }

  /// Has `body` paint a widget with a cairo_t.
  func connectPainting(of widget: GtkWidgetPointer, _ body: @escaping @MainActor (OpaquePointer) -> Void) {
    connect(widget, "draw") { (parameters: UnsafePointer<GValue>) in
      if let context = g_value_get_boxed(parameters + 1) { body(OpaquePointer(context)) }
      return true
    }
  }

  /// Handles a signal with its parameters.
  ///
  /// - Parameter body: gets the signal's parameters, beginning with the object that emits it, and returns the answer
  ///   for signals that expect one.
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
      // Only signals that expect an answer have a place for it.
      if let answer { g_value_set_boolean(answer, result == true ? 1 : 0) }
    }
    g_object_ref(object)
    connections.append((object, g_signal_connect_closure(object, signal, closure, 0)))
  }

  /// Disconnects all handlers and releases their objects.
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

/// Calls `body` with the Swift object that a C callback was registered with. The callback must run on GTK's thread.
///
/// - Returns: nil where the callback has no object.
@discardableResult
func withObject<Object: AnyObject & Sendable, Result: Sendable>(
  _ context: UnsafeMutableRawPointer?, as type: Object.Type, _ body: @MainActor (Object) -> Result
) -> Result? {
  guard let context else { return nil }
  let object = Unmanaged<Object>.fromOpaque(context).takeUnretainedValue()
  return MainActor.assumeIsolated { body(object) }
}
