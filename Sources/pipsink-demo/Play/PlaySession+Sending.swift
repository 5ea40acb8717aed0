import PipSink
import PipSinkCalls
import PipSinkCommandLine

/// The streams that are sent to servers.
extension PlaySession {
  /// A stream that is sent.
  struct Publication {
    let streamID: StreamID
    let url: String
    var connection: WebRTCConnection?
    var hasBeenConnected = false
    /// What the report says of it.
    var sent: Report.Sent?
  }

  /// What the options say to send.
  ///
  /// - Parameter known: the IDs of all streams, in their order.
  static func publications(_ command: PlayCommand, of known: [StreamID]) throws -> [Publication] {
    try command.sending.publications.map { option in
      guard let id = option.streamID ?? command.localStreams.first ?? known.first else {
        throw CommandError(.usage, "there is no stream that --publish could send")
      }
      return Publication(streamID: id, url: option.url)
    }
  }

  /// Begins to send a stream that has been started.
  func publish(_ id: StreamID) {
    for index in publications.indices where publications[index].streamID == id {
      do throws(PipSinkError) {
        publications[index].connection = try connect(publications[index])
      } catch {
        noteNotSent(id, error)
        continue
      }
      guard let states = publications[index].connection?.states() else { continue }
      Task { [continuation] in
        for await state in states { continuation.yield { $0.follow(index, state) } }
      }
    }
  }

  private func connect(_ publication: Publication) throws(PipSinkError) -> WebRTCConnection {
    var configuration = connectionConfiguration
    configuration.sending = .init(publication.streamID)
    configuration.sending?.audioSource = command.sending.microphone
    return try session.publishStream(
      publication.streamID, whip: publication.url, token: tokens[publication.streamID], configuration: configuration)
  }

  private func noteNotSent(_ id: StreamID, _ error: PipSinkError) {
    hasFailed = true
    report(CommandError(error), about: "stream \"\(id)\" is not sent: ")
  }

  /// How all connections are made.
  var connectionConfiguration: WebRTCConnection.Configuration {
    var configuration = WebRTCConnection.Configuration()
    if let retries = command.retries { configuration.retryPolicy.limit = retries }
    return configuration
  }

  private func follow(_ index: Int, _ state: WebRTCConnection.State) {
    let id = publications[index].streamID
    switch state {
    case .connected:
      publications[index].hasBeenConnected = true
      statusLine.say("stream \"\(id)\" is being sent")
    case .reconnecting(let attempt, let error):
      statusLine.say("sending stream \"\(id)\": \(error); try \(attempt)")
    case .failed(let error): noteNotSent(id, error)
    case .connecting, .stopped: break
    }
  }

  /// Collects what the report says of the streams that are sent, while they are.
  func findSent() async {
    for (index, publication) in publications.enumerated() {
      guard let connection = publication.connection else { continue }
      let statistics = await connection.statistics(of: publication.streamID)
      publications[index].sent = Report.Sent(connection.state, statistics)
      guard case .reconnecting(_, let error) = connection.state, !publication.hasBeenConnected else { continue }
      hasFailed = true
      report(CommandError(error), about: "stream \"\(publication.streamID)\" was never sent: ")
    }
  }
}

extension Report.Sent {
  init(_ state: WebRTCConnection.State, _ statistics: WebRTCConnection.Statistics?) {
    switch state {
    case .stopped: self.state = "stopped"
    case .connecting: self.state = "connecting"
    case .connected: self.state = "connected"
    case .reconnecting: self.state = "reconnecting"
    case .failed: self.state = "failed"
    }
    packets = statistics?.packetsSent ?? 0
    bytes = statistics?.bytesSent ?? 0
    lost = statistics?.packetsLost ?? 0
    roundTripMs = statistics?.roundTripTime.map { $0 * 1000 }
  }
}
