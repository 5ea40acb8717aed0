import PipSink
import PipSinkDBus

/// What other processes can do with a run.
extension PlaySession: ControllableSession {
  func startDBus() throws(PipSinkError) {
    guard command.dbus else { return }
    let service = try SessionService(exporting: self)
    statusLine.say("On the session bus as \(service.busNames.joined(separator: " and ")).")
    dbus = service
  }

  var streamStates: [StreamID: StreamPlayState] {
    Dictionary(uniqueKeysWithValues: engine.streams.map { ($0.id, $0.state) })
  }

  var streamErrors: [StreamID: PipSinkError] {
    Dictionary(uniqueKeysWithValues: engine.streams.compactMap { info in info.failure.map { (info.id, $0) } })
  }

  var isPaused: Bool {
    get { engine.isPaused }
    set {
      engine.isPaused = newValue
      controller.isPaused = newValue
    }
  }

  var volume: Double {
    get { engine.audioSession.volume }
    set { engine.audioSession.volume = newValue }
  }

  func startPlayingStream(_ id: StreamID, from description: PipelineDescription) throws(PipSinkError) {
    try addStream(id) { engine, consumer throws(PipSinkError) in
      try engine.startPlayingStream(id, from: description, deliveringTo: consumer)
    }
  }

  func startPlayingStream(_ id: StreamID, uri: String) throws(PipSinkError) {
    try addStream(id) { engine, consumer throws(PipSinkError) in
      try engine.startPlayingStream(id, uri: uri, deliveringTo: consumer)
    }
  }

  func stopPlayingStream(_ id: StreamID) throws(PipSinkError) { try stopStream(id) }

  var canRaise: Bool { surfaces is WindowSurfaces }

  func raise() { (surfaces as? WindowSurfaces)?.present() }
}
