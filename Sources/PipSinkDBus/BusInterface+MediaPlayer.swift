import PipSink

extension BusInterface {
  /// `org.mpris.MediaPlayer2`: the app as a media player, as desktops know them.
  ///
  /// - Parameters:
  ///   - identity: the app's name for its user.
  ///   - quit: ends the app; nil where only its user can do that.
  static func mediaPlayer(identity: String, quit: (@MainActor () -> Void)?) -> BusInterface {
    BusInterface(
      name: "org.mpris.MediaPlayer2", path: mediaPlayerPath,
      methods: [
        BusMethod("Raise") { session in
          if session.display.canPresent { Task { await session.display.present() } }
        },
        BusMethod("Quit") { _ in quit?() },
      ],
      properties: [
        BusProperty("CanQuit", "b") { _ in .bool(quit != nil) },
        BusProperty("CanRaise", "b") { .bool($0.display.canPresent) },
        BusProperty("HasTrackList", "b") { _ in .bool(false) },
        BusProperty("Identity", "s") { _ in .string(identity) },
        BusProperty("SupportedUriSchemes", "as") { _ in .strings([]) },
        BusProperty("SupportedMimeTypes", "as") { _ in .strings([]) },
      ])
  }

  static let mediaPlayerPath = "/org/mpris/MediaPlayer2"
}
