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
  /// Called when something else has become known of the person in a stream, for what is shown with the picture.
  public var participantChanged: (@MainActor (StreamID, Participant) -> Void)?
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

  /// Calls ``participantChanged``.
  public func setParticipant(_ participant: Participant, for streamID: StreamID) {
    participantChanged?(streamID, participant)
  }

  /// Whether there is a ``presentHandler``.
  public var canPresent: Bool { presentHandler != nil }
  /// Calls ``presentHandler``.
  public func present() { presentHandler?() }
}
