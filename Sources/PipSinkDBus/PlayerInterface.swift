import PipSink

/// `org.mpris.MediaPlayer2.Player`: what media keys and `playerctl` control.
///
/// Its position and its seeks refer to the stream that is, or would be, in picture-in-picture. A live stream has no
/// position and cannot be sought in.
final class PlayerInterface: BusInterface {
  nonisolated static let name = "org.mpris.MediaPlayer2.Player"
  nonisolated static let path = "/org/mpris/MediaPlayer2"
  nonisolated var name: String { Self.name }
  nonisolated var path: String { Self.path }
  nonisolated let members = """
    <method name="Next"/>
    <method name="Previous"/>
    <method name="Pause"/>
    <method name="PlayPause"/>
    <method name="Stop"/>
    <method name="Play"/>
    <method name="Seek"><arg name="Offset" type="x" direction="in"/></method>
    <method name="SetPosition">
      <arg name="TrackId" type="o" direction="in"/>
      <arg name="Position" type="x" direction="in"/>
    </method>
    <method name="OpenUri"><arg name="Uri" type="s" direction="in"/></method>
    <property name="PlaybackStatus" type="s" access="read"/>
    <property name="Rate" type="d" access="read"/>
    <property name="Position" type="x" access="read"/>
    <property name="MinimumRate" type="d" access="read"/>
    <property name="MaximumRate" type="d" access="read"/>
    <property name="Volume" type="d" access="readwrite"/>
    <property name="Metadata" type="a{sv}" access="read"/>
    <property name="CanGoNext" type="b" access="read"/>
    <property name="CanGoPrevious" type="b" access="read"/>
    <property name="CanPlay" type="b" access="read"/>
    <property name="CanPause" type="b" access="read"/>
    <property name="CanSeek" type="b" access="read"/>
    <property name="CanControl" type="b" access="read"/>
    <signal name="Seeked"><arg name="Position" type="x"/></signal>
    """

  /// Whether playback was stopped rather than paused.
  private var isStopped = false

  func properties(of session: PictureInPictureSession) -> [String: BusValue] {
    let hasStreams = !session.streams.isEmpty
    if !session.isPaused { isStopped = false }
    let status = !hasStreams || isStopped ? "Stopped" : session.isPaused ? "Paused" : "Playing"
    return [
      "PlaybackStatus": .string(status), "Rate": .double(1), "MinimumRate": .double(1), "MaximumRate": .double(1),
      "Volume": .double(session.volume),
      "Metadata": .variants(metadata(of: session)),
      "CanGoNext": .bool(neighbour(in: session, forward: true) != nil),
      "CanGoPrevious": .bool(neighbour(in: session, forward: false) != nil),
      "CanPlay": .bool(hasStreams), "CanPause": .bool(hasStreams), "CanSeek": .bool(duration(of: session) != nil),
      "CanControl": .bool(true),
    ]
  }

  func perform(
    _ method: String, _ arguments: [String], on session: PictureInPictureSession
  ) throws(PipSinkError) -> [BusValue] {
    // CanPlay and CanPause say the same.
    let hasStreams = !session.streams.isEmpty
    switch method {
    case "Next": try show(neighbour(in: session, forward: true), in: session)
    case "Previous": try show(neighbour(in: session, forward: false), in: session)
    case "Play" where hasStreams: session.isPaused = false
    case "Pause" where hasStreams: session.isPaused = true
    case "PlayPause" where hasStreams: session.isPaused.toggle()
    case "Stop" where hasStreams:
      isStopped = true
      session.isPaused = true
      session.controller.stop()
    case "OpenUri":
      throw .system(
        .invalidArgument("Uri", reason: "a stream needs an ID; call StartPlayingStream of org.pipsink.Session1"))
    case "Seek": seek(by: number(arguments), in: session)
    case "SetPosition" where arguments.first == trackID(of: session): seek(to: number(arguments), in: session)
    default: break
    }
    return []
  }

  // MARK: - Position

  func properties(askedOf session: PictureInPictureSession) async -> [String: BusValue] {
    let position = await session.timeline(of: session.controller.currentStreamID)?.position
    return ["Position": .signed(position.map(Self.microseconds) ?? 0)]
  }

  /// A time in whole microseconds, as the interface has it.
  nonisolated static func microseconds(_ time: MediaTime) -> Int64 { Int64((time.clockTime ?? 0) / 1000) }

  /// The last argument as a number.
  private func number(_ arguments: [String]) -> Int64 { arguments.last.flatMap { Int64($0) } ?? 0 }

  /// The duration of the stream; nil where it cannot be sought in.
  private func duration(of session: PictureInPictureSession) -> MediaTime? {
    session.duration(of: session.controller.currentStreamID)
  }

  /// Seeks by an offset in microseconds. A target after the end leads to the next stream, as the specification
  /// requires. Nothing happens where CanSeek is false.
  private func seek(by offset: Int64, in session: PictureInPictureSession) {
    guard let duration = duration(of: session) else { return }
    let id = session.controller.currentStreamID
    Task {
      guard let position = await session.timeline(of: id)?.position else { return }
      let target = position + MediaTime(value: offset, timescale: 1_000_000)
      if target > duration, let next = neighbour(in: session, forward: true) {
        session.attempt { () throws(PipSinkError) in try session.controller.setSource(streamID: next) }
      } else {
        session.skip(id, to: target)
      }
    }
  }

  /// Seeks to a position in microseconds. A position outside of the stream is ignored, as the specification requires.
  private func seek(to position: Int64, in session: PictureInPictureSession) {
    guard let duration = duration(of: session), position >= 0, position <= Self.microseconds(duration) else { return }
    session.skip(session.controller.currentStreamID, to: MediaTime(value: position, timescale: 1_000_000))
  }

  func setProperty(_ name: String, to value: Double, of session: PictureInPictureSession) {
    if name == "Volume" { session.volume = value }
  }

  /// Shows a stream in picture-in-picture.
  private func show(_ id: StreamID?, in session: PictureInPictureSession) throws(PipSinkError) {
    if let id { try session.controller.setSource(streamID: id) }
  }

  /// The stream after or before the one in picture-in-picture.
  private func neighbour(in session: PictureInPictureSession, forward: Bool) -> StreamID? {
    session.pictureInPictureStreamID.flatMap { _ in session.controller.neighbour(forward: forward) }
  }

  private func metadata(of session: PictureInPictureSession) -> [String: BusValue] {
    let id = session.controller.currentStreamID
    guard session.info(of: id) != nil else {
      return ["mpris:trackid": .objectPath("/org/mpris/MediaPlayer2/TrackList/NoTrack")]
    }
    var values: [String: BusValue] = ["mpris:trackid": .objectPath(trackID(of: session)), "xesam:title": .stream(id)]
    if let duration = duration(of: session) { values["mpris:length"] = .signed(Self.microseconds(duration)) }
    return values
  }

  /// An object path for the stream. A path may only contain letters, digits and underscores, so the ID's bytes are
  /// written in hexadecimal.
  private func trackID(of session: PictureInPictureSession) -> String {
    let id = session.controller.currentStreamID
    let digits = id.rawValue.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return "/org/pipsink/stream/\(digits)"
  }
}
