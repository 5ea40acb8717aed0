import PipSink

/// What happens to a window, as its display server tells it.
package enum WindowEvent: Sendable {
  /// Where the pointer is, in pixels.
  package struct Place: Sendable {
    /// In the window.
    package var x: Double
    package var y: Double
    /// On the screen; nil on Wayland, where no program is told that.
    package var onScreen: SIMD2<Double>?

    package init(x: Double, y: Double, onScreen: SIMD2<Double>? = nil) {
      (self.x, self.y, self.onScreen) = (x, y, onScreen)
    }
  }

  /// The window has another size, in pixels, or another scale. ``NativeWindow/size`` is it when this is told.
  case resized(PictureSize)
  /// A part of the window has to be drawn anew.
  case exposed
  /// Buttons are counted from 1, the left one. `time` is the server's, in milliseconds. A finger presses the left one.
  case pressed(button: Int, Place, time: UInt32)
  case released(button: Int, Place)
  case moved(Place)
  /// The pointer has come, or a finger; it may rest.
  case entered(Place)
  /// In the wheel's steps: right and down are positive.
  case scrolled(Place, deltaX: Double, deltaY: Double)
  case left
  /// A key was pressed; by its keysym.
  case key(UInt32)
  /// The user wants the window closed.
  case closeRequested
  /// The window was minimised, or is back, or is in the background, or not any more.
  case stateChanged
  /// Monitors, panels or the workspace are others.
  case screenChanged
  /// The pointer that was dragging the window does not do it any more, since the window has been taken from under it.
  case dragLost
  /// The window has been destroyed, or its server or its connection has gone.
  case lost
}

/// Hands a window's events to the main actor in their order, from any thread.
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
    let events = waiting.withLock { waiting in
      defer { waiting = [] }
      return waiting
    }
    for event in events { handler(event) }
  }
}
