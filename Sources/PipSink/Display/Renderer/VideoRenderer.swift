/// A surface that shows frames: memory, a window, or the app's own.
///
/// A ``SampleBufferDisplayLayer`` calls it on its presenting thread, one call at a time. It may take as long as showing
/// a picture takes: no stream waits for it, and frames that arrive meanwhile replace each other. Two methods are all
/// that a simple surface needs.
public protocol VideoRenderer: AnyObject, Sendable {
  /// Shows a frame, turned by its ``SampleBuffer/orientation`` and then fitted to the surface by `gravity`.
  ///
  /// - Throws: ``RenderingError`` when it cannot be shown. The layer recovers as the code says, and goes on.
  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError)

  /// The frames to come have another size than those that this surface was given before, or are the first: in pixels, after
  /// they have been turned. Comes before the first frame of that size is rendered.
  func frameSizeDidChange(to size: PictureSize)

  /// Takes the picture away and shows nothing (black).
  func removeImage()

  /// The surface's size in pixels; nil while it has none.
  var renderSize: PictureSize? { get }

  /// Whether anybody can see it. While it is not so, the layer renders nothing and keeps the newest frame.
  var isVisible: Bool { get }

  /// Whether ``removeImage()`` draws something instead of a picture. Then it is also called where the surface is to be drawn
  /// again and there is no picture.
  var drawsWithoutPicture: Bool { get }

  /// Takes what is to be called, on any thread, when the size or the visibility has changed, or when the picture was
  /// lost: the newest frame is then rendered again. The layer sets it when it is attached and takes it away when it is
  /// detached.
  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?)

  /// Makes the surface's memory or window anew, after an error that says that it cannot be used as it is.
  func rebuild() throws(RenderingError)

  /// Looks at the surface's size again, after an error that says that the size is impossible.
  func updateSize() throws(RenderingError)
}

extension VideoRenderer {
  public func frameSizeDidChange(to size: PictureSize) {}
  public var renderSize: PictureSize? { nil }
  public var isVisible: Bool { true }
  public var drawsWithoutPicture: Bool { false }
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {}
  public func rebuild() throws(RenderingError) {}
  public func updateSize() throws(RenderingError) {}
}
