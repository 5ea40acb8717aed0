import PipSink

/// The pictures of a tile: the one that was drawn last, and memory for the next ones. Only one thread uses it at a
/// time.
struct WaylandPictures: ~Copyable {
  /// The largest number of images: one is shown, one is next, one is drawn, and one is about to be released.
  private static let most = 4

  private var images: [WaylandImage] = []
  /// The rectangle of the last picture on each image, or nil where something has been drawn over it.
  private var targets: [ObjectIdentifier: PictureRect] = [:]
  /// The image that was drawn last.
  private var newest: WaylandImage?
  /// What the newest image shows.
  private var contents = TileContents.black
  /// The pixels of the newest image that the decoration covers.
  private var underlay = PictureUnderlay()
  private var canvas = FrameCanvas()
  private(set) var convertedCount: UInt64 = 0

  /// Whether no more images may be created.
  var isFull: Bool { images.count >= Self.most }

  /// Releases all images.
  mutating func forget() {
    (images, targets) = ([], [:])
    canvas = FrameCanvas()
    forgetPicture()
  }

  /// Forgets the newest picture, and keeps the memory.
  mutating func forgetPicture() {
    (newest, contents) = (nil, .black)
    underlay.forget()
  }

  /// Releases the memory while a text replaces the picture, which may be for long. The compositor keeps the text.
  mutating func releaseHiddenPicture() {
    let contents = contents.released
    forget()
    self.contents = contents
  }

  /// Returns an image of a size that can be drawn on, or nil when there is none and no more can be created.
  ///
  /// - Parameters:
  ///   - size: the size, in pixels. Images of other sizes are released.
  ///   - next: the image that the compositor gets next, which must not be drawn on.
  ///   - make: creates another image. It is called only if more images may be created.
  mutating func free(
    _ size: PictureSize, next: WaylandImage?, make: () -> WaylandImage?
  ) -> WaylandImage? {
    if images.contains(where: { $0.size != size }) {
      images.removeAll { $0.size != size }
      targets = [:]
    }
    let newest = newest
    if let free = images.first(where: { !$0.isBusy && $0 !== next && $0 !== newest }) { return free }
    guard !isFull, let image = make() else { return nil }
    images.append(image)
    return image
  }

  /// Whether the newest picture can be shown with another decoration, as in ``TileContents``.
  func canRedraw(_ size: PictureSize, isHidden: Bool) -> Bool {
    contents.canRedraw(hasSize: newest?.size == size, isHidden: isHidden)
  }

  /// Draws the newest picture, or black where there is none, with the current decoration.
  mutating func redraw(on image: WaylandImage, _ decoration: (any PictureDecoration)?, in area: PictureRect) {
    if let newest, newest.size == image.size {
      image.pixels.update(from: newest.pixels, count: image.byteCount)
      underlay.restore(on: image.pixels, stride: image.stride)
    } else {
      FrameCanvas.clear(image.pixels, stride: image.stride, size: image.size)
      underlay.forget()
    }
    targets[ObjectIdentifier(image)] = nil
    if let decoration { underlay.draw(decoration, on: image.pixels, stride: image.stride, in: area) }
    newest = image
  }

  /// Draws a frame with the current decoration.
  mutating func draw(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, on image: WaylandImage, _ decoration: (any PictureDecoration)?,
    in area: PictureRect
  ) throws(RenderingError) {
    let key = ObjectIdentifier(image)
    do throws(PipSinkError) {
      targets[key] = try canvas.draw(
        sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size, keeping: targets[key])
    } catch {
      throw RenderingError(error)
    }
    convertedCount += 1
    underlay.forget()
    if let decoration, decoration.isShown(in: area) {
      targets[key] = nil
      underlay.draw(decoration, on: image.pixels, stride: image.stride, in: area)
    }
    (newest, contents) = (image, .picture)
  }

  /// Returns a copy of the newest picture without its decoration, or nil when there is none.
  func copy() -> BGRAImage? {
    guard contents == .picture, let newest else { return nil }
    // The image's rows have no padding.
    var bytes = [UInt8](UnsafeBufferPointer(start: newest.pixels, count: newest.byteCount))
    underlay.restore(inCopy: &bytes, width: newest.size.width)
    return BGRAImage(size: newest.size, opaque: bytes)
  }
}
