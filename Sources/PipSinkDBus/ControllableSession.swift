import PipSink

/// A session that other processes may control: an app's streams and its picture-in-picture. ``SessionService`` exports
/// it, and calls it on the main actor.
@MainActor
public protocol ControllableSession: AnyObject {
  var controller: PictureInPictureController { get }
  /// Where the frames of the streams are counted.
  var router: FrameRouter { get }

  /// What every stream that there is does.
  var streamStates: [StreamID: StreamPlayState] { get }

  /// Why streams have failed, or are being started again: those whose ``StreamInfo/failure`` says so.
  var streamErrors: [StreamID: PipSinkError] { get }

  /// Whether all streams stand still.
  var isPaused: Bool { get set }

  /// Of all streams together, a linear amplitude from 0 to 1; others are taken for the nearest of those, as an
  /// ``AudioSession`` does.
  var volume: Double { get set }

  /// Plays a stream from a description with one appsink.
  ///
  /// - Throws: as ``VideoEngine/startPlayingStream(_:from:configuration:deliveringTo:)``.
  func startPlayingStream(_ streamID: StreamID, from description: PipelineDescription) throws(PipSinkError)

  /// Plays what is at a URI.
  ///
  /// - Throws: as above.
  func startPlayingStream(_ streamID: StreamID, uri: String) throws(PipSinkError)

  /// Forgets a stream. It must not wait for the stream's pipeline (``VideoEngine/stopPlayingStream(_:within:)``): all other
  /// calls wait for this one.
  ///
  /// - Throws: ``PipSinkError/unknownStream(_:known:)`` for a stream that was not started so.
  func stopPlayingStream(_ streamID: StreamID) throws(PipSinkError)

  /// Whether the app has a window that ``raise()`` shows.
  var canRaise: Bool { get }
  func raise()

  /// Ends the app. The answer to whoever asked for it is sent before ``SessionService/stop()`` returns.
  func quit()
}

extension ControllableSession {
  /// What the streams' states tell.
  public var streamErrors: [StreamID: PipSinkError] {
    streamStates.compactMapValues { state in
      switch state {
      case .reconnecting(_, _, let error), .failed(let error): error
      default: nil
      }
    }
  }

  var pictureInPictureStreamID: StreamID? { controller.pictureInPictureStreamID }
}
