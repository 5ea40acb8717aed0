import CWindows
import PipSink

/// Shows frames in an X11 window that somebody else has made, by its XID: another toolkit's, or another program's.
///
/// It follows the window's size, asks its layer for the newest frame when the window is uncovered, and lives through
/// its end: then every frame is refused with ``RenderingError/Code-swift.enum/surfaceLost``, upon which a display layer
/// leaves it. Pictures go to the server through shared memory, on the layer's
/// thread.
///
/// Who owns the window calls ``leaveWindow()`` before the window goes away.
public final class X11WindowRenderer: VideoRenderer {
  /// The window's XID.
  public let windowID: UInt
  private let window: UInt32
  private let depth: UInt8
  private let connection: X11Connection
  private let access: WindowAccess
  private let geometry: Locked<Geometry>
  /// Of the presenting thread; the lock is there for ``rebuild()`` and a layer that follows another one.
  private let drawing = Locked(Drawing())
  private let events: X11EventLoop
  private let thread: WorkerThread?

  private struct Geometry {
    /// The window's.
    var windowSize: PictureSize?
    var rectangle: PictureRect?
    var isMapped = false
    var isObscured = false
    var isLost = false
    /// The window is to be black around the next picture, which goes to another part of it than the last one.
    var mustClear = false
    var needsDisplay: (@Sendable () -> Void)?

    /// Where pictures go in the window.
    var area: PictureRect? { rectangle ?? whole }
    var whole: PictureRect? { windowSize.map { PictureRect(x: 0, y: 0, width: $0.width, height: $0.height) } }
  }

  private struct Drawing: ~Copyable {
    var image: SharedMemoryImage?
    var canvas = FrameCanvas()
    /// Where the last picture lies on the image.
    var target: PictureRect?
    var context: UInt32?
    var convertedCount: UInt64 = 0

    mutating func forgetImage() {
      image = nil
      target = nil
    }
  }

  /// - Parameters:
  ///   - windowID: of a window that lives.
  ///   - display: the server, as in DISPLAY; that of the environment by default.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)`` when the server cannot be reached or has no such
  ///   window, or the window is none of 24 or 32 bits.
  public convenience init(windowID: UInt, display: String? = nil) throws(PipSinkError) {
    try self.init(windowID: windowID, display: display, access: WindowAccess())
  }

  /// - Parameters:
  ///   - access: without which nothing is asked of the server about the window.
  package init(windowID: UInt, display: String? = nil, access: WindowAccess) throws(PipSinkError) {
    guard let connection = X11Connection(display) else {
      throw .system(.displayUnavailable(reason: "the X server \(display ?? "that DISPLAY names") cannot be reached"))
    }
    guard let window = UInt32(exactly: windowID), let found = access.use({ Self.look(at: window, connection) }) ?? nil
    else { throw .system(.displayUnavailable(reason: "there is no window 0x\(String(windowID, radix: 16))")) }
    guard found.depth == 24 || found.depth == 32 else {
      throw .system(.displayUnavailable(reason: "the window has \(found.depth) bits a pixel, not 24 or 32"))
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
    thread = WorkerThread(name: "pip-x11-events") { events.run() }
  }

  deinit {
    events.end()
    thread?.join()
  }

  /// Asks for the window's events first, so that no change is missed.
  private static func look(at window: UInt32, _ connection: X11Connection) -> (geometry: Geometry, depth: UInt8)? {
    var mask = UInt32(
      XCB_EVENT_MASK_STRUCTURE_NOTIFY.rawValue | XCB_EVENT_MASK_EXPOSURE.rawValue
        | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue)
    let selection = xcb_change_window_attributes_checked(
      connection.pointer, window, UInt32(XCB_CW_EVENT_MASK.rawValue), &mask)
    guard connection.errorCode(of: selection) == 0,
      let attributes = xcb_get_window_attributes_reply(
        connection.pointer, xcb_get_window_attributes(connection.pointer, window), nil)
    else { return nil }
    defer { free(attributes) }
    guard let size = xcb_get_geometry_reply(connection.pointer, xcb_get_geometry(connection.pointer, window), nil)
    else {
      return nil
    }
    defer { free(size) }
    let windowSize = PictureSize(width: Int(size.pointee.width), height: Int(size.pointee.height))
    let geometry = Geometry(
      windowSize: windowSize.isValid ? windowSize : nil,
      isMapped: attributes.pointee.map_state == UInt8(XCB_MAP_STATE_VIEWABLE.rawValue))
    return (geometry, size.pointee.depth)
  }

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
      // These come of windows that can be seen, also when it was one around this that has been mapped.
      case .obscured(let isObscured): (geometry.isMapped, geometry.isObscured) = (true, isObscured)
      case .exposed: geometry.isMapped = true
      case .lost: geometry.isLost = true
      }
      return geometry.needsDisplay
    }
    handler?()
  }

  /// Uses the window no more: when this returns, nothing is on its way to it, and it may be destroyed. No frame is
  /// shown from then on, as in a window that nobody can see. From any thread.
  ///
  /// - Returns: false when the display server has not answered within two seconds; what it was asked for before may
  ///   reach the window then, and nothing else.
  @discardableResult
  public func leaveWindow() -> Bool { access.revoke() }

  /// The part of the window that pictures go to, in pixels; nil for all of it. The picture that is shown follows at
  /// once.
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

  public var renderSize: PictureSize? { geometry.withLock { $0.area?.size } }

  /// Also when the window is lost, so that the next frame finds out.
  public var isVisible: Bool {
    guard !access.isRevoked else { return false }
    return geometry.withLock { geometry in
      geometry.isLost || (geometry.isMapped && !geometry.isObscured && geometry.area != nil)
    }
  }

  /// Frames that were converted for the window so far.
  package var convertedFrameCount: UInt64 { drawing.withLock { $0.convertedCount } }

  /// A copy of the picture that is shown; nil when there is none.
  package func image() -> BGRAImage? {
    drawing.withLock { drawing in
      guard drawing.target != nil, let image = drawing.image else { return nil }
      var bytes = image.bytes
      // The server's fourth byte counts for nothing.
      for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 255 }
      return BGRAImage(size: image.size, bytes: bytes)
    }
  }

  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    geometry.withLock { $0.needsDisplay = handler }
  }

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
      return access.use { put(image, at: area, &drawing) }
    }
    events.drain()
    guard !connection.isBroken else { throw lost }
    // Nothing has failed where the window's owner has taken it back.
    guard let errorCode, errorCode != 0 else { return }
    let isGone = Int32(errorCode) == XCB_WINDOW || Int32(errorCode) == XCB_DRAWABLE
    throw RenderingError(
      code: isGone || geometry.withLock { $0.isLost } ? .surfaceLost : .invalidPixelFormat,
      reason: "the X server refused the picture (error \(errorCode))")
  }

  private var lost: RenderingError {
    RenderingError(
      code: .surfaceLost,
      reason: connection.isBroken
        ? "the X server has gone" : "the window 0x\(String(windowID, radix: 16)) has gone")
  }

  public func removeImage() {
    guard let area = geometry.withLock({ $0.isLost ? nil : $0.area }) else { return }
    drawing.withLock { drawing in
      drawing.target = nil
      _ = access.use { fillBlack(area, &drawing) }
    }
  }

  public func rebuild() {
    drawing.withLock { $0.forgetImage() }
  }

  /// Asks the server for the window's size.
  public func updateSize() throws(RenderingError) {
    guard let found = access.use({ Self.look(at: window, connection) }) else { return }
    guard let found else { throw lost }
    geometry.withLock { $0.windowSize = found.geometry.windowSize }
  }

  // MARK: - Drawing

  /// Shared memory of the area's size.
  private func image(of size: PictureSize, in drawing: inout Drawing) throws(RenderingError) -> SharedMemoryImage {
    if let image = drawing.image, image.size == size { return image }
    drawing.forgetImage()
    guard let image = SharedMemoryImage(connection, depth: depth, size: size) else {
      if connection.isBroken { throw lost }
      throw RenderingError(.frame(.outOfMemory(byteCount: size.width * size.height * 4)))
    }
    drawing.image = image
    return image
  }

  /// Within ``WindowAccess/use(_:)``, and waiting for the server: it has read the picture then, and the next one can be
  /// drawn on the same memory.
  ///
  /// - Returns: the code of the X error; 0 for none.
  private func put(_ image: SharedMemoryImage, at area: PictureRect, _ drawing: inout Drawing) -> UInt8 {
    let whole = geometry.withLock { geometry in
      defer { geometry.mustClear = false }
      return geometry.mustClear ? geometry.whole : nil
    }
    if let whole { fillBlack(whole, &drawing) }
    let part = PictureRect(x: 0, y: 0, width: image.size.width, height: image.size.height)
    return connection.errorCode(
      of: image.put(part, into: window, at: (area.x, area.y), context(&drawing), isReported: false, isChecked: true))
  }

  /// The same.
  private func fillBlack(_ area: PictureRect, _ drawing: inout Drawing) {
    var rectangle = xcb_rectangle_t(
      x: Int16(clamping: area.x), y: Int16(clamping: area.y), width: UInt16(clamping: area.width),
      height: UInt16(clamping: area.height))
    let filling = xcb_poly_fill_rectangle_checked(connection.pointer, window, context(&drawing), 1, &rectangle)
    _ = connection.errorCode(of: filling)
  }

  /// Whose foreground is black, as long as nobody sets another.
  private func context(_ drawing: inout Drawing) -> UInt32 {
    if let context = drawing.context { return context }
    let context = xcb_generate_id(connection.pointer)
    _ = connection.errorCode(of: xcb_create_gc_checked(connection.pointer, context, window, 0, nil))
    drawing.context = context
    return context
  }
}
