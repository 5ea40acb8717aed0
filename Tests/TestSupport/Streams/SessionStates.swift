@testable import PipSink

extension PictureInPictureSession {
  /// The states of all streams, as far as the session has reacted to them.
  var playStates: [StreamID: StreamPlayState] { known.mapValues(\.state) }
}
