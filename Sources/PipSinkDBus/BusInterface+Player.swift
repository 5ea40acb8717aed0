import PipSink

extension BusInterface {
  /// `org.mpris.MediaPlayer2.Player`: what media keys and `playerctl` control.
  ///
  /// Its position and its seeks refer to the stream that is, or would be, in picture-in-picture. A live stream has no
  /// position and cannot be sought in. When all streams are over, playback has stopped. What starts it again begins at the
  /// start, of a stream that can be sought in.
  static func player() -> BusInterface {
    // Whether playback was stopped rather than paused.
    let isStopped = Locked(false)
    return BusInterface(
      name: "org.mpris.MediaPlayer2.Player", path: mediaPlayerPath,
      methods: [
        BusMethod("Next") { try $0.showNeighbour(forward: true) },
        BusMethod("Previous") { try $0.showNeighbour(forward: false) },
        BusMethod("Pause") { if !$0.isOver { $0.isPaused = true } },
        BusMethod("PlayPause") { session in
          if session.isOver || session.isPlaybackPaused {
            session.play(fromStart: isStopped.withLock { $0 })
          } else {
            session.isPaused = true
          }
        },
        BusMethod("Stop") { session in
          guard !session.isOver else { return }
          isStopped.withLock { $0 = true }
          session.isPaused = true
          session.controller.stop()
        },
        BusMethod("Play") { $0.play(fromStart: isStopped.withLock { $0 }) },
        BusMethod("Seek", .time("Offset")) { $0.seekInPlayer(by: $1) },
        BusMethod("SetPosition", .path("TrackId"), .time("Position")) { session, track, position in
          if track == session.trackID { session.seekInPlayer(to: position) }
        },
        BusMethod("OpenUri", .text("Uri")) { _, _ in
          throw PipSinkError.system(
            .invalidArgument("Uri", reason: "a stream needs an ID; call StartPlayingStream of org.pipsink.Session1"))
        },
      ],
      properties: [
        BusProperty("PlaybackStatus", "s") { session in
          if !session.isPaused { isStopped.withLock { $0 = false } }
          let isStopped = session.isOver || isStopped.withLock { $0 }
          return .string(isStopped ? "Stopped" : session.isPlaybackPaused ? "Paused" : "Playing")
        },
        BusProperty("Rate", "d") { _ in .double(1) },
        BusProperty("MinimumRate", "d") { _ in .double(1) },
        BusProperty("MaximumRate", "d") { _ in .double(1) },
        BusProperty(
          "Position", "x",
          asked: { session in
            let position = await session.timeline(of: session.controller.currentStreamID)?.position
            return .microseconds(position ?? .zero)
          }),
        BusProperty("Volume", "d", set: { if case .double(let volume) = $1 { $0.volume = volume } }) {
          .double($0.volume)
        },
        BusProperty("Metadata", "a{sv}") { .variants($0.metadata) },
        BusProperty("CanGoNext", "b") { .bool($0.neighbour(forward: true) != nil) },
        BusProperty("CanGoPrevious", "b") { .bool($0.neighbour(forward: false) != nil) },
        BusProperty("CanPlay", "b") { .bool($0.canPlay) },
        BusProperty("CanPause", "b") { .bool(!$0.isOver) },
        BusProperty("CanSeek", "b") { .bool($0.playerDuration != nil) },
        BusProperty("CanControl", "b") { _ in .bool(true) },
      ],
      signals: [.seeked])
  }
}

extension BusSignal {
  static let seeked = BusSignal(name: "Seeked", arguments: [("Position", "x")])
}

extension BusValue {
  /// A time in whole microseconds.
  static func microseconds(_ time: MediaTime) -> BusValue { .signed(Int64((time.clockTime ?? 0) / 1000)) }
}

extension PictureInPictureSession {
  /// Whether there are no streams, or all have ended or failed.
  fileprivate var isOver: Bool { streams.allSatisfy(\.state.isOver) }

  /// Whether the player's stream has ended and can play again.
  private var canPlayAgain: Bool { info(of: controller.currentStreamID)?.state == .ended && playerDuration != nil }

  fileprivate var canPlay: Bool { !isOver || canPlayAgain }

  /// Lets the streams go on. The player's stream begins at its start where it has ended.
  ///
  /// - Parameter fromStart: whether the stream also begins there where it has not ended.
  fileprivate func play(fromStart: Bool) {
    guard canPlay else { return }
    if canPlayAgain || fromStart && playerDuration != nil { skip(controller.currentStreamID, to: .zero) }
    isPaused = false
  }

  /// The stream after or before the one in picture-in-picture; nil outside of picture-in-picture.
  fileprivate func neighbour(forward: Bool) -> StreamID? {
    pictureInPictureStreamID.flatMap { _ in controller.neighbour(forward: forward) }
  }

  fileprivate func showNeighbour(forward: Bool) throws(PipSinkError) {
    if let id = neighbour(forward: forward) { try controller.setSource(streamID: id) }
  }

  /// The duration of the player's stream; nil where it cannot be sought in.
  fileprivate var playerDuration: MediaTime? { duration(of: controller.currentStreamID) }

  /// Seeks by an offset. A target after the end leads to the next stream, as the specification requires. Nothing
  /// happens where CanSeek is false.
  fileprivate func seekInPlayer(by offset: MediaTime) {
    guard let duration = playerDuration else { return }
    let id = controller.currentStreamID
    Task {
      guard let position = await timeline(of: id)?.position else { return }
      if position + offset > duration, let next = neighbour(forward: true) {
        attempt { () throws(PipSinkError) in try controller.setSource(streamID: next) }
      } else {
        skip(id, to: position + offset)
      }
    }
  }

  /// Seeks to a position. A position outside of the stream is ignored, as the specification requires.
  fileprivate func seekInPlayer(to position: MediaTime) {
    if let duration = playerDuration, position >= .zero, position <= duration {
      skip(controller.currentStreamID, to: position)
    }
  }

  fileprivate var metadata: [String: BusValue] {
    let id = controller.currentStreamID
    guard info(of: id) != nil else {
      return ["mpris:trackid": .objectPath("/org/mpris/MediaPlayer2/TrackList/NoTrack")]
    }
    var values: [String: BusValue] = [
      "mpris:trackid": .objectPath(trackID), "xesam:title": .string(participant(of: id).name),
    ]
    if let duration = playerDuration { values["mpris:length"] = .microseconds(duration) }
    return values
  }

  /// An object path for the player's stream. A path may only contain letters, digits and underscores, so the ID's bytes
  /// are written in hexadecimal.
  fileprivate var trackID: String {
    let bytes = controller.currentStreamID.rawValue.utf8
    let digits = bytes.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return "/org/pipsink/stream/\(digits)"
  }
}
