import PipSink

/// The part of a ``GTKVideoView`` that a display layer's presenting thread uses: it draws frames at the view's size in
/// pixels, ready for GTK to paint.
///
/// Three pictures go round: one that GTK paints from, the newest that is ready, one that is drawn on. GTK's thread
/// never waits for a conversion, nor the other way round.
///
/// On X11 a picture goes to the window from the presenting thread, past GTK's frame clock and its second copy; GTK
/// paints it only when the window has to be painted anyway.
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
    var isPaintRequested = false
    /// Where pictures go past GTK; nil has GTK paint them.
    var window: X11WindowArea?
    /// What GTK has painted may not have reached the server yet, and then would cover what goes there now.
    var isPainting = false
    var convertedCount: UInt64 = 0
    var needsDisplay: (@Sendable () -> Void)?
  }

  private let presenter: X11Presenter?

  init(presenter: X11Presenter?, requestPaint: @escaping @Sendable () -> Void) {
    self.presenter = presenter
    self.requestPaint = requestPaint
  }

  // MARK: - On the presenting thread

  var renderSize: PictureSize? { state.withLock { $0.size } }
  var isVisible: Bool { state.withLock { $0.isVisible && $0.size != nil } }

  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) {
    let work = state.withLock { state -> (isVisible: Bool, spare: CairoPicture?) in
      guard state.isVisible, let size = state.size else { return (false, nil) }
      state.spare.removeAll { $0.size != size }
      return (true, state.spare.popLast())
    }
    // Nobody sees it: nothing is converted. The layer is told when that changes.
    guard work.isVisible else { return }
    guard let picture = work.spare else {
      throw RenderingError(code: .invalidSize, reason: "there is no memory for the view's picture")
    }
    if let image = picture.sharedImage { presenter?.reclaim(image) }
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
      if let presenter, let window = state.window, let image = picture.sharedImage, image.size == state.size {
        presenter.put(image, into: window.windowID, at: window.origin, rectangles: window.rectangles)
        if !state.isPainting { return false }
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

  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {
    state.withLock { $0.needsDisplay = handler }
  }

  /// Frames that were converted so far.
  var convertedCount: UInt64 { state.withLock { $0.convertedCount } }

  // MARK: - On GTK's thread

  /// The view's size in pixels, and whether anybody can see it.
  ///
  /// - Parameters:
  ///   - window: where pictures of this size go past GTK.
  ///   - makePicture: makes a picture of that size; called three times when it is a new one.
  func update(
    size: PictureSize?, isVisible: Bool, window: X11WindowArea? = nil,
    makePicture: (PictureSize) -> CairoPicture? = { _ in nil }
  ) {
    let isNew = state.withLock { $0.size != size }
    let pictures = isNew ? (0..<3).compactMap { _ in size.flatMap(makePicture) } : []
    let handler = state.withLock { state -> (@Sendable () -> Void)? in
      let needsDisplay = isVisible && size != nil && (size != state.size || !state.isVisible)
      if isNew { state.spare = pictures }
      state.size = size
      state.isVisible = isVisible
      state.window = window
      return needsDisplay ? state.needsDisplay : nil
    }
    handler?()
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
  func didPaint() {
    state.withLock { $0.isPainting = false }
  }

  /// A copy of the newest picture.
  func image() -> BGRAImage? {
    state.withLock { state in
      (state.ready ?? (state.mustClear ? nil : state.shown)).map { picture in
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
