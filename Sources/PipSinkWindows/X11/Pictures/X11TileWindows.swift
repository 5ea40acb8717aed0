import CWindows
import PipSink

/// The tiles in one window. It passes on to them the events that arrive on the window's connection.
///
/// The connection's thread calls ``note(_:)``. Tiles are added and removed on the main actor.
final class X11TileWindows: Sendable {
  /// A tile, which is not kept alive, and its window.
  private final class Entry: Sendable {
    let window: UInt32
    private let tile: Locked<WeakTile>

    private struct WeakTile { weak var tile: X11Tile? }

    init(_ tile: X11Tile) {
      window = tile.window
      self.tile = Locked(WeakTile(tile: tile))
    }

    var value: X11Tile? { tile.withLock { $0.tile } }
  }

  private struct State {
    var entries: [Entry] = []
    var isMapped = true
  }

  private let state = Locked(State())

  func add(_ tile: X11Tile) {
    let entry = Entry(tile)
    let isMapped = state.withLock { state in
      state.entries.removeAll { $0.value == nil }
      state.entries.append(entry)
      return state.isMapped
    }
    tile.note(isParentMapped: isMapped)
  }

  func remove(_ window: UInt32) { state.withLock { $0.entries.removeAll { $0.window == window } } }

  /// Records whether the parent window is shown, for the tiles that are there and those to come.
  func note(isMapped: Bool) {
    let entries = state.withLock { state in
      state.isMapped = isMapped
      return state.entries
    }
    for entry in entries { entry.value?.note(isParentMapped: isMapped) }
  }

  private func tile(_ window: UInt32) -> X11Tile? {
    state.withLock { $0.entries.first { $0.window == window } }?.value
  }

  /// Passes an event on to the tile that it is about.
  ///
  /// - Returns: whether there is such a tile.
  func note(_ event: UnsafePointer<xcb_generic_event_t>) -> Bool {
    switch event.kind {
    case XCB_EXPOSE:
      let expose = event.read(as: xcb_expose_event_t.self)
      guard let tile = tile(expose.window) else { return false }
      if expose.count == 0 { tile.noteExposed() }
    case XCB_VISIBILITY_NOTIFY:
      let visibility = event.read(as: xcb_visibility_notify_event_t.self)
      guard let tile = tile(visibility.window) else { return false }
      tile.note(isObscured: visibility.state == UInt8(XCB_VISIBILITY_FULLY_OBSCURED.rawValue))
    default: return false
    }
    return true
  }
}
