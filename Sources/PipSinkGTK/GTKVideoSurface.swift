import PipSink

/// The part of a ``GTKVideoView`` that a display layer's presenting thread uses: it draws frames at the view's size in
/// pixels, ready for GTK to paint.
///
/// Three pictures go round: one that GTK paints from, the newest that is ready, one that is drawn on; on Wayland a
/// fourth, which the compositor may still read. GTK's thread never waits for a conversion, nor the other way round.
///
/// A picture goes to the display server from the presenting thread, past GTK's frame clock and its second copy; GTK
/// paints it only when the window has to be painted anyway, or where something transparent lies over it.
final class GTKVideoSurface: VideoRenderer {
  private let state = Locked(State())
  private let canvas = Locked(FrameCanvas())
  /// Asks GTK's thread to paint; called on the presenting thread.
  private let requestPaint: @Sendable () -> Void

  private struct State {
    var size: PictureSize?
    var isVisible = false
    /// Not used by anybody: to draw the next frame on.
    var spare: [CairoPicture] = []
    /// The newest picture, until GTK takes it.
    var ready: CairoPicture?
    /// What GTK paints.
    var shown: CairoPicture?
    var mustClear = false
    /// Whether GTK's thread is to make the pictures anew, in memory that the display server reads.
    var mustRemake = false
    var isPaintRequested = false
    /// Where pictures go past GTK; nil has GTK paint them.
    var area: WindowArea?
    /// What GTK has painted may not have reached the server yet, and then would cover what goes there now.
    var isPainting = false
    var convertedCount: UInt64 = 0
    var needsDisplay: (@Sendable () -> Void)?

    /// The picture that the view has to show.
    var newest: CairoPicture? { mustClear ? nil : ready ?? shown }
  }

  private let presenter: (any WindowPresenter)?

  init(presenter: (any WindowPresenter)?, requestPaint: @escaping @Sendable () -> Void) {
    self.presenter = presenter
    self.requestPaint = requestPaint
  }

  // MARK: - On the presenting thread

  var renderSize: PictureSize? { state.withLock { $0.size } }
  var isVisible: Bool { state.withLock { $0.isVisible && $0.size != nil } }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    let work = state.withLock { state -> (isVisible: Bool, spare: CairoPicture?, byteCount: Int) in
      guard state.isVisible, let size = state.size else { return (false, nil, 0) }
      state.spare.removeAll { $0.size != size }
      // All but one are free when the server keeps no more than it shows; a slower one may see a picture change.
      let free = state.spare.lastIndex { presenter?.isFree($0) ?? true } ?? state.spare.indices.first
      return (true, free.map { state.spare.remove(at: $0) }, size.width * size.height * 4)
    }
    // Nobody sees it: nothing is converted. The layer is told when that changes.
    guard work.isVisible else { return }
    guard let picture = work.spare else {
      throw RenderingError(.frame(.outOfMemory(byteCount: work.byteCount)))
    }
    presenter?.reclaim(picture)
    do throws(PipSinkError) {
      try canvas.withLock { canvas throws(PipSinkError) in
        _ = try canvas.draw(
          sampleBuffer, gravity: gravity, on: picture.pixels, stride: picture.stride, size: picture.size)
      }
    } catch {
      state.withLock { $0.spare.append(picture) }
      throw RenderingError(error)
    }
    publish(picture)
  }

  private func publish(_ picture: CairoPicture) {
    let mustRequest = state.withLock { state in
      if let unused = state.ready { state.spare.append(unused) }
      state.ready = picture
      state.mustClear = false
      state.convertedCount += 1
      // With the lock, so that a place that the view has left gets no picture any more.
      if let presenter, let area = state.area, area.size == picture.size, presenter.put(picture, in: area),
        !(state.isPainting && presenter.isCoveredByPainting)
      {
        return false
      }
      defer { state.isPaintRequested = true }
      return !state.isPaintRequested
    }
    if mustRequest { requestPaint() }
  }

  func removeImage() {
    let mustRequest = state.withLock { state in
      if let unused = state.ready { state.spare.append(unused) }
      state.ready = nil
      state.mustClear = true
      defer { state.isPaintRequested = true }
      return !state.isPaintRequested
    }
    if mustRequest { requestPaint() }
  }

  /// Draws with new tools on new pictures: Cairo's own at once, and those that the display server reads as soon as GTK's
  /// thread has made them.
  func rebuild() throws(RenderingError) {
    canvas.withLock { $0 = FrameCanvas() }
    guard let size = renderSize else { return }
    let pictures = (0..<3).compactMap { _ in CairoPicture(size: size) }
    guard !pictures.isEmpty else {
      throw RenderingError(.frame(.outOfMemory(byteCount: size.width * size.height * 4)))
    }
    let mustRequest = state.withLock { state in
      state.mustRemake = true
      // The view may have got another size meanwhile, and pictures for that.
      if state.size == size { state.spare = pictures }
      defer { state.isPaintRequested = true }
      return !state.isPaintRequested
    }
    if mustRequest { requestPaint() }
  }

  /// Has GTK's thread look at the view's size, as it does whenever it paints. Another size has the layer try its frame again.
  func updateSize() { requestPaint() }

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    state.withLock { $0.needsDisplay = handler }
  }

  /// Frames that were converted so far.
  var convertedCount: UInt64 { state.withLock { $0.convertedCount } }

  // MARK: - On GTK's thread

  /// The view's size in pixels, and whether anybody can see it.
  ///
  /// - Parameters:
  ///   - window: the view's GdkWindow, which pictures are for.
  ///   - area: where pictures go past GTK; nil has GTK paint them.
  /// - Returns: whether GTK has to paint, so that what has changed is seen.
  @MainActor
  @discardableResult
  func update(
    size: PictureSize?, isVisible: Bool, window: OpaquePointer? = nil, area: WindowArea? = nil
  ) -> Bool {
    let isNew = state.withLock { state in
      defer { state.mustRemake = false }
      return state.size != size || state.mustRemake
    }
    var pictures: [CairoPicture] = []
    if isNew, let size, let window {
      pictures = (0..<3 + (presenter?.keptPictureCount ?? 0)).compactMap { _ in
        // In memory that the display server reads, where there is such.
        presenter?.makePicture(size, for: window) ?? CairoPicture(size: size)
      }
    }
    let placement = presenter?.place(area) ?? .unavailable
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      let needsDisplay = isVisible && size != nil && (size != state.size || !state.isVisible)
      if isNew { state.spare = pictures }
      state.size = size
      state.isVisible = isVisible
      state.area = placement == .unavailable ? nil : area
      return needsDisplay ? state.needsDisplay : nil
    }
    handler?()
    return placement == .placedAnew
  }

  /// The window that the view was in goes away, or the view does.
  @MainActor
  func leaveWindow() {
    state.withLock { state in
      state.area = nil
      presenter?.leaveWindow()
    }
  }

  /// The picture to paint; nil for none. It is GTK's until the next call.
  func pictureToPaint() -> CairoPicture? {
    state.withLock { state in
      state.isPaintRequested = false
      state.isPainting = true
      if state.mustClear {
        state.mustClear = false
        if let shown = state.shown { state.spare.append(shown) }
        state.shown = nil
      }
      if let ready = state.ready {
        if let shown = state.shown { state.spare.append(shown) }
        state.shown = ready
        state.ready = nil
      }
      return state.shown
    }
  }

  /// What GTK painted has reached the display server.
  @MainActor
  func didPaint() {
    state.withLock { state in
      state.isPainting = false
      // It has painted all there is to see, at the view's size.
      if state.area == nil || state.newest?.size != state.size { presenter?.withdraw() }
    }
  }

  /// A copy of the newest picture.
  func image() -> BGRAImage? {
    state.withLock { state in
      state.newest.map { picture in
        let rowByteCount = picture.size.width * 4
        return BGRAImage(
          size: picture.size,
          bytes: (0..<picture.size.height).flatMap { row in
            UnsafeBufferPointer(start: picture.pixels + row * picture.stride, count: rowByteCount)
          })
      }
    }
  }
}
