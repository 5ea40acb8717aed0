import CGTK
import Glibc
import PipSink

/// Puts pictures into windows of the GTK display from any thread, on a connection of its own beside GDK's.
///
/// The X server copies them out of shared memory and says when it has; nobody waits for that, unless the same memory is
/// to be drawn on again before.
final class X11Presenter: Sendable {
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

  func makeImage(visual: UnsafeMutablePointer<Visual>, depth: Int32, size: PictureSize) -> SharedMemoryImage? {
    // The lock keeps others' errors apart from those of attaching the memory.
    state.withLock { _ in
      connection.use { SharedMemoryImage(connection, visual: visual, depth: depth, size: size) } ?? nil
    }
  }

  /// Waits until the server has read `image`, if it has not yet, so that it can be drawn on.
  func reclaim(_ image: SharedMemoryImage) {
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

  /// Puts the parts `rectangles` of `image`, in its own pixels, into a window.
  ///
  /// - Parameter origin: where the image's upper left corner lies in the window.
  func put(
    _ image: SharedMemoryImage, into window: UInt, at origin: (x: Int, y: Int), rectangles: [PictureRect]
  ) {
    state.withLock { state in
      guard let last = rectangles.indices.last else { return }
      connection.use {
        collect(&state)
        let depth = image.image.pointee.depth
        guard let context = state.contexts[depth] ?? XCreateGC(connection.display, window, 0, nil) else { return }
        state.contexts[depth] = context
        for (index, part) in rectangles.enumerated() {
          XShmPutImage(
            connection.display, window, context, image.image, Int32(part.x), Int32(part.y), Int32(origin.x + part.x),
            Int32(origin.y + part.y), UInt32(part.width), UInt32(part.height), index == last ? 1 : 0)
        }
        state.pending.insert(image.segmentID)
        XFlush(connection.display)
      }
    }
  }

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
