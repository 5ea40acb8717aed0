import PipSink

/// `org.mpris.MediaPlayer2`: the app as a media player, as desktops know them.
final class MediaPlayerInterface: BusInterface {
  nonisolated let name = "org.mpris.MediaPlayer2"
  nonisolated let path = "/org/mpris/MediaPlayer2"
  nonisolated let members = """
    <method name="Raise"/>
    <method name="Quit"/>
    <property name="CanQuit" type="b" access="read"/>
    <property name="CanRaise" type="b" access="read"/>
    <property name="HasTrackList" type="b" access="read"/>
    <property name="Identity" type="s" access="read"/>
    <property name="SupportedUriSchemes" type="as" access="read"/>
    <property name="SupportedMimeTypes" type="as" access="read"/>
    """
  private let identity: String
  private let quit: (@MainActor () -> Void)?

  /// Makes the interface.
  ///
  /// - Parameters:
  ///   - identity: the app's name for its user.
  ///   - quit: ends the app; nil where only its user can do that.
  init(identity: String, quit: (@MainActor () -> Void)?) {
    self.identity = identity
    self.quit = quit
  }

  func properties(of session: PictureInPictureSession) -> [String: BusValue] {
    [
      "CanQuit": .bool(quit != nil), "CanRaise": .bool(session.display.canPresent), "HasTrackList": .bool(false),
      "Identity": .string(identity), "SupportedUriSchemes": .strings([]), "SupportedMimeTypes": .strings([]),
    ]
  }

  func perform(
    _ method: String, _ arguments: [String], on session: PictureInPictureSession
  ) throws(PipSinkError) -> [BusValue] {
    if method == "Quit" {
      quit?()
    } else if session.display.canPresent {
      Task { await session.display.present() }
    }
    return []
  }
}
