/// A display for an app that shows its streams itself. The app attaches ``PictureInPictureSession/layer(of:)`` to its
/// renderers, or calls ``PictureInPictureSession/attach(_:toStream:gravity:formatSeries:)``.
public final class LayerDisplay: SessionDisplay {
  /// The word that was given to the initialiser, for reports.
  public let kind: String
  /// The session's picture-in-picture window.
  public let pictureInPictureHost: any PictureInPictureHost
  /// What the app calls to tell its session of its windows. The session sets it.
  public var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)?
  /// Called when the placeholder for a stream has changed; nil means that the stream's picture is to be shown.
  public var placeholderChanged: (@MainActor (StreamID, StreamPlaceholder?) -> Void)?
  /// Called when the microphone of a stream has gone off or on, for a mark beside its picture.
  public var microphoneChanged: (@MainActor (StreamID, _ isOff: Bool) -> Void)?
  /// Brings the app's window to the front.
  public var presentHandler: (@MainActor () -> Void)?

  /// Makes a display.
  ///
  /// - Parameters:
  ///   - pictureInPictureHost: the picture-in-picture window.
  ///   - kind: one word for reports.
  public init(pictureInPictureHost: any PictureInPictureHost, kind: String = "app") {
    self.pictureInPictureHost = pictureInPictureHost
    self.kind = kind
  }

  /// Does nothing: the app asks the session for the layer.
  public func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) {}
  /// Does nothing.
  public func removeStream(_ streamID: StreamID) {}

  /// Calls ``placeholderChanged``.
  public func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID) {
    placeholderChanged?(streamID, placeholder)
  }

  /// Calls ``microphoneChanged``.
  public func setMicrophoneOff(_ isOff: Bool, for streamID: StreamID) {
    microphoneChanged?(streamID, isOff)
  }

  /// Whether there is a ``presentHandler``.
  public var canPresent: Bool { presentHandler != nil }
  /// Calls ``presentHandler``.
  public func present() { presentHandler?() }
}
