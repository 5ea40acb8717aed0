import CGTK
import CWindows
import Glibc
import PipSink
import PipSinkWindows

/// Puts pictures into windows of the GTK display from any thread, on a connection of its own beside GDK's.
///
/// The X server copies them out of shared memory and says when it has; nobody waits for that, unless the same memory is
/// to be drawn on again before. A window that has gone meanwhile is an error that nobody is told of.
final class X11Presenter: WindowPresenter {
  private let connection: X11Connection
  private let state = Locked(State())
  private let completionEvent: UInt8

  private struct State {
    /// Segments that the server may still read.
    var pending: Set<UInt32> = []
    /// One for each depth of windows.
    var contexts: [UInt8: UInt32] = [:]
  }

  /// - Returns: nil when the server cannot be reached or has no shared memory with this program.
  init?(display: OpaquePointer) {
    guard let connection = X11Connection(String(cString: XDisplayString(display))),
      let eventBase = connection.sharedMemoryEventBase
    else { return nil }
    self.connection = connection
    completionEvent = eventBase + UInt8(XCB_SHM_COMPLETION)
  }

  func makePicture(_ size: PictureSize, for window: OpaquePointer) -> CairoPicture? {
    guard let visual = gdk_window_get_visual(window), let depth = UInt8(exactly: gdk_visual_get_depth(visual)) else {
      return nil
    }
    return SharedMemoryImage(connection, depth: depth, size: size).flatMap { CairoPicture($0) }
  }

  func isFree(_ picture: CairoPicture) -> Bool { true }

  /// Waits until the server has read the picture, if it has not yet.
  func reclaim(_ picture: CairoPicture) {
    guard let image = picture.memory as? SharedMemoryImage else { return }
    state.withLock { state in
      guard state.pending.contains(image.segmentID) else { return }
      collect(&state)
      guard state.pending.contains(image.segmentID) else { return }
      connection.synchronize()
      collect(&state)
      state.pending.remove(image.segmentID)
    }
  }

  func put(_ picture: CairoPicture, in area: WindowArea) -> Bool {
    guard let image = picture.memory as? SharedMemoryImage else { return false }
    state.withLock { state in
      guard let last = area.rectangles.indices.last, let window = UInt32(exactly: area.windowID) else { return }
      collect(&state)
      let context = state.contexts[image.depth] ?? makeContext(for: window)
      state.contexts[image.depth] = context
      for (index, part) in area.rectangles.enumerated() {
        image.put(part, into: window, at: area.origin, context, isReported: index == last, isChecked: false)
      }
      state.pending.insert(image.segmentID)
      connection.flush()
    }
    return true
  }

  private func makeContext(for window: UInt32) -> UInt32 {
    let context = xcb_generate_id(connection.pointer)
    xcb_create_gc(connection.pointer, context, window, 0, nil)
    return context
  }

  /// It has read the picture before the next one is drawn.
  var keptPictureCount: Int { 0 }

  /// GTK paints in the same window: what it has under way may yet cover the picture.
  var isCoveredByPainting: Bool { true }

  /// Reads what the server has read.
  private func collect(_ state: inout State) {
    while let event = connection.nextEvent() {
      defer { free(event) }
      guard event.pointee.response_type & 0x7f == completionEvent else { continue }
      let segment = UnsafeRawPointer(event).loadUnaligned(as: xcb_shm_completion_event_t.self).shmseg
      state.pending.remove(segment)
    }
  }
}
