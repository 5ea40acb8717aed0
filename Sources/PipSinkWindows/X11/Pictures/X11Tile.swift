import CWindows
import PipSink

/// A tile that is a child window, so that the server clips it against its siblings.
///
/// Sending a picture wakes the server and no other thread or process, because ``X11Pictures`` has a connection of its
/// own. Events of the window arrive on the parent window's connection, and are passed on by ``X11TileWindows``.
final class X11Tile: WindowTile {
  /// The XID of the tile's window.
  let window: UInt32
  /// The connection on which the window is created, moved and destroyed.
  private let owner: X11Connection
  /// The connection on which pictures are sent.
  private let connection: X11Connection
  private let decoration: any PictureDecoration
  private let state = Locked(State())
  /// Used by the presenting thread. The lock is needed because the decoration is redrawn from other threads.
  private let pictures: Locked<X11Pictures>

  private struct State {
    var rectangle: PictureRect?
    var isObscured = false
    /// Whether the parent window is shown.
    var isParentMapped = true
    var isLost = false
    var isRevoked = false
    var isRedrawAwaited = false
    var needsDisplay: (@Sendable () -> Void)?
  }

  /// Creates a child window. It selects no input, so the parent gets the pointer's events.
  ///
  /// - Parameters:
  ///   - owner: the connection that has created `parent`, or one on which the server is known to have `parent`.
  ///   - parent: the XID of the window to create the tile in.
  ///   - display: the server, as in `DISPLAY`; nil for the one that the environment names.
  ///   - decoration: what is drawn over the pictures.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server has gone or refuses the
  ///   window.
  init(
    _ owner: X11Connection, parent: UInt32, display: String?, decoration: any PictureDecoration
  ) throws(PipSinkError) {
    guard let connection = X11Connection(display) else {
      // Either the server has gone, or it accepts no more connections.
      guard owner.synchronize(), !owner.isBroken else { throw owner.windowRefusal(nil) }
      throw .system(.displayUnavailable(reason: "the X server accepts no more connections"))
    }
    let window = xcb_generate_id(owner.pointer)
    // The background is black, and the old contents stay at the upper left corner while the size changes.
    let events = XCB_EVENT_MASK_EXPOSURE.rawValue | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue
    let values: [UInt32] = [0, UInt32(XCB_GRAVITY_NORTH_WEST.rawValue), UInt32(events)]
    let creation = xcb_create_window_checked(
      owner.pointer, UInt8(XCB_COPY_FROM_PARENT), window, parent, 0, 0, 1, 1, 0,
      UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), UInt32(XCB_COPY_FROM_PARENT),
      UInt32(XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BIT_GRAVITY.rawValue | XCB_CW_EVENT_MASK.rawValue), values)
    let errorCode = owner.errorCode(of: creation)
    guard errorCode == 0, !owner.isBroken,
      let geometry = owner.answer(xcb_get_geometry(owner.pointer, window).sequence, as: xcb_get_geometry_reply_t.self)
    else { throw owner.windowRefusal(errorCode) }
    defer { free(geometry) }
    let depth = geometry.pointee.depth
    guard X11PixelLayout(connection, depth: depth) != nil else {
      throw .system(.displayUnavailable(reason: "windows have \(depth) bits per pixel, not 24, 30 or 32"))
    }
    (self.owner, self.connection, self.window) = (owner, connection, window)
    pictures = Locked(X11Pictures(connection, window, depth: depth))
    self.decoration = OffsetDecoration(decoration) { [state] in
      state.withLock { ($0.rectangle?.x ?? 0, $0.rectangle?.y ?? 0) }
    }
  }

  deinit {
    guard !owner.isBroken else { return }
    xcb_destroy_window(owner.pointer, window)
    owner.flush()
  }

  // MARK: - The window

  var rectangle: PictureRect? {
    get { state.withLock { $0.rectangle } }
    set {
      let handler = state.withLock { state -> (@Sendable () -> Void)? in
        guard state.rectangle != newValue else { return nil }
        let wasShown = state.rectangle != nil
        let isResized = state.rectangle?.size != newValue?.size
        state.rectangle = newValue
        configure(newValue, wasShown: wasShown)
        return isResized ? state.needsDisplay : nil
      }
      handler?()
    }
  }

  private func configure(_ rectangle: PictureRect?, wasShown: Bool) {
    defer { owner.flush() }
    guard let rectangle else {
      xcb_unmap_window(owner.pointer, window)
      return
    }
    let mask =
      XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue | XCB_CONFIG_WINDOW_WIDTH.rawValue
      | XCB_CONFIG_WINDOW_HEIGHT.rawValue
    let values = [rectangle.x, rectangle.y, max(1, rectangle.width), max(1, rectangle.height)].map {
      UInt32(bitPattern: Int32(clamping: $0))
    }
    xcb_configure_window(owner.pointer, window, UInt16(mask), values)
    if !wasShown { xcb_map_window(owner.pointer, window) }
  }

  /// Called on any thread when a part of the window's contents was lost.
  func noteExposed() {
    askForPicture()
    // A text that replaces the picture is redrawn at once, without waiting for a frame.
    if let area, decoration.isShown(in: area) { redraw() }
  }

  /// Records whether other windows cover the tile completely, as the server has reported.
  func note(isObscured: Bool) { change(\.isObscured, to: isObscured) }

  /// Records whether the parent window is shown. The server sends no events for the children of a minimised window.
  func note(isParentMapped: Bool) { change(\.isParentMapped, to: isParentMapped) }

  private func change(_ sign: WritableKeyPath<State, Bool> & Sendable, to value: Bool) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state[keyPath: sign] = value }
      return state[keyPath: sign] == value ? nil : state.needsDisplay
    }
    handler?()
  }

  @discardableResult
  func leaveWindow() -> Bool {
    state.withLock { $0.isRevoked = true }
    return true
  }

  /// The area that pictures fill, in pixels of the tile's window, or nil while none are shown.
  private var area: PictureRect? {
    state.withLock { state in
      guard !state.isRevoked, let rectangle = state.rectangle, rectangle.size.isValid else { return nil }
      return PictureRect(x: 0, y: 0, width: rectangle.width, height: rectangle.height)
    }
  }

  // MARK: - VideoRenderer

  var renderSize: PictureSize? { state.withLock { $0.rectangle?.size } }

  /// It is also true when the server has gone, so that the next frame reports that.
  var isVisible: Bool {
    let (isHidden, isLost) = state.withLock { ($0.isObscured || !$0.isParentMapped || $0.isRevoked, $0.isLost) }
    if isLost || connection.isBroken { return true }
    guard !isHidden, let area else { return false }
    return !decoration.hides(area)
  }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.needsDisplay = handler } }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    guard !connection.isBroken else { throw connection.loss(of: window) }
    guard let area else { return }
    do throws(RenderingError) {
      try whenImageIsFree { pictures throws(RenderingError) in
        try pictures.draw(sampleBuffer, gravity: gravity, decoration, in: area)
      }
    } catch {
      note(error)
      throw error
    }
  }

  /// Calls `body` with the pictures until it has found an image that the server does not read. The pictures are not held
  /// while the server is waited for.
  ///
  /// - Throws: ``PipSink/RenderingError`` of `body`, and when the server does not answer.
  private func whenImageIsFree(
    _ body: (inout X11Pictures) throws(RenderingError) -> Bool
  ) throws(RenderingError) {
    while try !pictures.withLock(body) {
      var failure: RenderingError?
      let isFree = connection.wait { () -> Bool? in
        do throws(RenderingError) {
          return try pictures.withLock { pictures throws(RenderingError) in try pictures.hasFreeImage() } ? true : nil
        } catch {
          failure = error
          return true
        }
      }
      if let failure { throw failure }
      guard isFree != nil else { throw connection.silence }
    }
  }

  func redraw() {
    guard !connection.isBroken, let area else { return }
    do throws(RenderingError) {
      try whenImageIsFree { pictures throws(RenderingError) in
        guard pictures.canRedraw(area.size, isHidden: decoration.hides(area)) else { return true }
        guard try pictures.redraw(decoration, in: area) else { return false }
        if decoration.hides(area) { pictures.releaseHiddenPicture() }
        return true
      }
    } catch {
      // The next frame reports when the window has gone. A server that does not answer now may do so later.
      note(error)
      guard error.code != .rendererLost else { return }
      askForPicture()
      redrawLater()
    }
  }

  /// Tries again to show the decoration. No frame does so where it hides them.
  private func redrawLater() {
    let isAwaited = state.withLock { state in
      defer { state.isRedrawAwaited = true }
      return state.isRedrawAwaited
    }
    guard !isAwaited else { return }
    Task { [weak self] in
      try? await Task.sleep(for: .milliseconds(200))
      self?.state.withLock { $0.isRedrawAwaited = false }
      self?.redraw()
    }
  }

  private func askForPicture() { state.withLock { $0.needsDisplay }?() }

  func removeImage() {
    guard !connection.isBroken, area != nil else { return rebuild() }
    pictures.withLock { $0.forgetPicture() }
    redraw()
  }

  private func note(_ error: RenderingError) {
    if error.code == .rendererLost { state.withLock { $0.isLost = true } }
  }

  func rebuild() { pictures.withLock { $0.forget() } }

  var convertedFrameCount: UInt64 { pictures.withLock { $0.convertedCount } }

  func image() -> BGRAImage? { pictures.withLock { $0.copy() } }
}
