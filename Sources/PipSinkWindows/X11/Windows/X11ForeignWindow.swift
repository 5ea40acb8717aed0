import CWindows
import PipSink

/// An X11 window that belongs to another toolkit or program, for tiles in it. Each tile is a child window.
package nonisolated final class X11ForeignWindow: WindowTileMaker, Sendable {
  /// A change of the window that the server has reported.
  enum Change: Equatable, Sendable {
    case resized(PictureSize)
    case mapped(Bool)
    /// The window has been destroyed, or the server has gone.
    case lost

    /// - Returns: nil for an event that says nothing about the window.
    init?(_ event: UnsafePointer<xcb_generic_event_t>, _ window: UInt32) {
      switch event.kind {
      case XCB_CONFIGURE_NOTIFY:
        let event = event.read(as: xcb_configure_notify_event_t.self)
        guard event.window == window else { return nil }
        self = .resized(PictureSize(width: Int(event.width), height: Int(event.height)))
      case XCB_MAP_NOTIFY: self = .mapped(true)
      case XCB_VISIBILITY_NOTIFY:
        // Only visible windows get these events, also when a window around this one has been mapped.
        guard event.read(as: xcb_visibility_notify_event_t.self).window == window else { return nil }
        self = .mapped(true)
      case XCB_UNMAP_NOTIFY: self = .mapped(false)
      case XCB_DESTROY_NOTIFY:
        guard event.read(as: xcb_destroy_notify_event_t.self).window == window else { return nil }
        self = .lost
      default: return nil
      }
    }
  }

  private let connection: X11Connection
  private let display: String?
  private let window: UInt32
  private let tileWindows = X11TileWindows()
  private let loop: X11EventLoop
  /// What is called with the window's changes. The lock is held meanwhile, and while the server is asked for what has not
  /// been reported, so that no answer replaces a newer report.
  private let watcher: Locked<(@Sendable (Change) -> Void)?>

  /// Connects to the window's server.
  ///
  /// - Parameters:
  ///   - windowID: the window's XID. The server must know the window already.
  ///   - display: the server, as in `DISPLAY`; nil for the one that the environment names.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server cannot be reached.
  package init(windowID: UInt, display: String?) throws(PipSinkError) {
    guard let connection = X11Connection(display) else {
      throw .system(.displayUnavailable(reason: "the X server \(display ?? "that DISPLAY names") cannot be reached"))
    }
    guard let window = UInt32(exactly: windowID) else { throw Self.absence(of: windowID) }
    (self.connection, self.display, self.window) = (connection, display, window)
    let watcher = Locked<(@Sendable (Change) -> Void)?>(nil)
    self.watcher = watcher
    let loop = X11EventLoop(connection) { [tileWindows] event in
      if let change = event.map({ Change($0, window) }) ?? .lost {
        watcher.withLock { handler in
          if case .mapped(let isMapped) = change { tileWindows.note(isMapped: isMapped) }
          handler?(change)
        }
      } else if let event {
        _ = tileWindows.note(event)
      }
      return event != nil
    }
    self.loop = loop
    _ = WorkerThread(name: "pip-x11-window") { loop.run() }
  }

  deinit { loop.end() }

  private static func absence(of windowID: UInt) -> PipSinkError {
    .system(.displayUnavailable(reason: "there is no window 0x\(String(windowID, radix: 16))"))
  }

  // MARK: - The window

  /// Asks the server for the window's size and whether it is shown, and waits for the answer.
  ///
  /// - Returns: the size, in pixels.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when there is no such window, or the server
  ///   does not answer.
  func look() throws(PipSinkError) -> PictureSize {
    guard
      let geometry = connection.answer(
        xcb_get_geometry(connection.pointer, window).sequence, as: xcb_get_geometry_reply_t.self)
    else { throw Self.absence(of: UInt(window)) }
    defer { free(geometry) }
    guard
      let attributes = connection.answer(
        xcb_get_window_attributes(connection.pointer, window).sequence, as: xcb_get_window_attributes_reply_t.self)
    else { throw Self.absence(of: UInt(window)) }
    defer { free(attributes) }
    tileWindows.note(isMapped: attributes.pointee.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue))
    return PictureSize(width: Int(geometry.pointee.width), height: Int(geometry.pointee.height))
  }

  /// Asks the server to report the window's changes, beginning with its size.
  ///
  /// - Parameter handler: called with each change from now on, on the thread that reads the connection.
  /// - Throws: as ``look()``.
  func watch(_ handler: @escaping @Sendable (Change) -> Void) throws(PipSinkError) {
    var mask = UInt32(XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue)
    xcb_change_window_attributes(connection.pointer, window, UInt32(XCB_CW_EVENT_MASK.rawValue), &mask)
    watcher.withLock { $0 = handler }
    try report()
  }

  /// Asks the server for the window's size, and reports it.
  ///
  /// - Throws: as ``look()``.
  func report() throws(PipSinkError) {
    try watcher.withLock { handler throws(PipSinkError) in handler?(.resized(try look())) }
  }

  /// The error for a window that has gone.
  var loss: RenderingError { connection.loss(of: window) }

  /// Waits until the server has processed all requests.
  ///
  /// - Returns: false when it does not answer in time.
  func synchronize() -> Bool { connection.synchronize() }

  // MARK: - Tiles

  /// Whether the X server has gone.
  package var isBroken: Bool { connection.isBroken }

  /// Records whether the toolkit's window is minimised, which the server does not report on this connection.
  package func note(isMinimized: Bool) { tileWindows.note(isMapped: !isMinimized) }

  /// Creates a tile as a child window.
  package func makeTile(decoration: WindowOverlay, renderer: WindowRenderer) throws(PipSinkError) -> any WindowTile {
    try makeTile(decoration, renderer, isRevealed: true)
  }

  /// Creates a tile as a child window.
  ///
  /// - Parameters:
  ///   - decoration: what is drawn over the pictures.
  ///   - renderer: who draws frames.
  ///   - isRevealed: as in ``X11Tile/init(_:parent:display:decoration:renderer:isRevealed:)``.
  /// - Throws: as there.
  func makeTile(
    _ decoration: any PictureDecoration, _ renderer: WindowRenderer, isRevealed: Bool
  ) throws(PipSinkError) -> X11Tile {
    let tile = try X11Tile(
      connection, parent: window, display: display, decoration: decoration, renderer: renderer, isRevealed: isRevealed)
    tileWindows.add(tile)
    return tile
  }

  /// Removes a tile from the window.
  package func remove(_ tile: any WindowTile) {
    tile.leaveWindow()
    if let tile = tile as? X11Tile { tileWindows.remove(tile.window) }
  }

  /// Sends all pending requests to the server.
  package func flush() { connection.flush() }
}
