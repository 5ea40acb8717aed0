import PipSink

extension PictureInPictureSession {
  /// Shows a stream that a server sends by WHEP (WebRTC-HTTP Egress Protocol), with its sound. The call returns at once;
  /// the stream plays from its first picture on, is reconnected when the connection is lost, and fails when the server
  /// refuses it. The connection ends when the stream is removed from the session, and when the session stops.
  ///
  /// - Parameters:
  ///   - streamID: the stream's ID.
  ///   - url: the server's endpoint, as in ``WebRTCReceiver/Signalling/whep(_:token:)``.
  ///   - token: the token that the server asks for (RFC 6750); nil for none.
  ///   - configuration: how connections are made.
  /// - Returns: the stream's receiver, for its states and statistics. It lives as long as it runs.
  /// - Throws: ``PipSink/PipSinkError/Call/invalidURL(_:reason:)``, ``PipSink/PipSinkError/Stream/duplicate(_:)``, or the
  ///   errors of ``PipSink/SessionDisplay/add(_:for:)``. Nothing has changed then.
  @discardableResult
  public func startStream(
    _ streamID: StreamID, whep url: String, token: String? = nil,
    configuration: WebRTCReceiver.Configuration = .init()
  ) throws(PipSinkError) -> WebRTCReceiver {
    _ = try HTTPAddress(url)
    let receiver = WebRTCReceiver(
      self, configuration, .whep(url, token: token), input: try addInput(streamID))
    receiver.start()
    return receiver
  }
}
