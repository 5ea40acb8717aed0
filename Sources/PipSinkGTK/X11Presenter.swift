import CGTK
import Glibc
import PipSink

/// Puts pictures into windows of the GTK display from any thread, on a connection of its own beside GDK's.
///
/// The X server copies them out of shared memory and says when it has; nobody waits for that, unless the same memory is
/// to be drawn on again before.
final class X11Presenter: WindowPresenter {
  private let connection: X11Connection
  private let state: Locked<State>
  private let completionEvent: Int32

  private struct State {
    /// Segments that the server may still read.
    var pending: Set<UInt> = []
    /// One for each depth of windows.
    var contexts: [Int32: GC] = [:]
  }

  /// - Returns: nil when the server cannot be reached or has no shared memory with this program.
  init?(display: OpaquePointer) {
    guard let connection = X11Connection(String(cString: XDisplayString(display))),
      let event = connection.use({ () -> Int32? in
        XShmQueryExtension(connection.display) == 0 ? nil : XShmGetEventBase(connection.display) + ShmCompletion
      }), let event
    else { return nil }
    self.connection = connection
    completionEvent = event
    state = Locked(State())
  }

  func makePicture(_ size: PictureSize, for window: OpaquePointer) -> CairoPicture? {
    guard let visual = gdk_window_get_visual(window), let xVisual = gdk_x11_visual_get_xvisual(visual) else {
      return nil
    }
    // The lock keeps others' errors apart from those of attaching the memory.
    let image = state.withLock { _ in
      connection.use {
        SharedMemoryImage(connection, visual: xVisual, depth: gdk_visual_get_depth(visual), size: size)
      } ?? nil
    }
    return image.flatMap { CairoPicture($0) }
  }

  func isFree(_ picture: CairoPicture) -> Bool { true }

  /// Waits until the server has read the picture, if it has not yet.
  func reclaim(_ picture: CairoPicture) {
    guard let image = picture.memory as? SharedMemoryImage else { return }
    state.withLock { state in
      guard state.pending.contains(image.segmentID) else { return }
      connection.use {
        collect(&state)
        guard state.pending.contains(image.segmentID) else { return }
        XSync(connection.display, 0)
        collect(&state)
      }
      state.pending.remove(image.segmentID)
    }
  }

  func put(_ picture: CairoPicture, in area: WindowArea) -> Bool {
    guard let image = picture.memory as? SharedMemoryImage else { return false }
    state.withLock { state in
      guard let last = area.rectangles.indices.last else { return }
      connection.use {
        collect(&state)
        let depth = image.image.pointee.depth
        guard let context = state.contexts[depth] ?? XCreateGC(connection.display, area.windowID, 0, nil) else {
          return
        }
        state.contexts[depth] = context
        for (index, part) in area.rectangles.enumerated() {
          XShmPutImage(
            connection.display, area.windowID, context, image.image, Int32(part.x), Int32(part.y),
            Int32(area.origin.x + part.x), Int32(area.origin.y + part.y), UInt32(part.width), UInt32(part.height),
            index == last ? 1 : 0)
        }
        state.pending.insert(image.segmentID)
        XFlush(connection.display)
      }
    }
    return true
  }

  /// It has read the picture before the next one is drawn.
  var keptPictureCount: Int { 0 }

  /// GTK paints in the same window: what it has under way may yet cover the picture.
  var isCoveredByPainting: Bool { true }

  /// Reads what the server has read.
  private func collect(_ state: inout State) {
    while !connection.isBroken, XEventsQueued(connection.display, Int32(QueuedAfterReading)) > 0 {
      var event = XEvent()
      XNextEvent(connection.display, &event)
      guard event.type == completionEvent else { continue }
      withUnsafeBytes(of: &event) { bytes in
        _ = state.pending.remove(UInt(bytes.loadUnaligned(as: XShmCompletionEvent.self).shmseg))
      }
    }
  }
}
