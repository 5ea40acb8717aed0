import CGTK
import PipSink

/// The button over a stream's place in the app: it takes the stream to picture-in-picture, or brings it back from there.
@MainActor
final class StreamControls {
  private let controls = FadingControls()
  private let button: ControlButton
  private let signals = SignalConnections()

  /// - Parameters:
  ///   - overlay: the GtkOverlay of the place.
  ///   - picture: the widget in it whose window the pointer moves over.
  init(in overlay: GtkWidgetPointer, over picture: GtkWidgetPointer, pressed: @escaping @MainActor () -> Void) {
    Style.install()
    button = ControlButton(.pictureInPicture, pressed: pressed)
    controls.addBar(of: [button], to: overlay, GTK_ALIGN_END, GTK_ALIGN_START)
    let mask =
      GDK_POINTER_MOTION_MASK.rawValue | GDK_LEAVE_NOTIFY_MASK.rawValue | GDK_TOUCH_MASK.rawValue
    gtk_widget_add_events(picture, gint(mask))
    // A window that opens below a pointer that rests is entered, too, but nobody has asked for anything.
    for signal in ["motion-notify-event", "touch-event"] {
      signals.connect(picture, signal) { [weak self] in self?.controls.show() }
    }
    signals.connect(picture, "leave-notify-event") { [weak self] in self?.controls.hide() }
    // Who goes from the picture to the button leaves the picture.
    signals.connect(button.widget, "enter-notify-event") { [weak self] in self?.controls.show() }
    signals.connect(button.widget, "leave-notify-event") { [weak self] in self?.controls.hide() }
  }

  var isInPictureInPicture = false {
    didSet { button.icon = isInPictureInPicture ? .backToApp : .pictureInPicture }
  }
}
