import CGTK

/// Brings a widget in or takes it away over a short time, or at once where the user wants no animations
/// (GtkSettings' `gtk-enable-animations`, which desktops set for reduced motion).
@MainActor
final class Fade {
  static var duration = Duration.milliseconds(150)
  private static let step = Duration.milliseconds(15)
  private let widget: GtkWidgetPointer
  private var task: Task<Void, Never>?

  init(_ widget: GtkWidgetPointer) {
    self.widget = widget
  }

  isolated deinit {
    task?.cancel()
  }

  /// Changes the widget's opacity from what it is.
  ///
  /// - Parameter done: called when it has changed, and not when another change or ``stop(at:)`` comes before.
  func run(to opacity: Double, done: @escaping @MainActor () -> Void = {}) {
    task?.cancel()
    guard Self.isWanted(on: widget) else {
      gtk_widget_set_opacity(widget, opacity)
      return done()
    }
    let (first, start) = (gtk_widget_get_opacity(widget), ContinuousClock.now)
    // By the clock, and not by what is painted: what nobody sees is not painted.
    task = Task { [weak self] in
      var part = 0.0
      while part < 1 {
        guard (try? await Task.sleep(for: Self.step)) != nil, let self, !GTKDisplay.isLost else { return }
        part = min(1, (ContinuousClock.now - start) / Self.duration)
        gtk_widget_set_opacity(widget, first + (opacity - first) * part)
      }
      done()
    }
  }

  /// Leaves the widget with an opacity, whatever was under way.
  func stop(at opacity: Double) {
    task?.cancel()
    gtk_widget_set_opacity(widget, opacity)
  }

  private static func isWanted(on widget: GtkWidgetPointer) -> Bool {
    var value = GValue()
    defer { g_value_unset(&value) }
    let settings = UnsafeMutableRawPointer(gtk_settings_get_for_screen(gtk_widget_get_screen(widget)))
    g_object_get_property(settings?.assumingMemoryBound(to: GObject.self), "gtk-enable-animations", &value)
    return g_value_get_boolean(&value) != 0
  }
}
