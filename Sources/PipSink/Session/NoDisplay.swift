/// A display that shows nothing: frames are counted, also those of picture-in-picture.
public final class NoDisplay: SessionDisplay {
  public let kind = "none"
  public let showsStreams = false
  public let pictureInPictureHost: any PictureInPictureHost = Host()
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?

  public init() {}

  public func makePictureInPictureHost() -> any PictureInPictureHost { Host() }
  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) {}
  public func removeStream(_ streamID: StreamID) {}
  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {}

  private final class Host: PictureInPictureHost {
    let renderer: any VideoRenderer = Renderer()
    let unsupportedReason: String? = nil
    var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?

    func open(_ presentation: PictureInPicturePresentation) {}
    func update(_ presentation: PictureInPicturePresentation) {}
    func close() {}
  }

  private final class Renderer: VideoRenderer {
    func render(_ sampleBuffer: SampleBuffer, gravity: VideoGravity) {}
    func removeImage() {}
  }
}
