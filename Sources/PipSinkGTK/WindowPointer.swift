import CGTK
import PipSink
import PipSinkWindows

/// What the pointer does with a picture-in-picture window: dragged anywhere, it moves; dragged at a corner, it changes
/// its size; let go, it snaps to the nearest corner.
@MainActor
final class WindowPointer {
  typealias Vector = DragReading.Vector

  /// A place in the window and on the screen, in GTK's pixels. Wayland tells the former alone.
  struct Location {
    let inWindow: Vector
    let onScreen: Vector

    init(_ inWindow: (x: Double, y: Double), onScreen: (x: Double, y: Double)) {
      self.inWindow = Vector(x: inWindow.x, y: inWindow.y)
      self.onScreen = Vector(x: onScreen.x, y: onScreen.y)
    }
  }

  private struct Drag {
    /// The window's frame when it began, and the pointer's place.
    let start: PictureRect
    let pressed: Location
    let grip: WindowGrip
    /// On a layer: what the pointer's places mean in this drag.
    var reading: DragReading
    var shown: WaylandFrameCallback?
  }

  private unowned let window: GTKPictureInPictureWindow
  private var drag: Drag?
  /// What the compositor's coordinates count from, once a drag has shown it.
  private static var origin: DragReading.Origin?

  init(_ window: GTKPictureInPictureWindow) {
    self.window = window
  }

  var isActive: Bool { drag != nil }

  /// Nothing comes of what was begun.
  func cancel() { drag = nil }

  func press(_ location: Location) {
    let frame = window.frame
    drag = Drag(
      start: frame, pressed: location,
      grip: WindowGrip(x: location.inWindow.x, y: location.inWindow.y, size: frame.size),
      reading: DragReading(pressed: location.inWindow, known: Self.origin))
  }

  func move(_ location: Location) {
    guard let drag, let distance = distance(to: location, in: drag) else { return }
    if drag.grip == .middle {
      window.move(toX: drag.start.x + distance.x, y: drag.start.y + distance.y)
    } else {
      window.resize(toWidth: drag.grip.width(from: drag.start.width, draggedBy: distance.x))
      // The corner that the window is in stays where it is.
      window.snap(to: window.placement.corner)
    }
    // When it has been moved for the first time, the reading is told when the compositor shows it there.
    guard window.isLayer, let now = self.drag, now.reading.origin == nil, now.shown == nil,
      shift(from: drag.start) != .zero
    else { return }
    awaitFrame()
  }

  /// How far the pointer has come since it was pressed.
  ///
  /// - Returns: nil where the window is to stay as it is for now.
  private func distance(to location: Location, in drag: Drag) -> (x: Int, y: Int)? {
    guard window.isLayer else { return (location.onScreen - drag.pressed.onScreen).nearest }
    let shift = shift(from: drag.start)
    let distance = self.drag?.reading.distance(at: location.inWindow, shift: shift)
    if drag.reading.origin == nil, let reading = self.drag?.reading, reading.isCertain { Self.origin = reading.origin }
    return distance?.nearest
  }

  /// How far the window has been moved.
  private func shift(from start: PictureRect) -> Vector {
    let frame = window.frame
    return Vector(x: Double(frame.x - start.x), y: Double(frame.y - start.y))
  }

  private func awaitFrame() {
    guard let own = gtk_widget_get_window(window.window), let surface = gdk_wayland_window_get_wl_surface(own) else {
      return
    }
    // A new size takes effect after the compositor has agreed to it.
    let hasSize =
      (Int(gdk_window_get_width(own)), Int(gdk_window_get_height(own)))
      == (window.placement.width, window.placement.height)
    gtk_widget_queue_draw(window.window)
    drag?.shown = WaylandFrameCallback(surface) { [weak self] in
      guard let self, drag?.reading.origin == nil else { return }
      if hasSize { drag?.reading.noteShown() } else { awaitFrame() }
    }
  }

  func release(_ location: Location) {
    guard let drag else { return }
    defer { self.drag = nil }
    if drag.grip == .middle {
      // A drag that ends before it is known what places mean ends before the compositor has shown the window elsewhere.
      if window.isLayer, drag.reading.origin == nil {
        let distance = drag.reading.distanceBeforeMoving(at: location.inWindow).nearest
        window.move(toX: drag.start.x + distance.x, y: drag.start.y + distance.y)
      }
      window.snap(to: .nearest(to: window.frame, in: window.dragArea))
    } else {
      window.snap(to: window.placement.corner)
    }
    window.remember()
  }
}
