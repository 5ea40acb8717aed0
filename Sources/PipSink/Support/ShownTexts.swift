/// The texts that PipSink shows to the user in windows: in place of pictures, and as their titles. The default is
/// in the language of the process (`setlocale`, LC_MESSAGES) where PipSink is translated into that (German and Chinese),
/// and else in English. An app that has other words, or another language, replaces the table:
///
///     var texts = ShownTexts()
///     texts.cameraOff = "The camera sleeps"
///     ShownTexts.current = texts
///
/// What the app gives itself, such as the names of streams and the help over its window, is not in the table, and neither
/// are the names of controls, whose app may give another label (``PictureInPictureControl/label``). Reports, logs and
/// errors are in English.
public struct ShownTexts: Hashable, Sendable {
  /// What the user knows the app as: in the title of its window and for media players, where the app gives no other
  /// text there, and in mixers. With nil, a window has the application's name of GLib (`g_set_application_name`) or that
  /// of the program.
  public var applicationName: String?
  /// The title of picture-in-picture windows. Browsers use the default, too, so that the users' window rules and desktop
  /// extensions that match a browser's window match PipSink's. They do not match another title.
  public var pictureInPictureTitle = "Picture-in-Picture"
  /// Stands for a stream without a frame so far.
  public var waiting = translated("Waiting for video")
  /// Stands for a stream whose camera is off.
  public var cameraOff = translated("Camera is off")
  /// Stands for a stream that has sound and no picture.
  public var audioOnly = translated("Sound only")
  /// Stands for a stream whose frames are expected to return.
  public var reconnecting = translated("Reconnecting")
  /// Stands for a stream in the app while it is in picture-in-picture.
  public var inPictureInPicture = translated("In picture-in-picture")
  /// Stands for a stream that has ended.
  public var ended = translated("The stream has ended")
  /// Stands for a stream that has failed. `{reason}` becomes the reason, which is in English; without it the user sees
  /// no reason.
  public var failed = translated("The stream has failed\n{reason}")

  /// Makes the table in the language of the process.
  public init() {}

  private static let table = Locked<ShownTexts?>(nil)

  /// The texts of the process, which any thread may set at any time. They are used for whatever is shown from then on,
  /// so an app sets them before it makes a window.
  public static var current: ShownTexts {
    get { table.withLock { $0 } ?? ShownTexts() }
    set { table.withLock { $0 = newValue } }
  }
}
