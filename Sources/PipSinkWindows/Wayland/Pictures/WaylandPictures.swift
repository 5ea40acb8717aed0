import PipSink

/// The pictures of a tile: what was drawn last, and memory for what comes next. One thread uses it at a time.
struct WaylandPictures: ~Copyable {
  /// One is shown, one comes next, one is drawn, and one more is on its way back.
  private static let most = 4

  private var images: [WaylandImage] = []
  /// Where the last picture lies on each image; nil where something has been drawn over it.
  private var targets: [ObjectIdentifier: PictureRect] = [:]
  /// What was drawn last.
  private var newest: WaylandImage?
  /// Whether that is a picture, and not black.
  private var hasPicture = false
  /// What the decoration hides of it.
  private var underlay = PictureUnderlay()
  private var canvas = FrameCanvas()
  private(set) var convertedCount: UInt64 = 0

  /// Whether there is as much memory as there may be.
  var isFull: Bool { images.count >= Self.most }

  mutating func forget() {
    (images, targets) = ([], [:])
    forgetPicture()
  }

  mutating func forgetPicture() {
    (newest, hasPicture) = (nil, false)
    underlay.forget()
  }

  /// Memory of a size that nobody reads.
  ///
  /// - Parameters:
  ///   - next: what the compositor gets next.
  ///   - make: makes more; called while there may be more.
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

  /// Whether another decoration can be drawn over what there is: a picture of another size is shown with the next one.
  func canRedraw(_ size: PictureSize) -> Bool { !hasPicture || newest?.size == size }

  /// Draws the newest picture, or black where there is none, with what lies over it now.
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
    (newest, hasPicture) = (image, true)
  }

  /// The newest picture, without what lies over it; nil when there is none.
  func copy() -> BGRAImage? {
    guard hasPicture, let newest else { return nil }
    // Memory that the compositor reads has no padding.
    var bytes = [UInt8](UnsafeBufferPointer(start: newest.pixels, count: newest.byteCount))
    underlay.restore(inCopy: &bytes, width: newest.size.width)
    // The fourth byte counts for nothing.
    for index in stride(from: 3, to: bytes.count, by: 4) { bytes[index] = 255 }
    return BGRAImage(size: newest.size, bytes: bytes)
  }
}
