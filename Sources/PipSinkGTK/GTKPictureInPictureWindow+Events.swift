import CGTK
import PipSink
import PipSinkWindows

/// What the user and the window manager do to the window.
extension GTKPictureInPictureWindow {
  func connectSignals() {
    let mask =
      GDK_BUTTON_PRESS_MASK.rawValue | GDK_BUTTON_RELEASE_MASK.rawValue | GDK_POINTER_MOTION_MASK.rawValue
      | GDK_ENTER_NOTIFY_MASK.rawValue | GDK_LEAVE_NOTIFY_MASK.rawValue | GDK_SCROLL_MASK.rawValue
      | GDK_TOUCH_MASK.rawValue
    gtk_widget_add_events(window, gint(mask))
    connectPointer()
    connectHovering()
    signals.connect(window, event: "configure-event") { [weak self] (event: GdkEventConfigure) in
      self?.didConfigure(width: Int(event.width), height: Int(event.height))
      return false
    }
    signals.connect(window, event: "delete-event") { [weak self] (_: GdkEventAny) in
      self?.didRequestClosing()
      return true
    }
    signals.connect(window, event: "key-press-event") { [weak self] (event: GdkEventKey) in
      self?.press(key: event.keyval) ?? false
    }
    signals.connect(window, event: "window-state-event") { [weak self] (event: GdkEventWindowState) in
      if let self, isOpen { eventHandler?(.visibilityChanged(!event.new_window_state.isMinimized)) }
      return false
    }
    guard let screen = gdk_screen_get_default() else { return }
    for signal in ["monitors-changed", "size-changed"] {
      signals.connect(UnsafeMutableRawPointer(screen), signal) { [weak self] in self?.monitorsDidChange() }
    }
  }

  private func connectPointer() {
    signals.connect(window, event: "button-press-event") { [weak self] (event: GdkEventButton) in
      let isDouble = event.type == GDK_2BUTTON_PRESS
      guard event.button == 1, isDouble || event.type == GDK_BUTTON_PRESS else { return false }
      if isDouble {
        self?.pointer.cancel()
        self?.eventHandler?(.action(.backToApp))
      } else {
        self?.pointer.press(.init((event.x, event.y), onScreen: (event.x_root, event.y_root)))
      }
      return true
    }
    signals.connect(window, event: "motion-notify-event") { [weak self] (event: GdkEventMotion) in
      self?.pointer.move(.init((event.x, event.y), onScreen: (event.x_root, event.y_root)))
      if self?.pointer.isActive == false { self?.controls.show() }
      return true
    }
    signals.connect(window, event: "button-release-event") { [weak self] (event: GdkEventButton) in
      guard event.button == 1 else { return false }
      self?.pointer.release(.init((event.x, event.y), onScreen: (event.x_root, event.y_root)))
      return true
    }
    signals.connect(window, event: "scroll-event") { [weak self] (event: GdkEventScroll) in
      self?.scroll(event.direction == GDK_SCROLL_UP ? 1 : event.direction == GDK_SCROLL_DOWN ? -1 : 0)
      return true
    }
  }

  private func connectHovering() {
    for signal in ["enter-notify-event", "touch-event"] {
      signals.connect(window, signal) { [weak self] in self?.controls.show() }
    }
    signals.connect(window, event: "leave-notify-event") { [weak self] (event: GdkEventCrossing) in
      // Into one of its own buttons is not out of it.
      if event.detail != GDK_NOTIFY_INFERIOR { self?.controls.hide() }
      return false
    }
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
    let actions = presentation?.actions ?? []
    guard let action = PictureInPictureAction(key: key, among: actions), actions.contains(action) else {
      otherKeyPressed?(key)
      return otherKeyPressed != nil
    }
    eventHandler?(.action(action))
    return true
  }

  /// The window may be on a monitor that is not there any more, or where the work area was.
  private func monitorsDidChange() {
    if isOpen { snap(to: placement.corner) }
  }

  private func didConfigure(width: Int, height: Int) {
    // Before it is shown, and while it has an older size, what was asked for counts.
    guard isOpen, width > 1, height > 1, !pointer.isActive else { return }
    guard (width, height) != (placement.width, placement.height) else { return }
    placement.width = width
    placement.height = height
    // The window manager may have taken a pixel for the shape's sake; the window stays in its corner.
    snap(to: placement.corner)
    remember()
  }
}
