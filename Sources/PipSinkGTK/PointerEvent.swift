import CGTK

/// What the pointer does on a view. Places are in the view's pixels, from its upper left.
public enum PointerEvent: Sendable {
  case moved(x: Double, y: Double)
  /// Buttons are counted from 1, the left one.
  case pressed(button: Int, x: Double, y: Double)
  case released(button: Int, x: Double, y: Double)
  /// By the wheel, in its steps: right and down are positive.
  case scrolled(x: Double, y: Double, deltaX: Double, deltaY: Double)
}

extension GTKVideoView {
  /// Has the widget tell what the pointer does on it. The window hears of it as well.
  func watchPointer() {
    let mask =
      GDK_BUTTON_PRESS_MASK.rawValue | GDK_BUTTON_RELEASE_MASK.rawValue | GDK_POINTER_MOTION_MASK.rawValue
      | GDK_SCROLL_MASK.rawValue
    gtk_widget_add_events(widget, gint(mask))
    for signal in ["button-press-event", "button-release-event"] {
      signals.connect(widget, event: signal) { [weak self] (event: GdkEventButton) in
        let (number, isPress) = (Int(event.button), event.type == GDK_BUTTON_PRESS)
        guard isPress || event.type == GDK_BUTTON_RELEASE else { return false }
        self?.report(x: event.x, y: event.y) { x, y in
          isPress ? .pressed(button: number, x: x, y: y) : .released(button: number, x: x, y: y)
        }
        return false
      }
    }
    signals.connect(widget, event: "motion-notify-event") { [weak self] (event: GdkEventMotion) in
      self?.report(x: event.x, y: event.y) { .moved(x: $0, y: $1) }
      return false
    }
    signals.connect(widget, event: "scroll-event") { [weak self] (event: GdkEventScroll) in
      let deltaX = event.direction == GDK_SCROLL_RIGHT ? 1.0 : event.direction == GDK_SCROLL_LEFT ? -1 : 0
      let deltaY = event.direction == GDK_SCROLL_DOWN ? 1.0 : event.direction == GDK_SCROLL_UP ? -1 : 0
      self?.report(x: event.x, y: event.y) { .scrolled(x: $0, y: $1, deltaX: deltaX, deltaY: deltaY) }
      return false
    }
  }

  /// GTK counts in its own pixels.
  private func report(x: Double, y: Double, _ event: (Double, Double) -> PointerEvent) {
    let scale = Double(gtk_widget_get_scale_factor(widget))
    pointerHandler?(event(x * scale, y * scale))
  }
}
