import PipSink

/// `org.mpris.MediaPlayer2`: the app as desktops know media players.
final class MediaPlayerInterface: BusInterface {
  nonisolated let name = "org.mpris.MediaPlayer2"
  nonisolated let path = "/org/mpris/MediaPlayer2"
  nonisolated let description = """
    <node>
      <interface name="org.mpris.MediaPlayer2">
        <method name="Raise"/>
        <method name="Quit"/>
        <property name="CanQuit" type="b" access="read"/>
        <property name="CanRaise" type="b" access="read"/>
        <property name="HasTrackList" type="b" access="read"/>
        <property name="Identity" type="s" access="read"/>
        <property name="SupportedUriSchemes" type="as" access="read"/>
        <property name="SupportedMimeTypes" type="as" access="read"/>
      </interface>
    </node>
    """
  private let identity: String

  init(identity: String) {
    self.identity = identity
  }

  func properties(of session: any ControllableSession) -> [String: BusValue] {
    [
      "CanQuit": .bool(true), "CanRaise": .bool(session.canRaise), "HasTrackList": .bool(false),
      "Identity": .string(identity), "SupportedUriSchemes": .strings([]), "SupportedMimeTypes": .strings([]),
    ]
  }

  func perform(
    _ method: String, _ arguments: [String], on session: any ControllableSession
  ) throws(PipSinkError) -> [BusValue] {
    if method == "Quit" { session.quit() } else if session.canRaise { session.raise() }
    return []
  }
}
