import CWindows
import PipSink

/// A place for pictures that is a window in another one: the server keeps it apart from its siblings.
///
/// A picture costs the server's waking up and no other: pictures are sent on a connection that nobody waits on, and
/// whether the server has read the last one is looked up when the next one is drawn. What happens to the window is told
/// by whoever has made the one around it (``X11TileWindows``).
final class X11Tile: WindowTile {
  /// The window, as its server knows it.
  let window: UInt32
  private let owner: X11Connection
  /// Of the pictures.
  private let connection: X11Connection
  private let depth: UInt8
  private let decoration: any PictureDecoration
  private let state = Locked(State())
  /// Of the presenting thread; the lock is there for whoever shows the decoration anew.
  private let drawing = Locked(Drawing())

  private struct State {
    var frame: PictureRect?
    var isObscured = false
    /// Whether the window around it is on the screen.
    var isParentMapped = true
    var isLost = false
    var isRevoked = false
    var needsDisplay: (@Sendable () -> Void)?
  }

  private struct Drawing: ~Copyable {
    /// The one that was sent last comes first.
    var images: [(image: SharedMemoryImage, isBusy: Bool)] = []
    /// What the decoration hides of the first image's picture.
    var underlay = PictureUnderlay()
    var canvas = FrameCanvas()
    /// Whether the first image has a picture.
    var hasPicture = false
    /// Where the last picture lies on each image.
    var targets: [UInt32: PictureRect] = [:]
    var context: UInt32?
    var convertedCount: UInt64 = 0

    mutating func forgetImages() {
      images = []
      targets = [:]
      hasPicture = false
      underlay.forget()
    }
  }

  /// Makes a window in another one, which takes no input: its parent hears of the pointer.
  ///
  /// - Parameters:
  ///   - owner: a request of which has made `parent`, or that is synchronised with the one that has.
  ///   - display: the server, as in DISPLAY.
  /// - Throws: ``PipSinkError/System/displayUnavailable(reason:)``.
  init(
    _ owner: X11Connection, parent: UInt32, display: String?, decoration: any PictureDecoration
  ) throws(PipSinkError) {
    guard let connection = X11Connection(display) else {
      // Either the server has gone, or it takes no more connections.
      owner.synchronize()
      throw owner.isBroken
        ? owner.windowRefusal
        : .system(.displayUnavailable(reason: "the X server takes no more connections"))
    }
    let window = xcb_generate_id(owner.pointer)
    // Black where no picture is, and what is there stays where it is while the size changes.
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
      throw .system(.displayUnavailable(reason: "windows have \(depth) bits a pixel, not 24 or 32"))
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

  /// A part of the window's picture was lost. On any thread.
  func noteExposed() {
    state.withLock { $0.needsDisplay }?()
    // A text that stands instead of a picture waits for no frame.
    if let area, decoration.isShown(in: area) { redraw() }
  }

  /// Whether other windows cover it, as the server has said.
  func note(isObscured: Bool) { change(\.isObscured, to: isObscured) }

  /// The server says nothing of windows in one that is minimised.
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

  /// Where pictures go; nil while they go nowhere.
  private var area: PictureRect? {
    state.withLock { state in
      guard !state.isRevoked, let frame = state.frame, frame.size.isValid else { return nil }
      return PictureRect(x: 0, y: 0, width: frame.width, height: frame.height)
    }
  }

  // MARK: - VideoRenderer

  var renderSize: PictureSize? { state.withLock { $0.frame?.size } }

  /// Also when the server has gone, so that the next frame finds out.
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
        // An older decoration may be on it.
        drawing.targets[image.segmentID] = nil
      }
      do throws(PipSinkError) {
        drawing.targets[image.segmentID] = try drawing.canvas.draw(
          sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size,
          keeping: drawing.targets[image.segmentID])
      } catch {
        throw RenderingError(error)
      }
      drawing.hasPicture = true
      drawing.convertedCount += 1
      decorateAndSend(image, area, &drawing)
    }
  }

  func redraw() {
    guard !connection.isBroken, let area else { return }
    drawing.withLock { drawing in
      // Of another size it is shown with the next picture, or black where there is none.
      if drawing.images.first?.image.size != area.size, drawing.hasPicture { return }
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
      // A text that stands for long needs no memory but the server's.
      if !drawing.hasPicture, decoration.hides(area) { drawing.forgetImages() }
    }
  }

  func removeImage() {
    guard !connection.isBroken, let area else { return drawing.withLock { $0.forgetImages() } }
    drawing.withLock { drawing in
      drawing.hasPicture = false
      drawing.underlay.forget()
      guard (try? lookUpWhatTheServerHasRead(&drawing)) != nil, let (image, _) = try? freeImage(of: area.size, &drawing)
      else { return }
      FrameCanvas.clear(image.pixels, stride: image.stride, size: image.size)
      drawing.targets[image.segmentID] = nil
      decorateAndSend(image, area, &drawing)
    }
  }

  func rebuild() { drawing.withLock { $0.forgetImages() } }

  var convertedFrameCount: UInt64 { drawing.withLock { $0.convertedCount } }

  func image() -> BGRAImage? {
    drawing.withLock { drawing in
      guard drawing.hasPicture, let image = drawing.images.first?.image else { return nil }
      var bytes = image.bytes
      drawing.underlay.restore(inCopy: &bytes, width: image.size.width)
      // The server's fourth byte counts for nothing.
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

  /// Two images are enough: the server reads one while the other is drawn.
  private static let mostImages = 2

  /// An image of the area's size that the server does not read. It is the first of the images from here on.
  ///
  /// - Returns: also whether it is the one that was sent last.
  private func freeImage(
    of size: PictureSize, _ drawing: inout Drawing
  ) throws(RenderingError) -> (image: SharedMemoryImage, isSentLast: Bool) {
    if drawing.images.first.map({ $0.image.size != size }) == true { drawing.forgetImages() }
    if drawing.images.count == Self.mostImages, drawing.images.allSatisfy(\.isBusy) {
      // A server that is behind: it has read all when it answers.
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

  private func decorateAndSend(_ image: SharedMemoryImage, _ area: PictureRect, _ drawing: inout Drawing) {
    drawing.underlay.forget()
    drawing.underlay.draw(
      decoration, on: image.pixels, stride: image.stride, in: area, isBlack: !drawing.hasPicture)
    image.put(area, into: window, at: (0, 0), context(&drawing), isReported: true, isChecked: false)
    if !drawing.images.isEmpty { drawing.images[0].isBusy = true }
    xcb_flush(connection.pointer)
  }

  /// Reads what the server has said since the last time, without waiting, until it has read all images.
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

  private func context(_ drawing: inout Drawing) -> UInt32 {
    if let context = drawing.context { return context }
    let context = xcb_generate_id(connection.pointer)
    xcb_create_gc(connection.pointer, context, window, 0, nil)
    drawing.context = context
    return context
  }
}
