import CGStreamer
import PipSink
import PipSinkWindows

/// The content of a paintable. Pictures are made on a layer's presenting thread, at the size at which GTK draws them,
/// and are drawn on GTK's thread.
///
/// At most one picture waits to be drawn. As long as it does, because GTK does not draw the paintable, no other one is
/// made. The layer keeps the newest frame meanwhile, and is told when the picture has been drawn.
final class PaintablePicture: Sendable {
  typealias Size = (width: Double, height: Double)

  private struct State {
    /// The size of the stream with square pixels, after rotation; nil before its first frame.
    var displaySize: Size?
    /// The picture that has been made and not drawn yet.
    var made: PaintableTexture?
    /// The picture that was drawn last.
    var drawn: PaintableTexture?
    /// The size at which pictures are made.
    var demand = Demand()
    /// Whether a frame was skipped that could be shown now.
    var hasSkipped = false
    /// What is drawn instead of the picture.
    var placeholder: StreamPlaceholder?
    /// The placeholder as it was drawn last.
    var cover: (placeholder: StreamPlaceholder, scale: Double, texture: PaintableTexture)?
    var convertedCount: UInt64 = 0
    // What GTK has to be told.
    var mustInvalidateSize = false
    var isInvalidationQueued = false

    var isVisible: Bool {
      // GTK gives no place to something without a size, so the first frame is looked at in any case.
      displaySize == nil || (placeholder == nil && made == nil && demand.size != nil)
    }
  }

  /// What frames are drawn with.
  private struct Drawing: ~Copyable {
    var canvas = FrameCanvas()
  }

  let gtk: GTK4Library
  private let state = Locked(State())
  /// Only the presenting thread uses it. The lock is for a layer that follows another one.
  private let drawing = Locked(Drawing())
  private let memory = TextureMemory()
  /// The paintable, which keeps this object alive.
  let object = WeakObject()

  init(_ gtk: GTK4Library) { self.gtk = gtk }

  var displaySize: Size? { state.withLock { $0.displaySize } }
  /// The size in GTK's whole units; 0 by 0 before the first frame.
  var intrinsicSize: (width: gint, height: gint) {
    let size = displaySize ?? (0, 0)
    return (gint(clamping: Int(nearest: size.width)), gint(clamping: Int(nearest: size.height)))
  }

  var renderSize: PictureSize? { state.withLock { $0.demand.size } }
  var convertedFrameCount: UInt64 { state.withLock { $0.convertedCount } }

  /// Whether a frame would be shown now. It is asked before each frame, and a frame that comes while it is false is
  /// skipped.
  var isVisible: Bool {
    state.withLock { state in
      if !state.isVisible { state.hasSkipped = true }
      return state.isVisible
    }
  }

  let needsDisplay = NeedsDisplayHandler()

  var placeholder: StreamPlaceholder? {
    get { state.withLock { $0.placeholder } }
    set {
      let mustTell = state.withLock { state in
        guard state.placeholder != newValue else { return false }
        state.placeholder = newValue
        if newValue == nil { state.cover = nil }
        queueInvalidation(&state)
        return newValue == nil
      }
      if mustTell { needsDisplay() }
    }
  }

  // MARK: - On the presenting thread

  /// Makes the picture for a frame.
  func render(_ sampleBuffer: SampleBuffer) throws(PipSinkError) {
    let oriented = sampleBuffer.displaySize
    let size = state.withLock { state in
      if state.displaySize.map({ $0 != oriented }) ?? true {
        state.displaySize = oriented
        state.mustInvalidateSize = true
        queueInvalidation(&state)
      }
      state.hasSkipped = false
      return state.demand.size
    }
    // Without a size, GTK has not drawn the paintable yet.
    guard let size else { return }
    let texture = try makeTexture(size) { pixels, stride throws(PipSinkError) in
      try drawing.withLock { drawing throws(PipSinkError) in
        // The paintable has the stream's shape. The widget that shows it decides whether to keep or stretch it.
        _ = try drawing.canvas.draw(sampleBuffer, gravity: .resize, on: pixels, stride: stride, size: size)
      }
      if sampleBuffer.formatDescription.pixelFormat.hasAlpha {
        FrameCanvas.makeOpaque(pixels, stride: stride, size: size)
      }
    }
    let replaced = state.withLock { state in
      defer { state.made = texture }
      state.convertedCount += 1
      queueInvalidation(&state)
      return state.made
    }
    _ = replaced
  }

  /// Removes the picture and frees memory that is not in use.
  func removeImage() {
    let removed = state.withLock { state in
      defer { (state.made, state.drawn) = (nil, nil) }
      state.hasSkipped = false
      queueInvalidation(&state)
      return (state.made, state.drawn)
    }
    _ = removed
    memory.trim()
  }

  /// Has the next pictures made in new memory.
  func rebuild() { memory.trim() }

  /// Makes a texture whose pixels `draw` fills.
  private func makeTexture(
    _ size: PictureSize, _ draw: (UnsafeMutablePointer<UInt8>, _ stride: Int) throws(PipSinkError) -> Void
  ) throws(PipSinkError) -> PaintableTexture {
    let block = try memory.make(size.width * size.height * 4)
    try draw(block.pixels, size.width * 4)
    guard let bytes = block.makeBytes() else { throw .frame(.outOfMemory(byteCount: block.byteCount)) }
    defer { g_bytes_unref(bytes) }
    guard let texture = gtk.makeTexture(size, bytes) else {
      throw .frame(.invalidSize(width: size.width, height: size.height))
    }
    return texture
  }

  // MARK: - On GTK's thread

  /// Draws the picture or the placeholder on a GdkSnapshot. The size is in GTK's units.
  func draw(on snapshot: UnsafeMutableRawPointer, width: Double, height: Double) {
    let scale = gtk.largestScale()
    let size = PictureSize(width: Int(nearest: width * scale), height: Int(nearest: height * scale))
    guard size.isValid else { return }
    let (texture, placeholder, replaced, mustTell) = state.withLock { state in
      let replaced = state.made == nil ? nil : state.drawn
      let isFirst = state.made != nil
      if let made = state.made { (state.drawn, state.made) = (made, nil) }
      state.demand.note(size, isFirst: isFirst)
      let isSmall = state.drawn.map { size.width > $0.size.width || size.height > $0.size.height } ?? true
      let mustTell = state.placeholder == nil && (state.hasSkipped || isSmall)
      return (state.drawn, state.placeholder, replaced, mustTell)
    }
    _ = replaced
    if let placeholder {
      if let cover = cover(placeholder, size, scale) { gtk.snapshot(cover.object, snapshot, width, height) }
    } else if let texture {
      gtk.snapshot(texture.object, snapshot, width, height)
    }
    if mustTell { needsDisplay() }
  }

  /// The placeholder's picture, which is drawn again when its size has changed.
  private func cover(_ placeholder: StreamPlaceholder, _ size: PictureSize, _ scale: Double) -> PaintableTexture? {
    let known = state.withLock { $0.cover }
    if let known, known.placeholder == placeholder, known.scale == scale, known.texture.size == size {
      return known.texture
    }
    let made = try? makeTexture(size) { pixels, _ in
      PlaceholderPicture.draw(placeholder.text, on: pixels, stride: size.width * 4, size: size, scale: scale)
    }
    if let made { state.withLock { $0.cover = (placeholder, scale, made) } }
    return made
  }

  /// A new paintable that always shows what this one shows now.
  ///
  /// - Returns: a new reference.
  func makeStill() -> UnsafeMutableRawPointer? {
    let (texture, size) = state.withLock { state in
      (state.placeholder == nil ? state.drawn : state.cover?.texture, state.displaySize)
    }
    guard let size, let texture else {
      let (width, height) = intrinsicSize
      return gtk.makeEmptyPaintable(width, height)
    }
    return gtk.makeStill(texture, size: size)
  }

  /// Has GTK's thread redraw the paintable. Several changes until then cause one redraw.
  private func queueInvalidation(_ state: inout State) {
    guard !state.isInvalidationQueued, let object = object.strongReference() else { return }
    state.isInvalidationQueued = true
    // It must not happen at once: g_main_context_invoke() would do that on any thread while nobody runs the main loop.
    g_idle_add_full(
      gint(G_PRIORITY_DEFAULT),
      { object in
        if let object { PaintableType.picture(of: object)?.invalidate(object) }
        return 0
      }, object, { object in g_object_unref(object) })
  }

  /// Tells GTK what has changed.
  private func invalidate(_ object: UnsafeMutableRawPointer) {
    let mustInvalidateSize = state.withLock { state in
      defer { (state.isInvalidationQueued, state.mustInvalidateSize) = (false, false) }
      return state.mustInvalidateSize
    }
    if mustInvalidateSize { gtk.invalidateSize(object) }
    gtk.invalidateContents(object)
  }
}

/// The size at which pictures are made: the size that was last asked for. If several widgets show the paintable, the
/// largest one counts.
private struct Demand {
  /// The size in pixels; nil before the paintable is drawn for the first time.
  private(set) var size: PictureSize?
  /// The largest size since the newest picture was first drawn.
  private var current: PictureSize?
  /// The largest size while the picture before that was the newest.
  private var last: PictureSize?

  /// Notes that the paintable was drawn.
  ///
  /// - Parameters:
  ///   - asked: the size in pixels.
  ///   - isFirst: whether a picture is drawn for the first time.
  mutating func note(_ asked: PictureSize, isFirst: Bool) {
    if isFirst { (last, current) = (current, nil) }
    let new = Self.largest(asked, current)
    current = new
    size = Self.largest(new, last)
  }

  private static func largest(_ one: PictureSize, _ other: PictureSize?) -> PictureSize {
    guard let other else { return one }
    return PictureSize(width: max(one.width, other.width), height: max(one.height, other.height))
  }
}

/// A weak reference to a GObject.
///
/// `@unchecked Sendable`: a GWeakRef may be used from every thread.
final class WeakObject: @unchecked Sendable {
  private let reference = UnsafeMutablePointer<GWeakRef>.allocate(capacity: 1)

  init() {
    reference.initialize(to: GWeakRef())
    g_weak_ref_init(reference, nil)
  }

  deinit {
    g_weak_ref_clear(reference)
    reference.deallocate()
  }

  func set(_ object: UnsafeMutableRawPointer) { g_weak_ref_set(reference, object) }

  /// A new reference to the object; nil when it is gone.
  func strongReference() -> UnsafeMutableRawPointer? { g_weak_ref_get(reference) }
}
