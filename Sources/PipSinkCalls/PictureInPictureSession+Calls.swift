import PipSink

extension PictureInPictureSession {
  /// Shows a stream that a server sends by WHEP (WebRTC-HTTP Egress Protocol), with its sound. The call returns at once;
  /// the stream plays from its first picture on, is reconnected when the connection is lost, and fails when the server
  /// refuses it. The connection ends when the stream is removed from the session, and when the session stops.
  ///
  /// - Parameters:
  ///   - streamID: the stream's ID.
  ///   - url: the server's endpoint, as in ``WebRTCConnection/Signalling/whep(_:token:)``.
  ///   - token: the token that the server asks for (RFC 6750); nil for none.
  ///   - configuration: how connections are made.
  /// - Returns: the stream's connection, for its states and statistics. It lives as long as it runs.
  /// - Throws: ``PipSink/PipSinkError/Call/invalidURL(_:reason:)``, ``PipSink/PipSinkError/Stream/duplicate(_:)``, or the
  ///   errors of ``PipSink/SessionDisplay/add(_:for:)``. Nothing has changed then.
  @discardableResult
  public func startStream(
    _ streamID: StreamID, whep url: String, token: String? = nil,
    configuration: WebRTCConnection.Configuration = .init()
  ) throws(PipSinkError) -> WebRTCConnection {
    _ = try HTTPAddress(url)
    let connection = WebRTCConnection(
      self, configuration, .whep(url, token: token), input: try addInput(streamID))
    connection.start()
    return connection
  }

  /// Sends a stream to a server by WHIP (WebRTC-HTTP Ingestion Protocol). The call returns at once; a lost connection is
  /// made anew. The sending ends when the stream is removed from the session, and when the session stops.
  ///
  /// - Parameters:
  ///   - streamID: the stream, of any kind.
  ///   - url: the server's endpoint, as in ``WebRTCConnection/Signalling/whip(_:token:)``.
  ///   - token: the token that the server asks for (RFC 6750); nil for none.
  ///   - configuration: how connections are made. Its ``WebRTCConnection/Configuration/sending`` says what is sent with
  ///     the stream; the stream's ID there does not count.
  /// - Returns: the connection, for its states and statistics. It lives as long as it runs.
  /// - Throws: ``PipSink/PipSinkError/Call/invalidURL(_:reason:)``, ``PipSink/PipSinkError/Stream/unknown(_:known:)``.
  @discardableResult
  public func publishStream(
    _ streamID: StreamID, whip url: String, token: String? = nil,
    configuration: WebRTCConnection.Configuration = .init()
  ) throws(PipSinkError) -> WebRTCConnection {
    _ = try HTTPAddress(url)
    guard info(of: streamID) != nil else {
      throw .stream(.unknown(streamID, known: streams.map(\.id).sorted()))
    }
    var configuration = configuration
    configuration.sending = configuration.sending ?? .init(streamID)
    configuration.sending?.streamID = streamID
    let connection = WebRTCConnection(into: self, configuration: configuration, signalling: .whip(url, token: token))
    connection.start()
    return connection
  }
}
