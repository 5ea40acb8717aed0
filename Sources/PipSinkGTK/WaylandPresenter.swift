import CGTK
import PipSink

/// Shows a view's pictures on surfaces of their own over GTK's window (wl_subsurface), from any thread.
///
/// They lie over all that GTK paints, so that each part of the view that nothing covers has one of its own. The
/// compositor says when it wants the next picture; of those that come before, the newest is sent then.
///
/// GTK's surface may not be hidden by them altogether: compositors tell a surface that opaque ones hide nothing of their
/// frames (wl_surface.frame), and GTK, which waits for that, neither paints nor hears of the pointer any more. So a
/// picture in one part has its last row on a surface that could be seen through, and is not.
///
/// `@unchecked Sendable`: constant but for what is behind the lock. Surfaces are made and destroyed on GTK's thread, on
/// which their events come.
final class WaylandPresenter: WindowPresenter, @unchecked Sendable {
  private let connection: WaylandConnection
  private let state = Locked(State())
  /// More parts than that are not worth surfaces of their own.
  private static let mostParts = 4

  private struct State {
    /// The wl_surface of GTK's window.
    var parent: OpaquePointer?
    var surfaces: [WaylandSubsurface] = []
    /// Where the surfaces are; nil while pictures go nowhere.
    var area: WindowArea?
    /// What each surface shows of the area.
    var parts: [Part] = []
    /// The wl_callback that says that the next picture can be shown.
    var callback: OpaquePointer?
    /// What the compositor has; kept so that it does not change.
    var shown: CairoPicture?
    /// What comes next.
    var next: CairoPicture?
  }

  private struct Part {
    /// In the view's pixels.
    let rectangle: PictureRect
    /// Whether the compositor is told that nothing can be seen through it.
    let isOpaque: Bool
  }

  init(_ connection: WaylandConnection) {
    self.connection = connection
  }

  private static func parts(of area: WindowArea) -> [Part] {
    guard area.rectangles.count == 1, let whole = area.rectangles.first, whole.height > area.scale else {
      // GTK paints what is between several.
      return area.rectangles.map { Part(rectangle: $0, isOpaque: true) }
    }
    // A row of GTK's pixels, since surfaces lie on those.
    var (upper, last) = (whole, whole)
    upper.height -= area.scale
    last.y += upper.height
    last.height = area.scale
    return [Part(rectangle: upper, isOpaque: true), Part(rectangle: last, isOpaque: false)]
  }

  func makePicture(_ size: PictureSize, for window: OpaquePointer) -> CairoPicture? {
    WaylandImage(connection, size: size).flatMap { CairoPicture($0) }
  }

  func isFree(_ picture: CairoPicture) -> Bool {
    guard let image = picture.memory as? WaylandImage else { return true }
    return !image.isBusy && state.withLock { $0.next !== picture }
  }

  func reclaim(_ picture: CairoPicture) {}

  /// What is shown, until the compositor has taken the next one.
  var keptPictureCount: Int { 1 }

  /// GTK paints below.
  var isCoveredByPainting: Bool { false }

  func put(_ picture: CairoPicture, in area: WindowArea) -> Bool {
    guard picture.memory is WaylandImage else { return false }
    return state.withLock { state in
      guard let place = state.area, place.size == picture.size else { return false }
      if state.callback == nil {
        commit(picture, to: &state)
      } else {
        state.next = picture
      }
      return true
    }
  }

  private func commit(_ picture: CairoPicture, to state: inout State) {
    guard let image = picture.memory as? WaylandImage, state.area != nil else { return }
    let rectangles = state.parts.map(\.rectangle)
    for (index, (part, surface)) in zip(state.parts, state.surfaces).enumerated() {
      if !part.isOpaque { image.fillAlpha(part.rectangle) }
      guard let buffer = image.lend(part.rectangle, of: rectangles, isOpaque: part.isOpaque) else { continue }
      wl_surface_attach(surface.surface, buffer, 0, 0)
      wl_surface_damage(surface.surface, 0, 0, Int32.max, Int32.max)
      if index == 0, state.callback == nil, let callback = wl_surface_frame(surface.surface) {
        wl_callback_add_listener(callback, Self.listener.table, Unmanaged.passRetained(self).toOpaque())
        state.callback = callback
      }
      wl_surface_commit(surface.surface)
    }
    state.shown = picture
    state.next = nil
    // What does not fit GTK's thread sends.
    wl_display_flush(connection.display)
  }

  // MARK: - On GTK's thread

  private static let listener = WaylandListener(
    wl_callback_listener(done: { presenter, callback, _ in
      guard let presenter else { return }
      Unmanaged<WaylandPresenter>.fromOpaque(presenter).takeRetainedValue().compositorIsReady(callback)
    }))

  private func compositorIsReady(_ callback: OpaquePointer?) {
    wl_callback_destroy(callback)
    let parent = state.withLock { state in
      state.callback = nil
      if let next = state.next { commit(next, to: &state) }
      return state.parent.map { UInt(bitPattern: $0) }
    }
    MainActor.assumeIsolated {
      if let parent { BackgroundMonitor.noteFrame(ofSurface: parent) }
    }
  }

  func place(_ area: WindowArea?) -> WindowPlacementResult {
    state.withLock { state in
      guard let area, let parent = OpaquePointer(bitPattern: area.windowID),
        area.rectangles.count <= Self.mostParts
      else {
        // The surfaces stay until GTK has painted what they show.
        state.area = nil
        state.next = nil
        return .unavailable
      }
      if state.parent != parent { leave(&state) }
      let previous = state.area
      let parts = Self.parts(of: area)
      guard
        state.surfaces.count < parts.count || previous == nil || previous?.rectangles != area.rectangles
          || previous?.origin.x != area.origin.x || previous?.origin.y != area.origin.y
          || previous?.scale != area.scale
      else { return .placed }
      state.parent = parent
      while state.surfaces.count < parts.count {
        guard let surface = WaylandSubsurface(connection, over: parent) else {
          state.area = nil
          return .unavailable
        }
        state.surfaces.append(surface)
      }
      (state.area, state.parts) = (area, parts)
      for (part, surface) in zip(parts, state.surfaces) {
        wl_subsurface_set_position(
          surface.subsurface, Int32((area.origin.x + part.rectangle.x) / area.scale),
          Int32((area.origin.y + part.rectangle.y) / area.scale))
        wl_surface_set_buffer_scale(surface.surface, Int32(area.scale))
      }
      for surface in state.surfaces.dropFirst(parts.count) { surface.hide() }
      // Parts that have become others show what they have to at once.
      if let picture = state.next ?? state.shown, picture.size == area.size { commit(picture, to: &state) }
      return .placedAnew
    }
  }

  func withdraw() {
    state.withLock { state in
      guard state.shown != nil else { return }
      forgetCallback(&state)
      for surface in state.surfaces { surface.hide() }
      (state.shown, state.next) = (nil, nil)
    }
  }

  func leaveWindow() {
    state.withLock { leave(&$0) }
  }

  private func leave(_ state: inout State) {
    forgetCallback(&state)
    for surface in state.surfaces { surface.destroy() }
    state = State()
  }

  /// A surface that is not to be seen may never be asked for the next picture.
  private func forgetCallback(_ state: inout State) {
    guard let callback = state.callback else { return }
    state.callback = nil
    wl_callback_destroy(callback)
    Unmanaged.passUnretained(self).release()
  }
}
