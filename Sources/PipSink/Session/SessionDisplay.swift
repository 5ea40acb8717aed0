/// Where a session shows its streams: in windows, in memory, nowhere, or in the app's widgets.
///
/// A display knows nothing of engines, routing or controllers. The session gives it one layer for each stream, says
/// which placeholder stands for a stream while there is no picture to show, and takes the picture-in-picture window
/// from it. Every method is called on the main actor.
@MainActor
public protocol SessionDisplay: AnyObject {
  /// One word for reports. PipSink's displays use "x11", "wayland", "offscreen", "none" and "app".
  var kind: String { get }

  /// Whether streams are shown in the app at all; true by default. Where they are not, the session makes no layers, and
  /// frames that would be shown there are only counted.
  var showsStreams: Bool { get }

  /// The session's picture-in-picture window. It is the same one at every call.
  var pictureInPictureHost: any PictureInPictureHost { get }

  /// What the display calls when something happens. The session sets it, and the display must not keep the session
  /// alive.
  var eventHandler: (@MainActor (SessionDisplayEvent) -> Void)? { get set }

  /// Makes another picture-in-picture window, for a stream that has one for itself.
  ///
  /// - Throws: ``PipSinkError/PictureInPicture/unsupported(reason:)`` where there can be one window only, as by
  ///   default.
  func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost

  /// Makes a place for a stream in the app and shows `layer` there.
  ///
  /// - Throws: ``PipSinkError`` where that is not possible. Nothing has changed then.
  func add(_ layer: SampleBufferDisplayLayer, for streamID: StreamID) throws(PipSinkError)

  /// Removes the place of a stream, if it has one.
  func removeStream(_ streamID: StreamID)

  /// Shows a placeholder instead of a stream's picture; nil shows the picture.
  func setPlaceholder(_ placeholder: StreamPlaceholder?, for streamID: StreamID)

  /// Shows what is known of the person in a stream, with the picture and in place of it: the name, and marks. A stream
  /// that is added has its ID as its name. By default it does nothing.
  func setParticipant(_ participant: Participant, for streamID: StreamID)

  /// Shows the app's window. It is called when the session starts, and does nothing by default.
  func show()

  /// Closes the app's window where the display owns it; ``show()`` shows it again. By default it does nothing.
  func hide()

  /// Whether the app has a window that ``present()`` can bring to the front; false by default.
  var canPresent: Bool { get }

  /// Brings the app's window to the front, from where it was minimised, covered, or on another workspace. By default it
  /// does nothing.
  ///
  /// It returns when the display server has been asked to do so. The picture-in-picture window closes after that, because
  /// a compositor shows a window only as the result of a user action in another one, and sway 1.7 shows it when the other
  /// one goes.
  func present() async

  /// Begins or ends reporting ``SessionDisplayEvent/background(_:)``. By default it does nothing.
  func watchBackground(_ isWatched: Bool)

  /// Does something that only some displays can do. By default it does nothing.
  func perform(_ action: SessionDisplayAction)

  /// How many frames have been converted in order to be shown; nil, as by default, where that is not counted.
  var convertedFrameCount: UInt64? { get }

  /// Copies of what is shown now, with the names for a snapshot's files; none by default. A place that shows no picture
  /// is left out.
  ///
  /// - Parameter pictureInPictureStreamID: the stream in the picture-in-picture window; nil while the window is closed.
  func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)]
}

/// What a display reports to its session.
public enum SessionDisplayEvent: Equatable, Sendable {
  /// The app is hidden from the user, or is visible again.
  case background(Bool)
  /// A key was pressed in one of the windows.
  case key(Character)
  /// The user wants to move a stream to picture-in-picture, or back from there.
  case pictureInPictureToggled(StreamID)
  /// The user wants to use the controls of the picture-in-picture window with the keyboard.
  case pictureInPictureFocused
  /// The user closed the app's window.
  case closeRequested
  /// The app's window has disappeared, with or without the display server. ``SessionDisplay/show()`` shows it again
  /// where that is possible.
  case windowLost(PipSinkError)
}

/// Something that only displays with windows can do.
public enum SessionDisplayAction: Equatable, Sendable {
  /// Makes the app's window fill the screen, or restores its size.
  case toggleFullscreen
  /// Shows a text over the app's window, or hides it.
  case toggleHelp(String)
}

extension SessionDisplay {
  /// Streams are shown.
  public var showsStreams: Bool { true }
  /// The display has no window of the app's.
  public var canPresent: Bool { false }
  /// Frames are not counted.
  public var convertedFrameCount: UInt64? { nil }

  /// Throws, since there is one window only.
  public func makePictureInPictureHost() throws(PipSinkError) -> any PictureInPictureHost {
    throw .pictureInPicture(.unsupported(reason: "this display has only one picture-in-picture window"))
  }

  /// Does nothing.
  public func setParticipant(_ participant: Participant, for streamID: StreamID) {}
  /// Does nothing.
  public func show() {}
  /// Does nothing.
  public func hide() {}
  /// Does nothing.
  public func present() {}
  /// Does nothing.
  public func watchBackground(_ isWatched: Bool) {}
  /// Does nothing.
  public func perform(_ action: SessionDisplayAction) {}
  /// Returns no images.
  public func images(pictureInPictureStreamID: StreamID?) -> [(name: String, image: BGRAImage)] { [] }
}
