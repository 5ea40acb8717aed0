import CGTK

typealias GtkWidgetPointer = UnsafeMutablePointer<GtkWidget>

/// What GTK's cast macros do. The types are GTK's own and are known at every call.
extension UnsafeMutablePointer where Pointee == GtkWidget {
  func cast<Other>(to type: Other.Type = Other.self) -> UnsafeMutablePointer<Other> {
    UnsafeMutableRawPointer(self).assumingMemoryBound(to: Other.self)
  }

  var asWindow: UnsafeMutablePointer<GtkWindow> { cast() }
  var asContainer: UnsafeMutablePointer<GtkContainer> { cast() }
}

// The handlers of GTK's event signals; they return whether the event ends with them. (A generic one cannot be a C
// function.)
typealias GdkEventButtonHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventButton>?, UnsafeMutableRawPointer?
  ) -> gboolean
typealias GdkEventScrollHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventScroll>?, UnsafeMutableRawPointer?
  ) -> gboolean
typealias GdkEventMotionHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventMotion>?, UnsafeMutableRawPointer?
  ) -> gboolean
typealias GdkEventConfigureHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventConfigure>?, UnsafeMutableRawPointer?
  ) -> gboolean
typealias GdkEventKeyHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventKey>?, UnsafeMutableRawPointer?
  ) -> gboolean
typealias GdkEventAnyHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventAny>?, UnsafeMutableRawPointer?
  ) -> gboolean
typealias GdkEventWindowStateHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventWindowState>?, UnsafeMutableRawPointer?
  ) -> gboolean
typealias GdkEventVisibilityHandler =
  @convention(c) (
    GtkWidgetPointer?, UnsafeMutablePointer<GdkEventVisibility>?, UnsafeMutableRawPointer?
  ) -> gboolean

/// Whether a window's state (GdkWindowState) is one in which nobody sees it.
func isMinimized(_ state: UInt32) -> Bool {
  state & (GDK_WINDOW_STATE_ICONIFIED.rawValue | GDK_WINDOW_STATE_WITHDRAWN.rawValue) != 0
}

/// Signal handlers of one Swift object. They do not keep it; they are disconnected when this goes away, so it belongs
/// to that object.
@MainActor
final class SignalConnections {
  private var connections: [(object: UnsafeMutableRawPointer, id: gulong)] = []

  isolated deinit {
    disconnectAll()
  }

  /// - Parameters:
  ///   - callback: a `@convention(c)` function with the signal's parameters and the context last.
  ///   - context: borrowed: it has to live as long as this.
  func connect<Callback>(
    _ object: GtkWidgetPointer, _ signal: String, to context: AnyObject, _ callback: Callback
  ) {
    connect(UnsafeMutableRawPointer(object), signal, to: context, callback)
  }

  func connect<Callback>(
    _ object: UnsafeMutableRawPointer, _ signal: String, to context: AnyObject, _ callback: Callback
  ) {
    let id = g_signal_connect_data(
      object, signal, unsafeBitCast(callback, to: GCallback.self), Unmanaged.passUnretained(context).toOpaque(), nil,
      GConnectFlags(rawValue: 0))
    g_object_ref(object)
    connections.append((object, id))
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

/// The Swift object that a signal handler was connected with.
@MainActor
func object<Object: AnyObject>(_ context: UnsafeMutableRawPointer?, as type: Object.Type = Object.self) -> Object? {
  context.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
}
