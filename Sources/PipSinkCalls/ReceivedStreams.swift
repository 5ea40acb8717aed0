import PipSink

/// The streams of a session that one peer sends, and their sounds. They follow what the peer says it sends, and the
/// tracks that have come.
@MainActor final class ReceivedStreams {
  /// A stream in the session.
  struct Stream {
    let input: StreamInput
    var track: IncomingTrack?
    var bitRate = BitRateMeter()
  }

  private let session: PictureInPictureSession
  /// The ID of the only stream, which is in the session from the start; nil where the peer names the streams.
  let onlyID: StreamID?
  /// Ends the connection with the only stream.
  var disconnect: (@MainActor () -> [Completion<Void>])?
  /// The tracks of the connection, in the order in which they came.
  private var tracks: [IncomingTrack] = []
  private(set) var streams: [StreamID: Stream] = [:]
  private(set) var sounds: [String: (streamID: StreamID, sound: StreamSound)] = [:]
  /// The tracks that the peer has described.
  var described: [SessionDescription.Track] = [] { didSet { update() } }
  /// Whether the peer has shown its certificate. Before that, nothing of it is shown.
  private(set) var isTrusted = false

  /// - Parameter input: the only stream; nil where the peer names the streams.
  init(in session: PictureInPictureSession, only input: StreamInput?) {
    self.session = session
    onlyID = input?.streamID
    guard let input else { return }
    streams[input.streamID] = Stream(input: input)
    endWithSession(input.streamID)
  }

  /// Has the connection end when the session stops, and when the app removes the only stream.
  private func endWithSession(_ id: StreamID) {
    session.setEndHandler(of: id) { [weak self] in
      guard let self, streams[id] != nil else { return [] }
      let ends = disconnect?() ?? []
      if session.info(of: id) == nil { streams[id] = nil }
      return ends
    }
  }

  // MARK: - The connection

  func add(_ track: IncomingTrack) {
    tracks.append(track)
    update()
  }

  /// Shows the streams: the peer has shown its certificate.
  func trust() {
    isTrusted = true
    update()
  }

  func note(_ level: AudioLevel, ofTrack name: String) {
    if let id = sounds[name]?.streamID { session.engine.noteLevel(level, of: id) }
  }

  /// Leaves all streams without tracks, and without sound, when a connection has ended.
  func forgetTracks() {
    (tracks, isTrusted) = ([], false)
    for sound in sounds.values { sound.sound.close() }
    sounds = [:]
    for id in streams.keys { detach(id) }
  }

  /// Says in the session what becomes of all streams.
  func set(_ state: StreamPlayState) {
    for id in streams.keys { session.setInput(id, to: state) }
  }

  /// Removes all streams from the session.
  ///
  /// - Parameter id: a stream that stays.
  func remove(except id: StreamID? = nil) {
    for other in streams.keys where other != id { remove(other) }
  }

  /// The bits per second of a stream since this was asked before; nil the first time.
  func bitRate(of id: StreamID, bytes: UInt64) -> Double? { streams[id]?.bitRate.rate(bytes: bytes, at: .now) ?? nil }

  // MARK: - Following the peer

  /// Makes the streams and sounds those that the peer says it sends, as far as their tracks have come.
  private func update() {
    guard isTrusted else { return }
    let sent = described.filter(\.isSent)
    let known = tracks.compactMap { track in
      sent.first { $0.mid == track.mid }.map { (id: $0.streamID, track: track) }
    }
    // A track that the peer sends from a new source comes again, so the last one counts.
    let videos = Dictionary(known.filter(\.track.isVideo).map { ($0.id, $0.track) }) { $1 }
    for (id, stream) in streams {
      if id != onlyID, !sent.contains(where: { $0.isVideo && $0.streamID == id }) {
        remove(id)
      } else if stream.track !== videos[id] {
        detach(id)
      }
    }
    if let onlyID, !sent.contains(where: \.isVideo), sent.contains(where: { $0.streamID == onlyID }) {
      session.noteInputHasNoVideo(onlyID)
    }
    for (id, track) in videos where streams[id]?.track == nil {
      guard let input = streams[id]?.input ?? (try? session.addInput(id)) else { continue }
      if id == onlyID { endWithSession(id) }
      streams[id] = Stream(input: input, track: track)
      let upstream = track.withFramePad { session.makeUpstream(before: $0, of: id) }
      session.setUpstream(upstream, of: id)
      track.deliver(to: input, upstream)
    }
    for (name, sound) in sounds where !known.contains(where: { $0.track.name == name && $0.id == sound.streamID }) {
      sounds.removeValue(forKey: name)?.sound.close()
    }
    for (id, track) in known where !track.isVideo && sounds[track.name] == nil {
      guard let volume = track.takeVolume() else { continue }
      sounds[track.name] = (id, StreamSound(of: id, owning: volume, in: session.engine.audioSession))
    }
  }

  /// Leaves a stream without a track for now.
  private func detach(_ id: StreamID) {
    streams[id]?.track?.deliver(to: nil)
    streams[id]?.track = nil
    session.setUpstream(nil, of: id)
  }

  private func remove(_ id: StreamID) {
    streams.removeValue(forKey: id)?.track?.deliver(to: nil)
    // The app may have removed it already.
    try? session.removeStream(id)
  }
}
