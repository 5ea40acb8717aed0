/// A display for an app that shows its streams itself: it attaches ``PictureInPictureSession/layer(of:)`` to renderers
/// of its own, or uses ``PictureInPictureSession/attach(_:toStream:gravity:)``.
public final class LayerDisplay: SessionDisplay {
  public let kind: String
  public let pictureInPictureHost: any PictureInPictureHost
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
  /// Called when what is to stand in a stream's place has changed; nil is its picture.
  public var placeholderChanged: (@MainActor (StreamID, StreamPlaceholder?) -> Void)?
  /// Called when the microphone behind a stream has gone off or on, for a mark in the stream's place.
  public var microphoneChanged: (@MainActor (StreamID, _ isOff: Bool) -> Void)?
  /// Brings the app's window back.
  public var presentHandler: (@MainActor () -> Void)?

  /// - Parameters:
  ///   - pictureInPictureHost: the picture-in-picture window.
  ///   - kind: one word for reports.
  public init(pictureInPictureHost: any PictureInPictureHost, kind: String = "app") {
    self.pictureInPictureHost = pictureInPictureHost
    self.kind = kind
  }

  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) {}
  public func removeStream(_ streamID: StreamID) {}

  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    placeholderChanged?(streamID, placeholder)
  }

  public func setMicrophoneOff(_ isOff: Bool, for streamID: StreamID) {
    microphoneChanged?(streamID, isOff)
  }

  public var canPresent: Bool { presentHandler != nil }
  public func present() { presentHandler?() }
}
