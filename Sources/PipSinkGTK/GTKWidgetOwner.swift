/// What has a GTK widget, which can be put into a container of the app's own.
@MainActor
public protocol GTKWidgetOwner: AnyObject {
  /// The GtkWidget. Borrowed: it lives as long as its owner.
  var unsafeGtkWidget: UnsafeMutableRawPointer { get }
}
