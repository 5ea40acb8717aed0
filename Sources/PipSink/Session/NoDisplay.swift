/// A display that shows nothing. Frames are only counted, even those of picture-in-picture.
public final class NoDisplay: SessionDisplay {
  /// "none".
  public let kind = "none"
  /// False: streams are not shown.
  public let showsStreams = false
  /// A window that shows nothing.
  public let pictureInPictureHost: any PictureInPictureHost = Host()
  /// The session's handler, which is never called.
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?

  /// Makes a display.
  public init() {}

  /// Makes another window that shows nothing.
  public func makePictureInPictureHost() -> any PictureInPictureHost { Host() }
  /// Does nothing.
  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) {}
  /// Does nothing.
  public func removeStream(_ streamID: StreamID) {}
  /// Does nothing.
  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {}

  /// A window that shows nothing.
  private final class Host: PictureInPictureHost {
    let renderer: any VideoRenderer = Renderer()
    let unsupportedReason: String? = nil
    var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?

    func open(_ presentation: PictureInPicturePresentation) {}
    func update(_ presentation: PictureInPicturePresentation) {}
    func close() {}
  }

  /// A renderer that drops its frames.
  private final class Renderer: VideoRenderer {
    func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) {}
    func removeImage() {}
  }
}
