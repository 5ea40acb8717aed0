import CGTK
import Glibc
import PipSink

/// Shows frames in an X11 window that somebody else has made, by its XID: another toolkit's, or another program's.
///
/// It follows the window's size, asks its layer for the newest frame when the window is uncovered, and lives through
/// its end: then every frame is refused with ``RenderingError/Code-swift.enum/surfaceLost``, upon which a display layer
/// leaves it. GTK is not used. Pictures go to the server through shared memory, on the layer's thread.
public final class X11WindowRenderer: VideoRenderer {
  /// The window's XID.
  public let windowID: UInt
  private let connection: X11Connection
  private let state: Locked<State>
  private let events: X11EventLoop
  private let thread: WorkerThread?

  private struct State: ~Copyable {
    /// The window's.
    var windowSize: PictureSize?
    var rectangle: PictureRect?
    var isMapped = false
    var isObscured = false
    var isLost = false
    var image: SharedMemoryImage?
    var canvas = FrameCanvas()
    /// Where the last picture lies on the image.
    var target: PictureRect?
    var context: GC?
    var needsDisplay: (@Sendable () -> Void)?

    /// Where pictures go in the window.
    var area: PictureRect? {
      rectangle ?? windowSize.map { PictureRect(x: 0, y: 0, width: $0.width, height: $0.height) }
    }
  }

  /// - Parameters:
  ///   - windowID: of a window that lives.
  ///   - display: the server, as in DISPLAY; that of the environment by default.
  /// - Throws: ``PipSinkError/displayUnavailable(reason:)`` when the server cannot be reached or has no such window, or
  ///   the window is none of 24 or 32 bits.
  public init(windowID: UInt, display: String? = nil) throws(PipSinkError) {
    guard let connection = X11Connection(display) else {
      throw .displayUnavailable(reason: "the X server \(display ?? "that DISPLAY names") cannot be reached")
    }
    self.windowID = windowID
    self.connection = connection
    let state = Locked(State())
    self.state = state
    var attributes = XWindowAttributes()
    let isThere = connection.use {
      XSelectInput(connection.display, windowID, StructureNotifyMask | ExposureMask | VisibilityChangeMask)
      return XGetWindowAttributes(connection.display, windowID, &attributes) != 0
        && connection.takeFailure().errorCode == 0
    }
    guard isThere == true else {
      throw .displayUnavailable(reason: "there is no window 0x\(String(windowID, radix: 16))")
    }
    guard attributes.depth == 24 || attributes.depth == 32 else {
      throw .displayUnavailable(reason: "the window has \(attributes.depth) bits a pixel, not 24 or 32")
    }
    let size = PictureSize(width: Int(attributes.width), height: Int(attributes.height))
    state.withLock { state in
      state.windowSize = size.isValid ? size : nil
      state.isMapped = attributes.map_state == IsViewable
      state.context = connection.use { XCreateGC(connection.display, windowID, 0, nil) } ?? nil
    }
    let events = X11EventLoop(connection: connection, windowID: windowID) { Self.handle($0, state) }
    self.events = events
    thread = WorkerThread(name: "pip-x11-events") { events.run() }
  }

  deinit {
    events.end()
    thread?.join()
    state.withLock { state in
      state.image = nil
      if let context = state.context { connection.use { _ = XFreeGC(connection.display, context) } }
    }
  }

  private static func handle(_ event: X11EventLoop.Event, _ state: Locked<State>) {
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      switch event {
      case .resized(let size): state.windowSize = size.isValid ? size : nil
      case .mapped(let isMapped): state.isMapped = isMapped
      // These come of windows that can be seen, also when it was one around this that has been mapped.
      case .obscured(let isObscured): (state.isMapped, state.isObscured) = (true, isObscured)
      case .exposed: state.isMapped = true
      case .lost: state.isLost = true
      }
      return state.needsDisplay
    }
    handler?()
  }

  /// The part of the window that pictures go to, in pixels; nil for all of it. The picture that is shown follows at
  /// once.
  public var renderRectangle: PictureRect? {
    get { state.withLock { $0.rectangle } }
    set {
      let handler = state.withLock { state -> (@Sendable () -> Void)? in
        guard state.rectangle != newValue else { return nil }
        state.rectangle = newValue
        state.target = nil
        fillBlack(state.windowSize.map { PictureRect(x: 0, y: 0, width: $0.width, height: $0.height) }, state.context)
        return state.needsDisplay
      }
      handler?()
    }
  }

  // MARK: - VideoRenderer

  public var renderSize: PictureSize? { state.withLock { $0.area?.size } }

  /// Also when the window is lost, so that the next frame finds out.
  public var isVisible: Bool { state.withLock { $0.isLost || ($0.area != nil && $0.isMapped && !$0.isObscured) } }

  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    state.withLock { $0.needsDisplay = handler }
  }

  public func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    do throws(PipSinkError) {
      try state.withLock { state throws(PipSinkError) in
        guard let image = try image(in: &state) else { return }
        state.target = try state.canvas.draw(
          sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size,
          keeping: state.target)
        put(image, at: state.area, state.context)
      }
    } catch {
      guard case .displayUnavailable(let reason) = error else { throw RenderingError(error) }
      throw RenderingError(code: .surfaceLost, reason: reason)
    }
    events.drain()
    try checkConnection()
  }

  public func removeImage() {
    state.withLock { state in
      guard !state.isLost, let context = state.context else { return }
      state.target = nil
      fillBlack(state.area, context)
    }
  }

  private func fillBlack(_ area: PictureRect?, _ context: GC?) {
    guard let area, let context else { return }
    connection.use {
      XSetForeground(connection.display, context, 0)
      XFillRectangle(
        connection.display, windowID, context, Int32(area.x), Int32(area.y), UInt32(area.width), UInt32(area.height))
      XFlush(connection.display)
    }
  }

  public func rebuild() {
    state.withLock { state in
      state.image = nil
      state.target = nil
    }
  }

  /// Shared memory of the window's size.
  private func image(in state: inout State) throws(PipSinkError) -> SharedMemoryImage? {
    guard !state.isLost, !connection.isBroken else {
      throw .displayUnavailable(reason: "the window 0x\(String(windowID, radix: 16)) has gone")
    }
    guard let size = state.area?.size, size.isValid else { return nil }
    if let image = state.image, image.size == size { return image }
    state.image = nil
    state.target = nil
    let made = connection.use { () -> SharedMemoryImage?? in
      var attributes = XWindowAttributes()
      guard XGetWindowAttributes(connection.display, windowID, &attributes) != 0, let visual = attributes.visual else {
        return nil
      }
      return .some(SharedMemoryImage(connection, visual: visual, depth: attributes.depth, size: size))
    }
    // The window has gone; the events say so, too.
    guard let answered = made ?? nil else { return nil }
    guard let image = answered else { throw .outOfMemory(byteCount: size.width * size.height * 4) }
    state.image = image
    return image
  }

  private func put(_ image: SharedMemoryImage, at area: PictureRect?, _ context: GC?) {
    connection.use {
      XShmPutImage(
        connection.display, windowID, context, image.image, 0, 0, Int32(area?.x ?? 0), Int32(area?.y ?? 0),
        UInt32(image.size.width), UInt32(image.size.height), 0)
      // The server has read the picture when it answers; the next one is drawn on the same memory.
      XSync(connection.display, 0)
    }
  }

  private func checkConnection() throws(RenderingError) {
    let failure = connection.takeFailure()
    if failure.isBroken {
      state.withLock { $0.isLost = true }
      throw RenderingError(code: .surfaceLost, reason: "the X server has gone")
    }
    guard failure.errorCode != 0 else { return }
    let isLost = state.withLock { $0.isLost }
    throw RenderingError(
      code: isLost || Int32(failure.errorCode) == BadWindow || Int32(failure.errorCode) == BadDrawable
        ? .surfaceLost : .invalidPixelFormat,
      reason: "the X server refused the picture (error \(failure.errorCode))")
  }
}
