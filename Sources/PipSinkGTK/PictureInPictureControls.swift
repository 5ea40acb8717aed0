import CGTK
import PipSink

/// The buttons over a picture-in-picture window: they come with the pointer or a touch, and fade when it rests or
/// leaves.
@MainActor
final class PictureInPictureControls {
  /// A button was pressed.
  var perform: ((PictureInPictureAction) -> Void)?

  /// Close at the upper left, back to the app at the upper right, the others in the middle of the lower edge.
  private let bars: [GtkWidgetPointer]
  private var buttons: [PictureInPictureAction: Button] = [:]
  private let signals = SignalConnections()
  private var hiding: Task<Void, Never>?
  /// Milliseconds.
  private static let fading: guint = 150
  private static let restingSeconds = 2.5

  /// - Parameter overlay: the GtkOverlay that they lie in.
  init(in overlay: GtkWidgetPointer) {
    let places: [(GtkAlign, GtkAlign, [PictureInPictureAction])] = [
      (GTK_ALIGN_START, GTK_ALIGN_START, [.close]), (GTK_ALIGN_END, GTK_ALIGN_START, [.backToApp]),
      (
        GTK_ALIGN_CENTER, GTK_ALIGN_END,
        [.previousStream, .skipBackward, .playPause, .skipForward, .nextStream, .mute]
      ),
    ]
    var bars: [GtkWidgetPointer] = []
    for (horizontal, vertical, actions) in places {
      guard let bar = gtk_revealer_new(), let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2) else { continue }
      gtk_revealer_set_transition_type(bar.cast(), GTK_REVEALER_TRANSITION_TYPE_CROSSFADE)
      gtk_revealer_set_transition_duration(bar.cast(), Self.fading)
      gtk_style_context_add_class(gtk_widget_get_style_context(box), "pipsink-controls")
      gtk_widget_set_halign(bar, horizontal)
      gtk_widget_set_valign(bar, vertical)
      gtk_container_add(bar.asContainer, box)
      for action in actions {
        let button = Button(action)
        buttons[action] = button
        gtk_container_add(box.asContainer, button.widget)
        gtk_widget_show(button.widget)
      }
      gtk_widget_show(box)
      gtk_widget_set_no_show_all(bar, 1)
      gtk_overlay_add_overlay(overlay.cast(), bar)
      bars.append(bar)
    }
    self.bars = bars
    connectSignals()
  }

  isolated deinit {
    hiding?.cancel()
  }

  private func connectSignals() {
    for bar in bars {
      // Faded out they are hidden, so that nothing lies over the picture.
      signals.connect(bar, "notify::child-revealed") {
        let isShown = gtk_revealer_get_child_revealed(bar.cast()) != 0 || gtk_revealer_get_reveal_child(bar.cast()) != 0
        if !isShown { gtk_widget_hide(bar) }
      }
    }
    for (action, button) in buttons {
      signals.connect(button.widget, "clicked") { [weak self] in self?.perform?(action) }
    }
  }

  /// The pointer has moved over the window, or a finger has touched it.
  func show() {
    guard !GTKDisplay.isLost else { return }
    for bar in bars {
      gtk_widget_show(bar)
      gtk_revealer_set_reveal_child(bar.cast(), 1)
    }
    hiding?.cancel()
    hiding = Task { [weak self] in
      guard (try? await Task.sleep(for: .seconds(Self.restingSeconds))) != nil else { return }
      self?.hide()
    }
  }

  func hide() {
    guard !GTKDisplay.isLost else { return }
    hiding?.cancel()
    for bar in bars { gtk_revealer_set_reveal_child(bar.cast(), 0) }
  }

  func update(_ presentation: PictureInPicturePresentation) {
    guard !GTKDisplay.isLost else { return }
    for (action, button) in buttons {
      gtk_widget_set_visible(button.widget, presentation.actions.contains(action) ? 1 : 0)
      button.icon = ControlIcon(action, isPaused: presentation.isPaused, isMuted: presentation.isMuted)
    }
    let others = presentation.actions.subtracting([.close, .backToApp])
    // An empty bar would be a stripe.
    if others.isEmpty, let last = bars.last { gtk_widget_hide(last) }
  }

  @MainActor
  private final class Button {
    let widget: GtkWidgetPointer
    private let picture: GtkWidgetPointer
    private let signals = SignalConnections()

    var icon: ControlIcon {
      didSet {
        guard icon != oldValue else { return }
        setLabel()
        gtk_widget_queue_draw(picture)
      }
    }

    init(_ action: PictureInPictureAction) {
      icon = ControlIcon(action, isPaused: false, isMuted: false)
      widget = gtk_button_new()
      g_object_ref_sink(widget)
      picture = gtk_drawing_area_new()
      gtk_widget_set_size_request(picture, 16, 16)
      gtk_widget_set_has_window(picture, 0)
      gtk_button_set_relief(widget.cast(), GTK_RELIEF_NONE)
      gtk_widget_set_can_focus(widget, 0)
      gtk_style_context_add_class(gtk_widget_get_style_context(widget), "pipsink-control")
      gtk_container_add(widget.asContainer, picture)
      gtk_widget_show(picture)
      signals.connectPainting(of: picture) { [weak self] in self?.icon.draw($0) }
      setLabel()
    }

    isolated deinit {
      if !GTKDisplay.isLost { g_object_unref(widget) }
    }

    private func setLabel() {
      gtk_widget_set_tooltip_text(widget, icon.rawValue)
      if let accessible = gtk_widget_get_accessible(widget) { atk_object_set_name(accessible, icon.rawValue) }
    }
  }
}
