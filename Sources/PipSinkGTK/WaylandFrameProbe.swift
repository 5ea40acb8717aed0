import CGTK
import PipSink

/// Asks a Wayland compositor whether it shows a window, by the frame of a single transparent pixel that lies over it.
///
/// GTK paints nothing for that: its frame of a single pixel takes a new buffer of the whole window. The pixel lies above
/// all pictures in the window, since compositors may say nothing of the frames of what opaque ones hide.
@MainActor
final class WaylandFrameProbe {
  private let connection: WaylandConnection
  private let answered: () -> Void
  private let pixel: WaylandImage
  private var parent: OpaquePointer?
  private var subsurface: WaylandSubsurface?
  /// Of subsurfaces, when its own was the newest.
  private var madeCount = 0
  private var callback: WaylandFrameCallback?

  /// - Parameter answered: called when the compositor has shown the pixel.
  init?(_ connection: WaylandConnection, answered: @escaping () -> Void) {
    guard let pixel = WaylandImage(connection, size: PictureSize(width: 1, height: 1)) else {
      return nil
    }
    pixel.pixels.initialize(repeating: 0, count: pixel.stride)
    self.connection = connection
    self.pixel = pixel
    self.answered = answered
  }

  isolated deinit {
    leaveWindow()
  }

  /// - Parameter parent: the window's wl_surface.
  /// - Returns: whether GTK has to paint the window, without which the pixel is not there.
  func ask(over parent: OpaquePointer) -> Bool {
    let isNew = self.parent != parent || madeCount != WaylandSubsurface.madeCount.withLock { $0 }
    if isNew {
      leaveWindow()
      self.parent = parent
      subsurface = WaylandSubsurface(connection, over: parent)
      madeCount = WaylandSubsurface.madeCount.withLock { $0 }
    }
    let part = PictureRect(x: 0, y: 0, width: 1, height: 1)
    // It may take its time; a second question has no other answer.
    guard callback == nil, let subsurface, let buffer = pixel.lend(part, of: [part], isOpaque: false) else {
      return isNew
    }
    callback = WaylandFrameCallback(subsurface.surface) { [weak self] in
      self?.callback = nil
      self?.answered()
    }
    guard callback != nil else { return isNew }
    wl_surface_attach(subsurface.surface, buffer, 0, 0)
    wl_surface_damage(subsurface.surface, 0, 0, 1, 1)
    wl_surface_commit(subsurface.surface)
    return isNew
  }

  /// The window is hidden, or goes away.
  func leaveWindow() {
    callback = nil
    subsurface?.destroy()
    subsurface = nil
    parent = nil
  }
}
