import CWindows
import PipSink

/// A tile that is a child window, so that the server clips it against its siblings.
///
/// Sending a picture wakes the server and no other thread or process. Pictures are sent on a connection of their own on
/// which no thread waits, and whether the server has read the last picture is looked up when the next one is drawn.
/// Events of the window arrive on the parent window's connection, and are passed on by ``X11TileWindows``.
final class X11Tile: WindowTile {
  /// The XID of the tile's window.
  let window: UInt32
  /// The connection on which the window is created, moved and destroyed.
  private let owner: X11Connection
  /// The connection on which pictures are sent.
  private let connection: X11Connection
  private let depth: UInt8
  private let decoration: any PictureDecoration
  private let state = Locked(State())
  /// Used by the presenting thread. The lock is needed because the decoration is redrawn from other threads.
  private let drawing = Locked(Drawing())

  private struct State {
    var frame: PictureRect?
    var isObscured = false
    /// Whether the parent window is shown.
    var isParentMapped = true
    var isLost = false
    var isRevoked = false
    var needsDisplay: (@Sendable () -> Void)?
  }

  /// What is needed for drawing pictures.
  private struct Drawing: ~Copyable {
    /// The images, the one that was sent last first. `isBusy` says whether the server may still read it.
    var images: [(image: SharedMemoryImage, isBusy: Bool)] = []
    /// The pixels of the first image that the decoration covers.
    var underlay = PictureUnderlay()
    var canvas = FrameCanvas()
    /// Whether the first image has a picture and is not only black.
    var hasPicture = false
    /// Whether the picture's memory was released while a text replaced it. The display layer has the picture.
    var isPictureReleased = false
    /// The rectangle of the last picture on each image, by the image's segment.
    var targets: [UInt32: PictureRect] = [:]
    var context: UInt32?
    var convertedCount: UInt64 = 0

    mutating func forgetImages() {
      images = []
      targets = [:]
      canvas = FrameCanvas()
      forgetPicture()
    }

    mutating func forgetPicture() {
      (hasPicture, isPictureReleased) = (false, false)
      underlay.forget()
    }

    /// Releases the memory while a text replaces the picture, which may be for long. The server keeps the text.
    mutating func releaseHiddenPicture() {
      let isReleased = hasPicture || isPictureReleased
      forgetImages()
      isPictureReleased = isReleased
    }
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
      owner.synchronize()
      throw owner.isBroken
        ? owner.windowRefusal
        : .system(.displayUnavailable(reason: "the X server accepts no more connections"))
    }
    let window = xcb_generate_id(owner.pointer)
    // The background is black, and the old contents stay at the upper left corner while the size changes.
    let events = XCB_EVENT_MASK_EXPOSURE.rawValue | XCB_EVENT_MASK_VISIBILITY_CHANGE.rawValue
    let values: [UInt32] = [0, UInt32(XCB_GRAVITY_NORTH_WEST.rawValue), UInt32(events)]
    let creation = xcb_create_window_checked(
      owner.pointer, UInt8(XCB_COPY_FROM_PARENT), window, parent, 0, 0, 1, 1, 0,
      UInt16(XCB_WINDOW_CLASS_INPUT_OUTPUT.rawValue), UInt32(XCB_COPY_FROM_PARENT),
      UInt32(XCB_CW_BACK_PIXEL.rawValue | XCB_CW_BIT_GRAVITY.rawValue | XCB_CW_EVENT_MASK.rawValue), values)
    guard owner.errorCode(of: creation) == 0, !owner.isBroken,
      let geometry = owner.answer({ xcb_get_geometry_reply($0, xcb_get_geometry($0, window), nil) })
    else { throw owner.windowRefusal }
    defer { free(geometry) }
    depth = geometry.pointee.depth
    guard depth == 24 || depth == 32 else {
      throw .system(.displayUnavailable(reason: "windows have \(depth) bits per pixel, not 24 or 32"))
    }
    (self.owner, self.connection, self.window) = (owner, connection, window)
    self.decoration = OffsetDecoration(decoration) { [state] in
      state.withLock { ($0.frame?.x ?? 0, $0.frame?.y ?? 0) }
    }
  }

  deinit {
    guard !owner.isBroken else { return }
    xcb_destroy_window(owner.pointer, window)
    owner.flush()
  }

  // MARK: - The window

  var frame: PictureRect? {
    get { state.withLock { $0.frame } }
    set {
      let handler = state.withLock { state -> (@Sendable () -> Void)? in
        guard state.frame != newValue else { return nil }
        let wasShown = state.frame != nil
        let isResized = state.frame?.size != newValue?.size
        state.frame = newValue
        configure(newValue, wasShown: wasShown)
        return isResized ? state.needsDisplay : nil
      }
      handler?()
    }
  }

  private func configure(_ frame: PictureRect?, wasShown: Bool) {
    defer { owner.flush() }
    guard let frame else {
      xcb_unmap_window(owner.pointer, window)
      return
    }
    let mask =
      XCB_CONFIG_WINDOW_X.rawValue | XCB_CONFIG_WINDOW_Y.rawValue | XCB_CONFIG_WINDOW_WIDTH.rawValue
      | XCB_CONFIG_WINDOW_HEIGHT.rawValue
    let values = [frame.x, frame.y, max(1, frame.width), max(1, frame.height)].map {
      UInt32(bitPattern: Int32(clamping: $0))
    }
    xcb_configure_window(owner.pointer, window, UInt16(mask), values)
    if !wasShown { xcb_map_window(owner.pointer, window) }
  }

  /// Called on any thread when a part of the window's contents was lost.
  func noteExposed() {
    state.withLock { $0.needsDisplay }?()
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
      guard !state.isRevoked, let frame = state.frame, frame.size.isValid else { return nil }
      return PictureRect(x: 0, y: 0, width: frame.width, height: frame.height)
    }
  }

  // MARK: - VideoRenderer

  var renderSize: PictureSize? { state.withLock { $0.frame?.size } }

  /// It is also true when the server has gone, so that the next frame reports that.
  var isVisible: Bool {
    let (isHidden, isLost) = state.withLock { ($0.isObscured || !$0.isParentMapped || $0.isRevoked, $0.isLost) }
    if isLost || connection.isBroken { return true }
    guard !isHidden, let area else { return false }
    return !decoration.hides(area)
  }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) { state.withLock { $0.needsDisplay = handler } }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    guard !connection.isBroken else { throw lost }
    guard let area else { return }
    try drawing.withLock { drawing throws(RenderingError) in
      try lookUpWhatTheServerHasRead(&drawing)
      let (image, isSentLast) = try freeImage(of: area.size, &drawing)
      if isSentLast {
        drawing.underlay.restore(on: image.pixels, stride: image.stride)
      } else {
        // The image may still have an older decoration, so it is drawn completely.
        drawing.targets[image.segmentID] = nil
      }
      do throws(PipSinkError) {
        drawing.targets[image.segmentID] = try drawing.canvas.draw(
          sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size,
          keeping: drawing.targets[image.segmentID])
      } catch {
        throw RenderingError(error)
      }
      (drawing.hasPicture, drawing.isPictureReleased) = (true, false)
      drawing.convertedCount += 1
      decorateAndSend(image, area, &drawing)
    }
  }

  func redraw() {
    guard !connection.isBroken, let area else { return }
    drawing.withLock { drawing in
      // A picture of another size cannot be redrawn; the next picture shows the decoration.
      if drawing.images.first?.image.size != area.size, drawing.hasPicture { return }
      // Nor can a picture that has been released. The display layer has been asked for it.
      if drawing.isPictureReleased, !decoration.hides(area) { return }
      guard (try? lookUpWhatTheServerHasRead(&drawing)) != nil else { return }
      let shown = drawing.hasPicture ? drawing.images.first?.image : nil
      guard let (image, _) = try? freeImage(of: area.size, &drawing) else { return }
      if let shown {
        if shown !== image { image.pixels.update(from: shown.pixels, count: image.stride * image.size.height) }
        drawing.targets[image.segmentID] = drawing.targets[shown.segmentID]
        drawing.underlay.restore(on: image.pixels, stride: image.stride)
      } else {
        FrameCanvas.clear(image.pixels, stride: image.stride, size: image.size)
        drawing.targets[image.segmentID] = nil
      }
      decorateAndSend(image, area, &drawing)
      if decoration.hides(area) { drawing.releaseHiddenPicture() }
    }
  }

  func removeImage() {
    guard !connection.isBroken, let area else { return drawing.withLock { $0.forgetImages() } }
    drawing.withLock { drawing in
      drawing.forgetPicture()
      guard (try? lookUpWhatTheServerHasRead(&drawing)) != nil, let (image, _) = try? freeImage(of: area.size, &drawing)
      else { return }
      FrameCanvas.clear(image.pixels, stride: image.stride, size: image.size)
      drawing.targets[image.segmentID] = nil
      decorateAndSend(image, area, &drawing)
      if decoration.hides(area) { drawing.releaseHiddenPicture() }
    }
  }

  func rebuild() { drawing.withLock { $0.forgetImages() } }

  var convertedFrameCount: UInt64 { drawing.withLock { $0.convertedCount } }

  func image() -> BGRAImage? {
    drawing.withLock { drawing in
      guard drawing.hasPicture, let image = drawing.images.first?.image else { return nil }
      var bytes = image.bytes
      drawing.underlay.restore(inCopy: &bytes, width: image.size.width)
      // The fourth byte of each pixel is undefined.
      for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 255 }
      return BGRAImage(size: image.size, bytes: bytes)
    }
  }

  private var lost: RenderingError {
    RenderingError(
      code: .surfaceLost,
      reason: connection.isBroken ? "the X server has gone" : "the window 0x\(String(window, radix: 16)) has gone")
  }

  // MARK: - Drawing

  /// The largest number of images. Two are enough: the server reads one while the other is drawn.
  private static let mostImages = 2

  /// Finds or creates an image of a size that the server does not read, and makes it the first of the images.
  ///
  /// - Returns: the image, and whether it is the one that was sent last.
  private func freeImage(
    of size: PictureSize, _ drawing: inout Drawing
  ) throws(RenderingError) -> (image: SharedMemoryImage, isSentLast: Bool) {
    if drawing.images.first.map({ $0.image.size != size }) == true { drawing.forgetImages() }
    if drawing.images.count == Self.mostImages, drawing.images.allSatisfy(\.isBusy) {
      // The server is behind. Once it answers, it has read all images.
      connection.synchronize()
      try lookUpWhatTheServerHasRead(&drawing)
      for index in drawing.images.indices { drawing.images[index].isBusy = false }
    }
    if let index = drawing.images.firstIndex(where: { !$0.isBusy }) {
      let entry = drawing.images.remove(at: index)
      drawing.images.insert(entry, at: 0)
      return (entry.image, index == 0)
    }
    guard let image = SharedMemoryImage(connection, depth: depth, size: size) else {
      if connection.isBroken { throw lost }
      throw RenderingError(.frame(.outOfMemory(byteCount: size.width * size.height * 4)))
    }
    drawing.images.insert((image, false), at: 0)
    return (image, false)
  }

  /// Draws the decoration on an image and sends it to the server.
  private func decorateAndSend(_ image: SharedMemoryImage, _ area: PictureRect, _ drawing: inout Drawing) {
    drawing.underlay.forget()
    drawing.underlay.draw(
      decoration, on: image.pixels, stride: image.stride, in: area, isBlack: !drawing.hasPicture)
    image.put(area, into: window, at: (0, 0), context(&drawing), isReported: true, isChecked: false)
    if !drawing.images.isEmpty { drawing.images[0].isBusy = true }
    xcb_flush(connection.pointer)
  }

  /// Handles the events that have arrived on the pictures' connection, without waiting, as long as images are busy.
  ///
  /// - Throws: ``RenderingError`` when the server has refused a picture or has gone.
  private func lookUpWhatTheServerHasRead(_ drawing: inout Drawing) throws(RenderingError) {
    while drawing.images.contains(where: \.isBusy), let event = connection.nextEvent() {
      defer { free(event) }
      if event.pointee.response_type == 0 {
        let error = UnsafeRawPointer(event).load(as: xcb_generic_error_t.self)
        let isGone = [XCB_WINDOW, XCB_DRAWABLE].contains(Int32(error.error_code))
        if isGone { state.withLock { $0.isLost = true } }
        throw isGone
          ? lost
          : RenderingError(
            code: .invalidPixelFormat, reason: "the X server refused the picture (error \(error.error_code))")
      }
      guard let base = connection.sharedMemoryEventBase,
        event.pointee.response_type & 0x7f == base + UInt8(XCB_SHM_COMPLETION)
      else { continue }
      let segment = UnsafeRawPointer(event).load(as: xcb_shm_completion_event_t.self).shmseg
      for index in drawing.images.indices where drawing.images[index].image.segmentID == segment {
        drawing.images[index].isBusy = false
      }
    }
    if connection.isBroken { throw lost }
  }

  /// The graphics context for drawing pictures.
  private func context(_ drawing: inout Drawing) -> UInt32 {
    if let context = drawing.context { return context }
    let context = xcb_generate_id(connection.pointer)
    xcb_create_gc(connection.pointer, context, window, 0, nil)
    drawing.context = context
    return context
  }
}
