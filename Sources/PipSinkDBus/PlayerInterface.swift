import PipSink

/// `org.mpris.MediaPlayer2.Player`: what media keys and `playerctl` do.
///
/// What plays is live: it has no position and cannot be sought, and playing goes on where the stream is by then.
final class PlayerInterface: BusInterface {
  nonisolated let name = "org.mpris.MediaPlayer2.Player"
  nonisolated let path = "/org/mpris/MediaPlayer2"
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
    """

  /// Whether it was stopped and not only paused.
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
      "CanPlay": .bool(hasStreams), "CanPause": .bool(hasStreams), "CanSeek": .bool(false), "CanControl": .bool(true),
    ]
  }

  func perform(
    _ method: String, _ arguments: [String], on session: PictureInPictureSession
  ) throws(PipSinkError) -> [BusValue] {
    // As CanPlay and CanPause say.
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
        .invalidArgument("Uri", reason: "streams have IDs; call StartPlayingStream of org.pipsink.Session1"))
    // Seek and SetPosition have no effect where CanSeek is false.
    default: break
    }
    return []
  }

  func setProperty(_ name: String, to value: Double, of session: PictureInPictureSession) {
    if name == "Volume" { session.volume = value }
  }

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
    // A path has letters, digits and underscores only.
    let digits = id.rawValue.utf8.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    return ["mpris:trackid": .objectPath("/org/pipsink/stream/\(digits)"), "xesam:title": .stream(id)]
  }
}
