import CGTK
import PipSink

/// What the user and the window manager do to the window.
extension PictureInPictureWindow {
  private typealias ScreenHandler = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void
  private typealias CrossingHandler =
    @convention(c) (
      GtkWidgetPointer?, UnsafeMutablePointer<GdkEventCrossing>?, UnsafeMutableRawPointer?
    ) -> gboolean
  private typealias TouchHandler =
    @convention(c) (
      GtkWidgetPointer?, UnsafeMutablePointer<GdkEvent>?, UnsafeMutableRawPointer?
    ) -> gboolean

  func connectSignals() {
    let mask =
      GDK_BUTTON_PRESS_MASK.rawValue | GDK_BUTTON_RELEASE_MASK.rawValue | GDK_POINTER_MOTION_MASK.rawValue
      | GDK_ENTER_NOTIFY_MASK.rawValue | GDK_LEAVE_NOTIFY_MASK.rawValue | GDK_SCROLL_MASK.rawValue
      | GDK_TOUCH_MASK.rawValue
    gtk_widget_add_events(window, gint(mask))
    connectPointer()
    connectHovering()
    let configured: GdkEventConfigureHandler = { _, event, window in
      guard let event = event?.pointee else { return 0 }
      MainActor.assumeIsolated {
        object(window, as: PictureInPictureWindow.self)?.didConfigure(
          width: Int(event.width), height: Int(event.height))
      }
      return 0
    }
    signals.connect(window, "configure-event", to: self, configured)
    let deleted: GdkEventAnyHandler = { _, _, window in
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.didRequestClosing() }
      return 1
    }
    signals.connect(window, "delete-event", to: self, deleted)
    let key: GdkEventKeyHandler = { _, event, window in
      guard let keyval = event?.pointee.keyval else { return 0 }
      return MainActor.assumeIsolated {
        object(window, as: PictureInPictureWindow.self)?.press(key: keyval) == true ? 1 : 0
      }
    }
    signals.connect(window, "key-press-event", to: self, key)
    let state: GdkEventWindowStateHandler = { _, event, window in
      let state = event?.pointee.new_window_state.rawValue ?? 0
      MainActor.assumeIsolated {
        guard let window = object(window, as: PictureInPictureWindow.self), window.isOpen else { return }
        window.eventHandler?(.visibilityChanged(!isMinimized(state)))
      }
      return 0
    }
    signals.connect(window, "window-state-event", to: self, state)
    guard let screen = gdk_screen_get_default() else { return }
    let changed: ScreenHandler = { _, window in
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.monitorsDidChange() }
    }
    signals.connect(UnsafeMutableRawPointer(screen), "monitors-changed", to: self, changed)
    signals.connect(UnsafeMutableRawPointer(screen), "size-changed", to: self, changed)
  }

  private func connectPointer() {
    // A value of a C structure's pointee may not leave the handler, so what is needed of it is taken out here.
    let pressed: GdkEventButtonHandler = { _, event, window in
      guard let event = event?.pointee, event.button == 1 else { return 0 }
      let isDouble = event.type == GDK_2BUTTON_PRESS
      guard isDouble || event.type == GDK_BUTTON_PRESS else { return 0 }
      MainActor.assumeIsolated {
        guard let window = object(window, as: PictureInPictureWindow.self) else { return }
        if isDouble {
          window.pointer.cancel()
          window.eventHandler?(.action(.backToApp))
        } else {
          window.pointer.press(.init(x: event.x, y: event.y, rootX: event.x_root, rootY: event.y_root))
        }
      }
      return 1
    }
    signals.connect(window, "button-press-event", to: self, pressed)
    let moved: GdkEventMotionHandler = { _, event, window in
      guard let event = event?.pointee else { return 0 }
      MainActor.assumeIsolated {
        guard let window = object(window, as: PictureInPictureWindow.self) else { return }
        window.pointer.move(.init(x: event.x, y: event.y, rootX: event.x_root, rootY: event.y_root))
        if !window.pointer.isActive { window.controls.show() }
      }
      return 1
    }
    signals.connect(window, "motion-notify-event", to: self, moved)
    let released: GdkEventButtonHandler = { _, event, window in
      guard let event = event?.pointee, event.button == 1 else { return 0 }
      MainActor.assumeIsolated {
        object(window, as: PictureInPictureWindow.self)?.pointer.release(
          .init(x: event.x, y: event.y, rootX: event.x_root, rootY: event.y_root))
      }
      return 1
    }
    signals.connect(window, "button-release-event", to: self, released)
    let scrolled: GdkEventScrollHandler = { _, event, window in
      guard let event = event?.pointee else { return 0 }
      let step = event.direction == GDK_SCROLL_UP ? 1 : event.direction == GDK_SCROLL_DOWN ? -1 : 0
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.scroll(step) }
      return 1
    }
    signals.connect(window, "scroll-event", to: self, scrolled)
  }

  private func connectHovering() {
    let entered: CrossingHandler = { _, _, window in
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.controls.show() }
      return 0
    }
    signals.connect(window, "enter-notify-event", to: self, entered)
    let left: CrossingHandler = { _, event, window in
      // Into one of its own buttons is not out of it.
      guard let event = event?.pointee, event.detail != GDK_NOTIFY_INFERIOR else { return 0 }
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.controls.hide() }
      return 0
    }
    signals.connect(window, "leave-notify-event", to: self, left)
    let touched: TouchHandler = { _, _, window in
      MainActor.assumeIsolated { object(window, as: PictureInPictureWindow.self)?.controls.show() }
      return 0
    }
    signals.connect(window, "touch-event", to: self, touched)
  }

  /// By the window manager; on an overlay layer by the compositor, when its monitor has gone.
  private func didRequestClosing() {
    if isLayer { lose("the compositor has closed it") } else { eventHandler?(.action(.close)) }
  }

  /// A tenth larger or smaller.
  private func scroll(_ step: Int) {
    guard step != 0 else { return }
    resize(toWidth: placement.width(scrolledBy: step))
    snap(to: placement.corner)
    remember()
  }

  private func press(key: UInt32) -> Bool {
    if keyPressed?(key) == true { return true }
    let action = PictureInPictureAction(key: key, among: presentation?.actions ?? [])
    if let action { eventHandler?(.action(action)) }
    return action != nil
  }

  /// The window may be on a monitor that is not there any more, or where the work area was.
  private func monitorsDidChange() {
    if isOpen { snap(to: placement.corner) }
  }

  private func didConfigure(width: Int, height: Int) {
    // Before it is shown, and while it has an older size, what was asked for counts.
    guard isOpen, width > 1, height > 1, settle(in: PictureSize(width: width, height: height)), !pointer.isActive
    else { return }
    guard (width, height) != (placement.width, placement.height) else { return }
    placement.width = width
    placement.height = height
    // The window manager may have taken a pixel for the shape's sake; the window stays in its corner.
    snap(to: placement.corner)
    remember()
  }
}

extension PictureInPictureAction {
  /// What one of the window's own keys does; nil where it means nothing.
  ///
  /// - Parameter actions: those that make sense now.
  init?(key: UInt32, among actions: Set<PictureInPictureAction>) {
    switch Int32(bitPattern: key) {
    case GDK_KEY_space: self = .playPause
    case GDK_KEY_m: self = .mute
    case GDK_KEY_Escape: self = .close
    case GDK_KEY_Return: self = .backToApp
    case GDK_KEY_Left: self = actions.contains(.skipBackward) ? .skipBackward : .previousStream
    case GDK_KEY_Right: self = actions.contains(.skipForward) ? .skipForward : .nextStream
    default: return nil
    }
  }
}
