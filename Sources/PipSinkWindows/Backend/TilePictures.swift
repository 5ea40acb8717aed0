import CLibYUV
import PipSink

/// A picture in memory that the display server reads, as rows of BGRx pixels without padding between the rows.
protocol TileImage: AnyObject {
  /// The picture's size, in pixels.
  var size: PictureSize { get }
  /// The first byte of the upper left pixel.
  var pixels: UnsafeMutablePointer<UInt8> { get }
  /// Whether the server may still read it.
  var isBusy: Bool { get }
  /// The rectangle of the last picture on it, or nil where something may have been drawn over that. ``TilePictures`` sets
  /// it.
  var target: PictureRect? { get set }
}

extension TileImage {
  /// The number of bytes from one row to the next.
  var stride: Int { size.width * 4 }
  var byteCount: Int { stride * size.height }
}

/// The pictures of a tile: the one that was drawn last, and memory for the next ones. Only one thread uses it at a
/// time.
struct TilePictures<Image: TileImage>: ~Copyable {
  /// What the tile shows.
  private enum Contents {
    /// Black, and a text at most.
    case black
    /// The newest image.
    case picture
    /// A frame that is shown without an image, at a size in pixels.
    case frame(SampleBuffer, VideoGravity, PictureSize)
    /// A text that replaces a picture. The picture's memory was released, and the display layer has the picture.
    case releasedPicture

    var isBlack: Bool { if case .black = self { true } else { false } }
    /// Whether the newest image has the picture.
    var isImage: Bool { if case .picture = self { true } else { false } }
  }

  /// The largest number of images.
  private let limit: Int
  private(set) var images: [Image] = []
  /// The image that was drawn last.
  private var newest: Image?
  private var contents = Contents.black
  /// The size at which the server shows the newest image, in pixels, if that is larger than the image.
  private(set) var enlargedSize: PictureSize?
  /// The pixels of the newest image that the decoration covers.
  private var underlay = PictureUnderlay()
  private var canvas = FrameCanvas()
  /// The number of frames that have been converted.
  private(set) var convertedCount: UInt64 = 0

  /// - Parameter limit: the largest number of images that may be allocated.
  init(limit: Int) { self.limit = limit }

  /// Releases all images.
  mutating func forget() {
    images = []
    canvas = FrameCanvas()
    forgetPicture()
  }

  /// Forgets the newest picture, and keeps the memory.
  mutating func forgetPicture() {
    // A decoration may stay on its image.
    newest?.target = nil
    (newest, contents, enlargedSize) = (nil, .black, nil)
    underlay.forget()
  }

  /// Releases the memory while a text replaces the picture, which may be for long. The server keeps the text.
  mutating func releaseHiddenPicture() {
    let isBlack = contents.isBlack
    forget()
    if !isBlack { contents = .releasedPicture }
  }

  /// Releases the frame that the server has read, whose memory its stream's elements wait for.
  mutating func releaseFrame() { if case .frame = contents { forget() } }

  /// Returns an image of a size that can be drawn on, or nil when the server reads all of them and there may be no more.
  /// It is the newest one where the server has read that, because a tile whose server is quick then needs only one.
  ///
  /// - Parameters:
  ///   - size: the size, in pixels. Images of other sizes are released.
  ///   - next: an image that the server gets next, which must not be drawn on.
  ///   - make: allocates another image.
  mutating func freeImage(
    of size: PictureSize, except next: Image? = nil, make: () throws(RenderingError) -> Image
  ) throws(RenderingError) -> Image? {
    if images.contains(where: { $0.size != size }) { images = [] }
    let newest = newest
    let isFree = { (image: Image) in image !== next && !image.isBusy }
    if let image = images.first(where: { $0 === newest && isFree($0) }) ?? images.first(where: isFree) { return image }
    guard images.count < limit else { return nil }
    let image = try make()
    images.append(image)
    return image
  }

  /// Whether the contents can be shown with another decoration. That is not possible at another size, where the next
  /// picture shows the decoration, or when the picture has been released and its display layer has been asked for it.
  /// What hides a picture completely can always be shown.
  ///
  /// - Parameters:
  ///   - size: the size at which the picture would be shown, in pixels.
  ///   - isHidden: whether the decoration covers the picture completely.
  func canRedraw(_ size: PictureSize, isHidden: Bool) -> Bool {
    switch contents {
    case .black: true
    case .picture: newest?.size == size || isHidden
    case .frame, .releasedPicture: isHidden
    }
  }

  /// Whether a picture that cannot be redrawn is shown, so that its layer has to render it with the decoration.
  var needsFrameToRedraw: Bool { if case .frame = contents { true } else { enlargedSize != nil } }

  /// Notes that a frame is shown without an image, and releases the memory for images.
  mutating func show(_ sampleBuffer: SampleBuffer, gravity: VideoGravity, at size: PictureSize) {
    forget()
    contents = .frame(sampleBuffer, gravity, size)
  }

  /// Draws the newest picture, or black where there is none, with the current decoration.
  ///
  /// - Parameters:
  ///   - image: an image from ``freeImage(of:except:make:)``, of the size of `area`.
  ///   - decoration: what is drawn over the picture.
  ///   - area: the picture's rectangle in the window, in pixels.
  mutating func redraw(on image: Image, _ decoration: any PictureDecoration, in area: PictureRect) {
    if contents.isImage, let newest, newest.size == image.size {
      if image !== newest {
        image.pixels.update(from: newest.pixels, count: image.byteCount)
        (image.target, newest.target) = (newest.target, nil)
      }
      underlay.restore(on: image.pixels, stride: image.stride)
    } else {
      FrameCanvas.clear(image.pixels, stride: image.stride, size: image.size)
      image.target = nil
      underlay.forget()
    }
    underlay.draw(decoration, on: image.pixels, stride: image.stride, in: area, isBlack: !contents.isImage)
    (newest, enlargedSize) = (image, nil)
  }

  /// Draws a frame with the current decoration.
  ///
  /// - Parameters:
  ///   - sampleBuffer: the frame.
  ///   - gravity: how the frame is fitted into the image.
  ///   - image: an image from ``freeImage(of:except:make:)``. Where it is smaller than `area`, the server enlarges it, and
  ///     no decoration is drawn.
  ///   - decoration: what is drawn over the picture.
  ///   - area: the picture's rectangle in the window, in pixels.
  /// - Throws: ``PipSink/RenderingError`` when the frame cannot be converted.
  mutating func draw(
    _ sampleBuffer: SampleBuffer, gravity: VideoGravity, on image: Image, _ decoration: any PictureDecoration,
    in area: PictureRect
  ) throws(RenderingError) {
    if image === newest { underlay.restore(on: image.pixels, stride: image.stride) }
    do throws(PipSinkError) {
      image.target = try canvas.draw(
        sampleBuffer, gravity: gravity, on: image.pixels, stride: image.stride, size: image.size, keeping: image.target)
    } catch {
      throw RenderingError(error)
    }
    convertedCount += 1
    // A decoration stays on the image that was the newest, so the next picture on that is drawn completely.
    if image !== newest, !underlay.isEmpty { newest?.target = nil }
    (newest, contents, enlargedSize) = (image, .picture, image.size == area.size ? nil : area.size)
    underlay.forget()
    if enlargedSize == nil { underlay.draw(decoration, on: image.pixels, stride: image.stride, in: area) }
  }

  /// Returns a copy of the newest picture without its decoration, at the size at which it is shown, or nil when there is
  /// none.
  func copy() -> BGRAImage? {
    if case .frame(let sampleBuffer, let gravity, let size) = contents {
      return Self.draw(sampleBuffer, gravity, at: size)
    }
    guard contents.isImage, let newest else { return nil }
    if let size = enlargedSize {
      let bytes = [UInt8](unsafeUninitializedCapacity: size.width * size.height * 4) { bytes, count in
        count = size.width * size.height * 4
        ARGBScale(
          newest.pixels, Int32(newest.stride), Int32(newest.size.width), Int32(newest.size.height), bytes.baseAddress,
          Int32(size.width * 4), Int32(size.width), Int32(size.height), kFilterBilinear)
      }
      return BGRAImage(size: size, opaque: bytes)
    }
    var bytes = [UInt8](UnsafeBufferPointer(start: newest.pixels, count: newest.byteCount))
    underlay.restore(inCopy: &bytes, width: newest.size.width)
    return BGRAImage(size: newest.size, opaque: bytes)
  }

  private static func draw(_ sampleBuffer: SampleBuffer, _ gravity: VideoGravity, at size: PictureSize) -> BGRAImage? {
    var canvas = FrameCanvas()
    var bytes = [UInt8](repeating: 0, count: size.width * size.height * 4)
    let target = bytes.withUnsafeMutableBufferPointer { bytes in
      bytes.baseAddress.flatMap {
        try? canvas.draw(sampleBuffer, gravity: gravity, on: $0, stride: size.width * 4, size: size)
      }
    }
    return target.map { _ in BGRAImage(size: size, opaque: bytes) }
  }
}
