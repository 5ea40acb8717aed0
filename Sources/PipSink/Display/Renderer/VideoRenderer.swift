/// Shows frames somewhere: in memory, in a window, or in something of the app's.
///
/// A ``SampleBufferDisplayLayer`` calls it on its presenting thread, one call at a time. A call may take as long as
/// showing a frame takes: no stream waits for it, and frames that arrive meanwhile replace each other. A simple
/// renderer only needs ``render(_:gravity:)`` and ``removeImage()``.
///
/// A renderer is `Sendable`, since a layer uses it on its presenting thread and the app on others. It keeps the state
/// that it changes behind a lock, or leaves it to an actor and sends the values there.
public protocol VideoRenderer: AnyObject, Sendable {
  /// The kind of pixels that the renderer takes; any by default. A frame of that kind is passed on as it is.
  ///
  /// A frame of another kind is converted on the layer's presenting thread: to BGRA for `rgb`, to I420 for `yuv`, and
  /// to the first possible format of a list. Its times, its size, its orientation and the subtitles over it stay the
  /// same. All renderers of a stream that want the same format get the same converted frame. Its memory is used again
  /// when none of them has it any more; there are at most 16 such frames of one format. YUV that is made from RGB is
  /// that of BT.601, with luma from 16 to 235, and in `gray8` from 0 to 255.
  ///
  /// Frames are not converted to ten-bit formats. A renderer that takes nothing else gets no frame in another format;
  /// the layer's ``SampleBufferDisplayLayer/error`` then has the code `invalidPixelFormat`, and the log says so.
  var formatSeries: FrameFormatSeries { get }

  /// Shows a frame, rotated by its ``SampleBuffer/orientation`` and then fitted to the renderer's size by `gravity`.
  ///
  /// - Throws: ``RenderingError`` when the frame cannot be shown. The layer recovers as the error's code requires, and
  ///   goes on.
  func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) throws(RenderingError)

  /// Called before the first frame is rendered, and before each frame whose size differs from the one before. By
  /// default it does nothing.
  ///
  /// - Parameter size: the size of the frames in pixels, after rotation.
  func frameSizeDidChange(to size: PictureSize)

  /// Removes the picture and shows black.
  func removeImage()

  /// The renderer's size in pixels; nil while it has none, and by default.
  var renderSize: PictureSize? { get }

  /// Whether anybody can see the renderer; true by default. While it is false, the layer renders nothing and keeps the
  /// newest frame.
  var isVisible: Bool { get }

  /// Takes the handler that the renderer calls, on any thread, when its size or visibility has changed or its picture
  /// was lost. The layer renders the newest frame again then. The layer sets the handler when it is attached, and
  /// removes it with nil when it is detached. By default nothing calls it.
  func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?)

  /// Recreates the renderer's memory or window, after an error that says that it cannot be used as it is. By default it
  /// does nothing.
  func rebuild() throws(RenderingError)

  /// Determines the renderer's size again, after an error that says that the size is impossible. By default it does
  /// nothing.
  func updateSize() throws(RenderingError)
}

extension VideoRenderer {
  /// Every format.
  public var formatSeries: FrameFormatSeries { .any }
  /// Does nothing.
  public func frameSizeDidChange(to size: PictureSize) {}
  /// No size.
  public var renderSize: PictureSize? { nil }
  /// Always visible.
  public var isVisible: Bool { true }
  /// Ignores the handler.
  public func setNeedsDisplayHandler(_ handler: (@Sendable () -> Void)?) {}
  /// Does nothing.
  public func rebuild() throws(RenderingError) {}
  /// Does nothing.
  public func updateSize() throws(RenderingError) {}
}
