import CGTK
import PipSink
import PipSinkWindows

/// The buttons over a picture-in-picture window.
@MainActor
final class PictureInPictureControls {
  /// A button was pressed.
  var perform: ((PictureInPictureAction) -> Void)?

  private let controls = FadingControls()
  private var buttons: [PictureInPictureAction: ControlButton] = [:]
  /// In the middle of the lower edge; close is at the upper left, back to the app at the upper right.
  private var middleBar: GtkWidgetPointer?

  /// - Parameter overlay: the GtkOverlay that they lie in.
  init(in overlay: GtkWidgetPointer) {
    addBar([.close], to: overlay, GTK_ALIGN_START, GTK_ALIGN_START)
    addBar([.backToApp], to: overlay, GTK_ALIGN_END, GTK_ALIGN_START)
    middleBar = addBar(
      [.previousStream, .skipBackward, .playPause, .skipForward, .nextStream, .mute], to: overlay, GTK_ALIGN_CENTER,
      GTK_ALIGN_END)
  }

  @discardableResult
  private func addBar(
    _ actions: [PictureInPictureAction], to overlay: GtkWidgetPointer, _ horizontal: GtkAlign, _ vertical: GtkAlign
  ) -> GtkWidgetPointer? {
    let new = actions.map { action in
      let button = ControlButton(ControlIcon(action, isPaused: false, isMuted: false)) { [weak self] in
        self?.perform?(action)
      }
      buttons[action] = button
      return button
    }
    return controls.addBar(of: new, to: overlay, horizontal, vertical)
  }

  /// The pointer has moved over the window, or a finger has touched it.
  func show() { controls.show() }

  func hide() { controls.hide() }

  func update(_ presentation: PictureInPicturePresentation) {
    guard !GTKDisplay.isLost else { return }
    for (action, button) in buttons {
      gtk_widget_set_visible(button.widget, presentation.actions.contains(action) ? 1 : 0)
      button.icon = ControlIcon(action, isPaused: presentation.isPaused, isMuted: presentation.isMuted)
    }
    let others = presentation.actions.subtracting([.close, .backToApp])
    // An empty bar would be a stripe.
    if others.isEmpty, let middleBar { gtk_widget_hide(middleBar) }
  }
}
