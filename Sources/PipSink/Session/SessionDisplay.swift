/// Where a session shows its streams: windows, memory, nowhere, or the app's own widgets.
///
/// A display knows nothing of engines, routing or controllers. The session gives it one layer for each stream, says what
/// stands in a stream's place while there is no picture to show there, and takes the picture-in-picture window from it.
/// All calls come on the main actor.
@MainActor
public protocol SessionDisplay: AnyObject {
  /// One word for reports: "x11", "wayland", "offscreen" or "none" of PipSink's own.
  var kind: String { get }

  /// Whether streams are shown in the app at all. Where they are not, the session makes no layers, and frames that would
  /// be shown there are only counted.
  var showsStreams: Bool { get }

  /// The picture-in-picture window, the same one at every call.
  var pictureInPictureHost: any PictureInPictureHost { get }

  /// Set by the session, which it must not keep alive.
  var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)? { get set }

  /// Makes another picture-in-picture window, for a stream that has one for itself.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/unsupported(reason:)`` where there is but one.
  func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost

  /// Makes a place for a stream in the app and shows `layer` there.
  ///
  /// - Throws: ``PipSinkError`` where that cannot be; then nothing has changed.
  func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError)

  /// Takes away the place of a stream, if it has one.
  func removeStream(_ streamID: StreamID)

  /// Shows `placeholder` in a stream's place instead of its picture; nil shows the picture.
  func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID)

  /// Says in a corner of a stream's place that the microphone behind it is off, or not any more.
  func setMicrophoneOff(_ isOff: Bool, for streamID: StreamID)

  /// Shows the app's window; called when the session starts.
  func show()

  /// Takes the app's window away, where there is one of the display's own, and by default does nothing. ``show()`` brings
  /// it back.
  func hide()

  /// Whether the app has a window that ``present()`` can bring back.
  var canPresent: Bool { get }

  /// Brings the app's window back from where it was minimised, covered, or on another workspace. Returns when the display
  /// server has been asked to do so: the picture-in-picture window goes after that, as a compositor shows a window only
  /// because of what the user did in another one (and sway 1.7 shows it when the other one goes).
  func present() async

  /// Has ``SessionDisplayEvent/background(_:)`` be told, or not any more.
  func watchBackground(_ isWatched: Bool)

  /// Does what only some displays can do; others do nothing.
  func perform(_ action: SessionDisplayAction)

  /// How many frames have been converted to be shown; nil where that is not counted.
  var convertedFrameCount: UInt64? { get }

  /// What is shown now, by the names that a snapshot's files get. A place that shows no picture is left out.
  ///
  /// - Parameter pictureInPictureStreamID: the stream in the picture-in-picture window; nil while that is closed.
  func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)]
}

/// What a display tells its session.
public enum SessionDisplayEvent: Equatable, Sendable {
  /// Nobody can see the app any more, or somebody can again.
  case background(Bool)
  /// A key was pressed in one of the windows.
  case key(Character)
  /// The user wants a stream in picture-in-picture, or back from there.
  case pictureInPictureToggled(StreamID)
  /// The user closed the app's window.
  case closeRequested
  /// The app's window has gone, with the display server or without it. The display shows it again when it is asked to and
  /// can.
  case windowLost(PipSinkError)
}

/// What only windows can do.
public enum SessionDisplayAction: Equatable, Sendable {
  case toggleFullscreen
  /// Shows a text over the app's window, or takes it away.
  case toggleHelp(String)
}

/// What stands in a stream's place in the app while its picture is not shown there.
public enum StreamPlaceholder: Hashable, Sendable {
  /// No frame has come yet.
  case waiting
  case cameraOff
  /// Its frames stay away, and are expected to come back.
  case reconnecting
  /// It is shown in picture-in-picture instead.
  case inPictureInPicture
  case ended
  /// It failed, and is not tried again; the reason is for the user.
  case failed(String)
}

extension SessionDisplay {
  public var showsStreams: Bool { true }
  public var canPresent: Bool { false }
  public var convertedFrameCount: UInt64? { nil }

  public func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost {
    throw .pictureInPicture(.unsupported(reason: "this display has one picture-in-picture window"))
  }

  public func setMicrophoneOff(_ isOff: Bool, for streamID: StreamID) {}
  public func show() {}
  public func hide() {}
  public func present() {}
  public func watchBackground(_ isWatched: Bool) {}
  public func perform(_ action: SessionDisplayAction) {}
  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] { [] }
}
