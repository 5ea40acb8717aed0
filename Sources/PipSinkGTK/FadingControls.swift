import CGTK

/// Bars of buttons over a picture: they come with the pointer or a touch, and fade when it rests or leaves.
@MainActor
final class FadingControls {
  private var bars: [GtkWidgetPointer] = []
  private let signals = SignalConnections()
  private var hiding: Task<Void, Never>?
  /// Milliseconds.
  private static let fading: guint = 150
  private static let restingSeconds = 2.5

  isolated deinit {
    hiding?.cancel()
  }

  /// Adds a bar, which is hidden at first.
  ///
  /// - Parameter overlay: the GtkOverlay that it lies in, and that owns it.
  /// - Returns: the bar.
  @discardableResult
  func addBar(
    of buttons: [ControlButton], to overlay: GtkWidgetPointer, _ horizontal: GtkAlign, _ vertical: GtkAlign
  ) -> GtkWidgetPointer? {
    guard let bar = gtk_revealer_new(), let box = gtk_box_new(GTK_ORIENTATION_HORIZONTAL, 2) else { return nil }
    gtk_revealer_set_transition_type(bar.cast(), GTK_REVEALER_TRANSITION_TYPE_CROSSFADE)
    gtk_revealer_set_transition_duration(bar.cast(), Self.fading)
    gtk_style_context_add_class(gtk_widget_get_style_context(box), "pipsink-controls")
    gtk_widget_set_halign(bar, horizontal)
    gtk_widget_set_valign(bar, vertical)
    gtk_container_add(bar.asContainer, box)
    for button in buttons {
      gtk_container_add(box.asContainer, button.widget)
      gtk_widget_show(button.widget)
    }
    gtk_widget_show(box)
    gtk_widget_set_no_show_all(bar, 1)
    gtk_overlay_add_overlay(overlay.cast(), bar)
    // Faded out it is hidden, so that nothing lies over the picture.
    signals.connect(bar, "notify::child-revealed") {
      let isShown = gtk_revealer_get_child_revealed(bar.cast()) != 0 || gtk_revealer_get_reveal_child(bar.cast()) != 0
      if !isShown { gtk_widget_hide(bar) }
    }
    bars.append(bar)
    return bar
  }

  /// The pointer has moved over the picture, or a finger has touched it.
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
}
