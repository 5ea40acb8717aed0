import PipSink

/// A tile whose pictures are drawn into memory that the display server reads.
///
/// What such tiles have in common is here: drawing a frame, drawing another decoration over it, and releasing memory. A
/// tile itself knows its server: where it is, whether it is shown, and how an image gets there.
protocol ImageTile: WindowTile {
  associatedtype Image: TileImage

  /// Used by the presenting thread. The lock is needed because the decoration is redrawn from other threads.
  var pictures: Locked<TilePictures<Image>> { get }
  /// What is drawn over the pictures, in pixels of the window.
  var decoration: any PictureDecoration { get }

  /// Returns the rectangle that pictures fill in the window, in pixels, or nil while none can be shown.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server or the window has gone.
  func area() throws(RenderingError) -> PictureRect?

  /// Whether the server enlarges pictures with less work than this program.
  var serverEnlarges: Bool { get }

  /// Asks the layer to render its newest frame again.
  func askForFrame()

  /// Returns an image that can be drawn on, or nil when the server reads all of them. It is called with the pictures
  /// locked, and does not wait.
  ///
  /// - Throws: ``PipSink/RenderingError`` when the server has refused the last picture or has gone, or when there is no
  ///   memory.
  func freeImage(of size: PictureSize, in pictures: inout TilePictures<Image>) throws(RenderingError) -> Image?

  /// Sends an image to the server. It is called with the pictures locked, and does not wait.
  ///
  /// - Parameters:
  ///   - image: the image.
  ///   - size: the size at which it is shown, in pixels. It is that of the image unless ``serverEnlarges``.
  ///   - frame: the times of the frame that the image shows. It is nil when only the decoration is new, and for a frame
  ///     that no stream has delivered.
  func send(_ image: Image, at size: PictureSize, showing frame: ScreenTime.Frame?) throws(RenderingError)

  /// Whether a frame may be shown without an image: because the server can read its memory, or OpenGL may draw it.
  func mayShow(_ sampleBuffer: SampleBuffer) -> Bool

  /// Shows a frame and the decoration without an image, and notes that in the pictures. It is called without any lock, on
  /// the presenting thread.
  ///
  /// - Returns: what became of the frame.
  func show(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, in area: PictureRect) -> FrameOutcome

  /// Called, without any lock, when the server reads all images.
  ///
  /// - Returns: whether there may be a free image now. Otherwise the picture is left out.
  /// - Throws: ``PipSink/RenderingError`` when the server does not answer.
  func waitForFreeImage() throws(RenderingError) -> Bool

  /// Called when a picture could not be sent.
  ///
  /// - Parameters:
  ///   - error: the reason.
  ///   - isRedraw: whether only the decoration has changed. The error is not thrown then.
  func didFail(_ error: RenderingError, isRedraw: Bool)
}

extension ImageTile {
  package var convertedFrameCount: UInt64 { pictures.withLock { $0.convertedCount } }

  package func image() -> BGRAImage? { pictures.withLock { $0.copy() } }

  package func present(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError) -> FrameDrawer? {
    do throws(RenderingError) {
      guard let area = try area() else { return nil }
      if mayShow(sampleBuffer), sampleBuffer.isPlain {
        let revision = decoration.revision
        switch show(sampleBuffer, gravity: gravity, in: area) {
        case .shown(let drawer):
          // The decoration may be new since then.
          if decoration.revision != revision { redraw() }
          return drawer
        case .leftOut: return nil
        case .needsImage: break
        }
      }
      let size = imageSize(for: sampleBuffer, gravity, in: area)
      try whenImageIsFree { pictures throws(RenderingError) in
        guard let image = try freeImage(of: size, in: &pictures) else { return false }
        try pictures.draw(sampleBuffer, gravity: gravity, on: image, decoration, in: area)
        try send(image, at: area.size, showing: ScreenTime.Frame(sampleBuffer))
        return true
      }
      // It may be new since the size was chosen.
      if size != area.size, decoration.isShown(in: area) { redraw() }
      return .processor
    } catch {
      didFail(error, isRedraw: false)
      throw error
    }
  }

  /// The size of the image for a frame, in pixels. Texts are drawn at the area's size.
  private func imageSize(
    for sampleBuffer: SampleBuffer, _ gravity: VideoGravity, in area: PictureRect
  ) -> PictureSize {
    guard serverEnlarges, !decoration.isShown(in: area), !sampleBuffer.pixelBuffer.hasOverlays else {
      return area.size
    }
    return gravity.sizeWithoutEnlarging(sampleBuffer, in: area.size)
  }

  package func redraw() {
    do throws(RenderingError) {
      guard let area = try area() else { return }
      var isAskedFor = false
      try whenImageIsFree { pictures throws(RenderingError) in
        let isHidden = decoration.hides(area)
        guard pictures.canRedraw(area.size, isHidden: isHidden) else {
          isAskedFor = pictures.needsFrameToRedraw
          return true
        }
        guard let image = try freeImage(of: area.size, in: &pictures) else { return false }
        pictures.redraw(on: image, decoration, in: area)
        try send(image, at: area.size, showing: nil)
        if isHidden { pictures.releaseHiddenPicture() }
        return true
      }
      if isAskedFor { askForFrame() }
    } catch {
      didFail(error, isRedraw: true)
    }
  }

  /// Calls `body` with the pictures until it has found an image that the server does not read, which it says by true.
  private func whenImageIsFree(
    _ body: (inout TilePictures<Image>) throws(RenderingError) -> Bool
  ) throws(RenderingError) {
    while try !pictures.withLock(body) {
      guard try waitForFreeImage() else { return }
    }
  }

  package func removeImage() {
    guard (try? area()) != nil else { return pictures.withLock { $0.forget() } }
    pictures.withLock { $0.forgetPicture() }
    redraw()
  }

  package func rebuild() { pictures.withLock { $0.forget() } }
}
