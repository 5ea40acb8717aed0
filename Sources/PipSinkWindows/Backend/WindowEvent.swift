import PipSink

/// Something that happened to a window, as its display server reports it.
package enum WindowEvent: Sendable {
  /// The position of the pointer, in pixels.
  package struct Place: Sendable {
    /// The distance from the window's left edge.
    package var x: Double
    /// The distance from the window's upper edge.
    package var y: Double
    /// The position on the screen. It is nil on Wayland, which does not tell programs where their windows are.
    package var onScreen: SIMD2<Double>?
    /// The sum of the pointer's movements on the desktop, in units. It also counts movements beyond the edge of the
    /// desktop, where the pointer itself stops. It is nil for a finger, on X11, and where the compositor does not
    /// support relative pointers.
    package var travel: SIMD2<Double>?

    /// Creates a position from coordinates in the window and, if known, on the screen.
    package init(x: Double, y: Double, onScreen: SIMD2<Double>? = nil, travel: SIMD2<Double>? = nil) {
      (self.x, self.y, self.onScreen, self.travel) = (x, y, onScreen, travel)
    }
  }

  /// The window has a new size, in pixels, or a new scale. ``NativeWindow/size`` already has the new value.
  case resized(PictureSize)
  /// A part of the window has to be drawn again.
  case exposed
  /// A button was pressed. Button 1 is the left button, and a finger counts as that. `time` is the server's, in
  /// milliseconds.
  case pressed(button: Int, Place, time: UInt32)
  /// A button was released.
  case released(button: Int, Place)
  /// The pointer has moved.
  case moved(Place)
  /// The pointer has entered the window. It may not move after that.
  case entered(Place)
  /// The wheel was turned. The distances are in steps of the wheel; right and down are positive.
  case scrolled(Place, deltaX: Double, deltaY: Double)
  /// The pointer has left the window.
  case left
  /// The window has got the keyboard, or has lost it.
  case keyboard(Bool)
  /// A key was pressed.
  case key(WindowKey)
  /// The user wants the window closed.
  case closeRequested
  /// The window was minimised or restored, or it went to the background or came back.
  case stateChanged
  /// The monitors, the panels or the current workspace have changed.
  case screenChanged
  /// The drag of the window has ended without a release, because the window was destroyed under the pointer.
  case dragLost
  /// The window has been destroyed, or its server or its connection has gone.
  case lost
}

/// Passes a window's events from any thread to the main actor, in their order.
final class WindowEventQueue<Event: Sendable>: Sendable {
  private let waiting = Locked<[Event]>([])
  private let handler: @MainActor @Sendable (Event) -> Void

  init(_ handler: @escaping @MainActor @Sendable (Event) -> Void) { self.handler = handler }

  func append(_ event: Event) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(event)
      return waiting.count == 1
    }
    if isFirst { Task { @MainActor in self.deliver() } }
  }

  @MainActor
  private func deliver() {
    let events = waiting.exchange([])
    for event in events { handler(event) }
  }
}
