import CWindows
import PipSink

/// A tile that is a child window, so that the server clips it against its siblings.
///
/// Pictures are sent on a connection on which no thread waits, so that sending one wakes the server and no other thread
/// or process. Whether the server has read the last picture is looked up when the next one is drawn. Events of the
/// window arrive on the parent window's connection, and are passed on by ``X11TileWindows``.
final class X11Tile: ImageTile {
  /// The XID of the tile's window.
  let window: UInt32
  private let parent: UInt32
  /// The connection on which the window is created, moved and destroyed.
  private let owner: X11Connection
  /// The connection on which pictures are sent.
  private let connection: X11Connection
  private let depth: UInt8
  let decoration: any PictureDecoration
  private let needsDisplay = NeedsDisplayHandler()
  private let screenTimes = ScreenTimeHandler()
  /// What says when pictures are on the screen; nil where the server does not know the extension Present.
  private let refreshes: X11Refreshes?
  private let state: Locked<State>
  /// Two images are enough: the server reads one while the other is drawn.
  let pictures = Locked(TilePictures<X11Image>(limit: 2))
  /// What draws frames with OpenGL ES, if that was chosen.
  private let graphics: GLTileSurface?
  /// The graphics context for drawing.
  private let context: UInt32

  private struct State {
    var rectangle: PictureRect?
    var isObscured = false
    /// Whether the parent window is shown.
    var isParentMapped = true
    /// Whether the parent window or the server has gone.
    var isLost = false
    var isRevoked = false
    var isDestroyed = false
    /// Whether the window is shown where there is a rectangle.
    var isRevealed: Bool
    var isRedrawAwaited = false

    /// The rectangle, if pictures can be shown in it.
    var area: PictureRect? {
      guard !isRevoked, let rectangle, rectangle.size.isValid else { return nil }
      return rectangle
    }
  }

  /// Creates a child window. It selects no input, so the parent gets the pointer's events.
  ///
  /// - Parameters:
  ///   - owner: the connection that has created `parent`, or one on which the server is known to have `parent`.
  ///   - parent: the XID of the window to create the tile in.
  ///   - display: the server, as in `DISPLAY`; nil for the one that the environment names.
  ///   - decoration: what is drawn over the pictures.
  ///   - renderer: who draws frames.
  ///   - isRevealed: whether the tile is shown, in black, before there is a picture. Otherwise ``reveal()`` shows it.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server has gone or refuses the
  ///   window.
  init(
    _ owner: X11Connection, parent: UInt32, display: String?, decoration: any PictureDecoration,
    renderer: WindowRenderer, isRevealed: Bool = true
  ) throws(PipSinkError) {
    guard let connection = X11Connection(display) else {
      // Either the server has gone, or it accepts no more connections.
      guard owner.synchronize(), !owner.isBroken else { throw owner.windowRefusal(nil) }
      throw .system(.displayUnavailable(reason: "the X server accepts no more connections"))
    }
    let window = xcb_generate_id(owner.pointer)
    // The background is black, and the old contents stay at the upper left corner while the size changes. Somebody who
    // redirects the requests of the parent's children, as a container of other programs' windows does, is not asked.
    let events = XCB_EVENT_MASK_EXPOSURE.rawValue | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue
    let values: [UInt32] = [0, UInt32(XCB_GRAVITY_NORTH_WEST.rawValue), 1, UInt32(events)]
    let attributes =
      XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BIT_GRAVITY.rawValue | XCB_CW_OVERRIDE_REDIRECT.rawValue
      | XCB_CW_EVENT_MASK.rawValue
    let creation = xcb_create_window_checked(
      owner.pointer, UInt8(XCB_COPY_FROM_PARENT), window, parent, 0, 0, 1, 1, 0,
      UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), UInt32(XCB_COPY_FROM_PARENT), UInt32(attributes), values)
    let errorCode = owner.errorCode(of: creation)
    guard errorCode == 0, !owner.isBroken,
      let geometry = owner.answer(xcb_get_geometry(owner.pointer, window).sequence, as: xcb_get_geometry_reply_t.self)
    else { throw owner.windowRefusal(errorCode) }
    defer { free(geometry) }
    let depth = geometry.pointee.depth
    guard X11PixelLayout(connection, depth: depth) != nil else {
      throw .system(.displayUnavailable(reason: "windows have \(depth) bits per pixel, not 24, 30 or 32"))
    }
    (self.owner, self.connection, self.window, self.parent, self.depth) = (owner, connection, window, parent, depth)
    (self.decoration, state) = (decoration, Locked(State(isRevealed: isRevealed)))
    refreshes = X11Refreshes(connection, of: window)
    graphics = renderer == .openGL ? Self.graphics(connection, window) : nil
    context = xcb_generate_id(connection.pointer)
    xcb_create_gc(connection.pointer, context, window, 0, nil)
  }

  deinit { destroy() }

  /// OpenGL uses the connection on which pictures are sent, so that what both draw keeps its order.
  private static func graphics(_ connection: X11Connection, _ window: UInt32) -> GLTileSurface {
    GLTileSurface { _ throws(PipSinkError) in
      let cookie = xcb_get_window_attributes(connection.pointer, window)
      guard let attributes = connection.answer(cookie.sequence, as: xcb_get_window_attributes_reply_t.self) else {
        throw .system(.displayUnavailable(reason: "the X server does not tell the visual of a window"))
      }
      defer { free(attributes) }
      let display = try GLDisplay(.x11(connection.pointer, screen: Int32(connection.screenNumber)))
      return try GLWindowSurface(display, .x11(window, visual: attributes.pointee.visual))
    }
  }

  // MARK: - The window

  var rectangle: PictureRect? {
    get { state.withLock { $0.rectangle } }
    set {
      let isResized = state.withLock { state in
        guard state.rectangle != newValue else { return false }
        let old = state.rectangle
        state.rectangle = newValue
        if !state.isRevoked { configure(newValue, mustShow: old == nil && state.isRevealed) }
        return old?.size != newValue?.size
      }
      if isResized { needsDisplay() }
    }
  }

  private func configure(_ rectangle: PictureRect?, mustShow: Bool) {
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
    if mustShow { xcb_map_window(owner.pointer, window) }
  }

  /// Shows the tile, if it was made to wait for its first picture. What is drawn afterwards is seen, because the server
  /// is waited for.
  func reveal() {
    let mustShow = state.withLock { state in
      guard !state.isRevealed, !state.isRevoked else { return false }
      state.isRevealed = true
      guard state.rectangle != nil else { return false }
      xcb_map_window(owner.pointer, window)
      return true
    }
    if mustShow { owner.synchronize() }
  }

  /// Asks the layer to render its newest frame again.
  func askForFrame() { needsDisplay() }

  /// Notes that the parent window has been destroyed, so that the next frame reports that.
  func noteLost() { change(\.isLost, to: true) }

  /// Called on any thread when a part of the window's contents was lost.
  func noteExposed() {
    needsDisplay()
    // A text that replaces the picture is redrawn at once, without waiting for a frame.
    if let area = state.withLock({ $0.area }), decoration.isShown(in: area) { redraw() }
  }

  /// Records whether other windows cover the tile completely, as the server has reported.
  func note(isObscured: Bool) { change(\.isObscured, to: isObscured) }

  /// Records whether the parent window is shown. The server sends no events for the children of a minimised window.
  func note(isParentMapped: Bool) { change(\.isParentMapped, to: isParentMapped) }

  private func change(_ sign: WritableKeyPath<State, Bool> & Sendable, to value: Bool) {
    let isNew = state.withLock { state in
      defer { state[keyPath: sign] = value }
      return state[keyPath: sign] != value
    }
    if isNew { needsDisplay() }
  }

  @discardableResult
  func leaveWindow() -> Bool {
    state.withLock { $0.isRevoked = true }
    return graphics?.end() ?? true
  }

  /// Leaves the parent window and destroys the tile's own. Nothing of it is seen any more.
  func destroy() {
    graphics?.end()
    state.withLock { state in
      state.isRevoked = true
      guard !state.isDestroyed, !owner.isBroken else { return }
      state.isDestroyed = true
      xcb_destroy_window(owner.pointer, window)
      owner.flush()
    }
  }

  // MARK: - VideoRenderer

  var renderSize: PictureSize? { state.withLock { $0.rectangle?.size } }

  /// It is also true when the server has gone, so that the next frame reports that.
  var isVisible: Bool {
    let (area, isLost, isRevoked) = state.withLock { state in
      (state.isObscured || !state.isParentMapped ? nil : state.area, state.isLost, state.isRevoked)
    }
    if isRevoked { return false }
    if isLost || connection.isBroken { return true }
    return area.map { !decoration.hides($0) } ?? false
  }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { needsDisplay.set(handler) }

  func setScreenTimeHandler(_ handler: (@Sendable (ScreenTime) -> Void)?) { screenTimes.set(handler) }

  // MARK: - ImageTile

  func area() throws(RenderingError) -> PictureRect? {
    let (area, isLost, isRevoked) = state.withLock { ($0.area, $0.isLost, $0.isRevoked) }
    if isRevoked { return nil }
    if isLost || connection.isBroken { throw connection.loss(of: parent) }
    return area
  }

  func freeImage(of size: PictureSize, in pictures: inout TilePictures<X11Image>) throws(RenderingError) -> X11Image? {
    try lookUpWhatTheServerHasRead(pictures.images)
    return try pictures.freeImage(of: size) { () throws(RenderingError) in
      try X11Image(connection, depth: depth, size: size)
    }
  }

  /// X servers put pictures on windows as they are.
  var serverEnlarges: Bool { false }

  func mayShow(_ sampleBuffer: SampleBuffer) -> Bool { graphics != nil }

  func show(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, in area: PictureRect) -> FrameOutcome {
    guard let graphics else { return .needsImage }
    let outcome = graphics.show(sampleBuffer, gravity: gravity, in: area, under: decoration)
    guard case .shown = outcome else { return outcome }
    pictures.withLock { $0.show(sampleBuffer, gravity: gravity, at: area.size) }
    if screenTimes.isWanted, let refreshes, let frame = ScreenTime.Frame(sampleBuffer) {
      // There are no images whose errors could be told here, and the next frame finds out when the server has gone.
      try? lookUpWhatTheServerHasRead([])
      refreshes.ask(for: frame)
      connection.flushUnread()
    }
    return outcome
  }

  func send(_ image: X11Image, at size: PictureSize, showing frame: ScreenTime.Frame?) throws(RenderingError) {
    try image.put(into: window, context)
    if let frame, screenTimes.isWanted { refreshes?.ask(for: frame) }
    connection.flushUnread()
  }

  func waitForFreeImage() throws(RenderingError) -> Bool {
    var failure: RenderingError?
    let isFree = connection.wait { () -> Bool? in
      do throws(RenderingError) {
        return try pictures.withLock { pictures throws(RenderingError) in
          try lookUpWhatTheServerHasRead(pictures.images)
          return pictures.images.allSatisfy(\.isBusy) ? nil : true
        }
      } catch {
        failure = error
        return true
      }
    }
    if let failure { throw failure }
    guard isFree != nil else { throw connection.silence }
    return true
  }

  /// Handles the answers and events that have arrived on the connection, without waiting, as long as images are busy.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server has refused a picture or has gone.
  private func lookUpWhatTheServerHasRead(_ images: [X11Image]) throws(RenderingError) {
    for image in images { image.lookForReceipt() }
    while images.contains(where: \.isBusy) || refreshes?.isAsked == true, let event = connection.nextEvent() {
      defer { free(event) }
      if event.pointee.response_type == 0 {
        let code = UnsafeRawPointer(event).load(as: xcb_generic_error_t.self).error_code
        throw connection.refusal(of: code, in: parent)
      }
      if let time = refreshes?.answer(in: event) {
        screenTimes(time)
        continue
      }
      guard let base = connection.sharedMemoryEventBase,
        event.pointee.response_type & 0x7f == base + UInt8(XCB_SHM_COMPLETION)
      else { continue }
      let segment = UnsafeRawPointer(event).load(as: xcb_shm_completion_event_t.self).shmseg
      images.first { $0.segmentID == segment }?.noteRead()
    }
    if connection.isBroken { throw connection.hasGone }
  }

  func didFail(_ error: RenderingError, isRedraw: Bool) {
    if error.code == .rendererLost { state.withLock { $0.isLost = true } }
    // The next frame reports when the window has gone. A server that does not answer now may do so later.
    guard isRedraw, error.code != .rendererLost else { return }
    needsDisplay()
    redrawLater()
  }

  /// Tries again to show the decoration. No frame does so where it hides them.
  private func redrawLater() {
    let isAwaited = state.exchange(\.isRedrawAwaited, true)
    guard !isAwaited else { return }
    Task { [weak self] in
      try? await Task.sleep(for: .milliseconds(200))
      self?.state.withLock { $0.isRedrawAwaited = false }
      self?.redraw()
    }
  }
}
