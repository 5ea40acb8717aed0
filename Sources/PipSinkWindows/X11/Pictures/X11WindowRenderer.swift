import CWindows
import PipSink

/// A renderer that shows frames in an existing X11 window, which may belong to another toolkit or program.
///
/// The renderer follows the window's size and asks its layer for the newest frame when the window is uncovered. When
/// the window has been destroyed, every frame is refused with ``PipSink/RenderingError/Code-swift.enum/rendererLost``,
/// and the display layer detaches itself. Pictures are sent to the server through shared memory, on the layer's thread.
///
/// The owner of the window calls ``leaveWindow()`` before it destroys the window.
public final class X11WindowRenderer: VideoRenderer {
  /// The window's XID.
  public let windowID: UInt
  private let window: UInt32
  private let depth: UInt8
  private let connection: X11Connection
  private let access: WindowAccess
  private let geometry: Locked<Geometry>
  /// Used by the presenting thread. The lock is needed for ``rebuild()``, and for the moment when one layer replaces
  /// another.
  private let drawing = Locked(Drawing())
  private let events: X11EventLoop

  /// What is known about the window. It is changed by the events' thread and by the window's owner.
  private struct Geometry {
    /// The window's size, in pixels.
    var windowSize: PictureSize?
    var rectangle: PictureRect?
    var isMapped = false
    var isObscured = false
    var isLost = false
    /// Whether the window has to be filled with black before the next picture, because that goes to another part of it.
    var mustClear = false
    var needsDisplay: (@Sendable () -> Void)?

    /// The part of the window that pictures fill.
    var area: PictureRect? { rectangle ?? whole }
    var whole: PictureRect? { windowSize.map { PictureRect(x: 0, y: 0, width: $0.width, height: $0.height) } }
  }

  /// What is needed for drawing pictures.
  private struct Drawing: ~Copyable {
    var image: X11Image?
    var canvas = FrameCanvas()
    /// The rectangle of the last picture on the image.
    var target: PictureRect?
    var context: UInt32?
    var convertedCount: UInt64 = 0

    mutating func forgetImage() {
      image = nil
      target = nil
    }
  }

  /// Creates a renderer for a window. This connects to the window's server and waits for it.
  ///
  /// - Parameters:
  ///   - windowID: the XID of an existing window.
  ///   - display: the server, as in `DISPLAY`; nil for the one that the environment names.
  /// - Throws: ``PipSink/PipSinkError/System/displayUnavailable(reason:)`` when the server cannot be reached, when it
  ///   has no such window, or when the window has not 24, 30 or 32 bits per pixel.
  public convenience init(windowID: UInt, display: String? = nil) throws(PipSinkError) {
    try self.init(windowID: windowID, display: display, access: WindowAccess())
  }

  /// Creates a renderer whose requests about the window are all made within an access, so that the window's owner can
  /// revoke it.
  package init(windowID: UInt, display: String? = nil, access: WindowAccess) throws(PipSinkError) {
    guard let connection = X11Connection(display) else {
      throw .system(.displayUnavailable(reason: "the X server \(display ?? "that DISPLAY names") cannot be reached"))
    }
    guard let window = UInt32(exactly: windowID), let found = access.use({ Self.look(at: window, connection) }) ?? nil
    else { throw .system(.displayUnavailable(reason: "there is no window 0x\(String(windowID, radix: 16))")) }
    guard X11PixelLayout(connection, depth: found.depth) != nil else {
      throw .system(.displayUnavailable(reason: "the window has \(found.depth) bits per pixel, not 24, 30 or 32"))
    }
    self.windowID = windowID
    self.window = window
    self.connection = connection
    self.access = access
    depth = found.depth
    let geometry = Locked(found.geometry)
    self.geometry = geometry
    let events = X11EventLoop(connection) { event in
      guard let change = Change(event, window) else { return true }
      Self.handle(change, geometry)
      return change != .lost
    }
    self.events = events
    _ = WorkerThread(name: "pip-x11-events") { events.run() }
  }

  deinit { events.end() }

  /// Asks the server about the window. It first selects the window's events, so that no later change is missed.
  private static func look(at window: UInt32, _ connection: X11Connection) -> (geometry: Geometry, depth: UInt8)? {
    var mask = UInt32(
      XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_EXPOSURE.rawValue
        | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue)
    let selection = xcb_change_window_attributes_checked(
      connection.pointer, window, UInt32(XCB_CW_EVENT_MASK.rawValue), &mask)
    guard connection.errorCode(of: selection) == 0,
      let attributes = connection.answer(
        xcb_get_window_attributes(connection.pointer, window).sequence, as: xcb_get_window_attributes_reply_t.self)
    else { return nil }
    defer { free(attributes) }
    guard
      let size = connection.answer(
        xcb_get_geometry(connection.pointer, window).sequence, as: xcb_get_geometry_reply_t.self)
    else { return nil }
    defer { free(size) }
    let windowSize = PictureSize(width: Int(size.pointee.width), height: Int(size.pointee.height))
    let geometry = Geometry(
      windowSize: windowSize.isValid ? windowSize : nil,
      isMapped: attributes.pointee.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue))
    return (geometry, size.pointee.depth)
  }

  /// A change of the window that the server has reported.
  private enum Change: Equatable {
    case resized(PictureSize)
    case mapped(Bool)
    case obscured(Bool)
    case exposed
    /// The window has been destroyed, or the server has gone.
    case lost

    /// - Parameter event: nil when the server has gone.
    /// - Returns: nil for an event that says nothing about the window's pictures.
    init?(_ event: UnsafePointer<xcb_generic_event_t>?, _ window: UInt32) {
      guard let event else {
        self = .lost
        return
      }
      switch event.kind {
      case XCB_CONFIGURE_NOTIFY:
        let event = event.read(as: xcb_configure_notify_event_t.self)
        guard event.window == window else { return nil }
        self = .resized(PictureSize(width: Int(event.width), height: Int(event.height)))
      case XCB_MAP_NOTIFY: self = .mapped(true)
      case XCB_UNMAP_NOTIFY: self = .mapped(false)
      case XCB_VISIBILITY_NOTIFY:
        let state = event.read(as: xcb_visibility_notify_event_t.self).state
        self = .obscured(state == UInt8(XCB_VISIBILITY_FULLY_OBSCURED.rawValue))
      case XCB_EXPOSE:
        guard event.read(as: xcb_expose_event_t.self).count == 0 else { return nil }
        self = .exposed
      case XCB_DESTROY_NOTIFY:
        guard event.read(as: xcb_destroy_notify_event_t.self).window == window else { return nil }
        self = .lost
      default: return nil
      }
    }
  }

  private static func handle(_ event: Change, _ geometry: Locked<Geometry>) {
    let handler = geometry.withLock { geometry -> (@Sendable () -> Void)? in
      switch event {
      case .resized(let size): geometry.windowSize = size.isValid ? size : nil
      case .mapped(let isMapped): geometry.isMapped = isMapped
      // Only visible windows get these events, also when a window around this one has been mapped.
      case .obscured(let isObscured): (geometry.isMapped, geometry.isObscured) = (true, isObscured)
      case .exposed: geometry.isMapped = true
      case .lost: geometry.isLost = true
      }
      return geometry.needsDisplay
    }
    handler?()
  }

  /// Stops using the window. When this returns, no request is on its way to the window, and it may be destroyed. From
  /// then on no frame is shown, as in a window that is not visible. It can be called on any thread.
  ///
  /// - Returns: false when the display server has not answered within two seconds. Requests that were made before may
  ///   then still reach the window.
  @discardableResult
  public func leaveWindow() -> Bool { access.revoke() }

  /// The part of the window in which pictures are shown, in pixels; nil for the whole window. A picture that is already
  /// shown follows at once. It can be set on any thread.
  public var renderRectangle: PictureRect? {
    get { geometry.withLock { $0.rectangle } }
    set {
      let handler = geometry.withLock { geometry -> (@Sendable () -> Void)? in
        guard geometry.rectangle != newValue else { return nil }
        geometry.rectangle = newValue
        geometry.mustClear = true
        return geometry.needsDisplay
      }
      handler?()
    }
  }

  // MARK: - VideoRenderer

  /// The size of the part of the window in which pictures are shown, in pixels, or nil while the window has no size.
  public var renderSize: PictureSize? { geometry.withLock { $0.area?.size } }

  /// Whether the window is shown and not covered completely. It is also true when the window is lost, so that the next
  /// frame reports that.
  public var isVisible: Bool {
    guard !access.isRevoked else { return false }
    return geometry.withLock { geometry in
      geometry.isLost || (geometry.isMapped && !geometry.isObscured && geometry.area != nil)
    }
  }

  /// The number of frames that have been converted for the window.
  package var convertedFrameCount: UInt64 { drawing.withLock { $0.convertedCount } }

  /// Returns a copy of the picture that is shown, or nil when none is.
  package func image() -> BGRAImage? {
    drawing.withLock { drawing in
      guard drawing.target != nil, let image = drawing.image else { return nil }
      return BGRAImage(size: image.size, opaque: image.bytes)
    }
  }

  /// Sets the handler that is called, on any thread, when the newest frame has to be rendered again. The display layer
  /// sets it.
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    geometry.withLock { $0.needsDisplay = handler }
  }

  /// Converts a frame to the window's size, draws it in the window, and waits until the server has read it.
  ///
  /// - Parameters:
  ///   - sampleBuffer: the frame.
  ///   - gravity: how the frame is fitted into the window.
  /// - Throws: ``PipSink/RenderingError`` when the window is lost, when the frame cannot be converted, or when the
  ///   server refuses the picture.
  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    let (area, isLost) = geometry.withLock { ($0.area, $0.isLost) }
    guard !isLost, !connection.isBroken else { throw lost }
    guard let area, area.size.isValid else { return }
    let errorCode = try drawing.withLock { drawing throws(RenderingError) in
      let image = try image(of: area.size, in: &drawing)
      do throws(PipSinkError) {
        drawing.target = try drawing.canvas.draw(
          sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size,
          keeping: drawing.target)
      } catch {
        throw RenderingError(error)
      }
      drawing.convertedCount += 1
      return try access.use { () throws(RenderingError) in try put(image, at: area, &drawing) }
    }
    events.drain()
    guard !connection.isBroken else { throw lost }
    // It is not an error when the window's owner has revoked the access.
    guard let errorCode, errorCode != 0 else { return }
    throw geometry.withLock { $0.isLost } ? lost : connection.refusal(of: errorCode, in: window)
  }

  private var lost: RenderingError { connection.loss(of: window) }

  /// Removes the picture, so that its part of the window is black.
  public func removeImage() {
    guard let area = geometry.withLock({ $0.isLost ? nil : $0.area }) else { return }
    drawing.withLock { drawing in
      drawing.target = nil
      _ = access.use { fillBlack(area, &drawing) }
    }
  }

  /// Releases the memory for pictures. The next frame allocates it again.
  public func rebuild() {
    drawing.withLock { $0.forgetImage() }
  }

  /// Asks the server for the window's size, and waits for the answer.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the window is lost.
  public func updateSize() throws(RenderingError) {
    guard let found = access.use({ Self.look(at: window, connection) }) else { return }
    guard let found else { throw lost }
    geometry.withLock { $0.windowSize = found.geometry.windowSize }
  }

  // MARK: - Drawing

  /// Returns an image of a size, which is kept for later frames of the same size.
  private func image(of size: PictureSize, in drawing: inout Drawing) throws(RenderingError) -> X11Image {
    if let image = drawing.image, image.size == size { return image }
    drawing.forgetImage()
    let image = try X11Image(connection, depth: depth, size: size)
    drawing.image = image
    return image
  }

  /// Draws the image in the window and waits for the server, so that the next picture can use the same memory. It is
  /// called within ``WindowAccess/use(_:)``.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server does not answer.
  /// - Returns: the code of the X error, or 0 for none.
  private func put(
    _ image: X11Image, at area: PictureRect, _ drawing: inout Drawing
  ) throws(RenderingError) -> UInt8 {
    let whole = geometry.withLock { geometry in
      defer { geometry.mustClear = false }
      return geometry.mustClear ? geometry.whole : nil
    }
    if let whole { fillBlack(whole, &drawing) }
    let cookie = try image.put(into: window, at: (area.x, area.y), context(&drawing), isChecked: true)
    guard let errorCode = connection.errorCode(of: cookie) else { throw connection.silence }
    return errorCode
  }

  /// Fills a part of the window with black. It is called within ``WindowAccess/use(_:)``.
  private func fillBlack(_ area: PictureRect, _ drawing: inout Drawing) {
    var rectangle = xcb_rectangle_t(
      x: Int16(clamping: area.x), y: Int16(clamping: area.y), width: UInt16(clamping: area.width),
      height: UInt16(clamping: area.height))
    let filling = xcb_poly_fill_rectangle_checked(connection.pointer, window, context(&drawing), 1, &rectangle)
    _ = connection.errorCode(of: filling)
  }

  /// The graphics context for drawing. Its foreground colour is black, which is the default.
  private func context(_ drawing: inout Drawing) -> UInt32 {
    if let context = drawing.context { return context }
    let context = xcb_generate_id(connection.pointer)
    _ = connection.errorCode(of: xcb_create_gc_checked(connection.pointer, context, window, 0, nil))
    drawing.context = context
    return context
  }
}
