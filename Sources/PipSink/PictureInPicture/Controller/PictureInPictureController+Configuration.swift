/// What happens to a picture-in-picture window when its stream ends.
public enum PictureInPictureEndAction: String, CaseIterable, Sendable {
  /// The window shows the stream that the selector chooses next. When no stream is left, picture-in-picture stops with
  /// ``PictureInPictureStopReason/sourceEnded``.
  case nextStream = "next"
  /// The window stays and shows a placeholder, until another stream is chosen or the stream returns.
  case placeholder
  /// Picture-in-picture stops with ``PictureInPictureStopReason/sourceEnded``.
  case stop
}

extension PictureInPictureController {
  /// How a controller behaves.
  public struct Configuration: Sendable {
    /// A size whose shape the window has, whatever the stream's shape is. With nil the window has, and follows, the
    /// stream's shape.
    public var preferredContentSize: PictureSize?
    /// How the streams in the window are arranged. The user changes it with the window's control, which
    /// ``PictureInPictureEvent/layoutChanged(_:)`` tells. A window that shows one stream only does so in any case.
    public var layout = PictureInPictureLayout.single
    /// How a stream's frames are fitted to the window. A source that is a display layer has its own setting.
    public var videoGravity = VideoGravity.resizeAspect
    /// How often a window that cannot be created, or that dies, is tried again while the stream is shown in the app;
    /// nil for never. Where the desktop does not support such windows, there are no further attempts.
    public var retryPolicy: RetryPolicy? = RetryPolicy()
    /// What happens to the window when its stream ends, fails, or is removed from
    /// ``PictureInPictureController/streamSelector``.
    public var endAction = PictureInPictureEndAction.nextStream
    /// The window's controls, in order. One that does nothing now is left out, such as a microphone that nobody
    /// switches off (``PictureInPictureController/handledActions``). Fullscreen, layout and back to the app are at the
    /// upper right, and the others in the middle of the lower edge; in a narrow window some are missing. The user can
    /// always close the window.
    public var controls: [PictureInPictureControl] = .player
    /// The opacity of the window, from 0.1 to 1; values beyond these count as the nearest one. It has no effect on
    /// X11 without a compositing manager, and on Wayland compositors without wp_alpha_modifier.
    public var opacity = 1.0
    /// Whether presses and scrolling go to the windows below the window, except for a button at its upper left, which
    /// ends that. The user changes it there, and with ``PictureInPictureAction/clickThrough``. It has no effect on a
    /// window of an Xwayland, as on GNOME.
    public var isClickThrough = false
    /// Whether the window goes to the corner beside its own one when the pointer comes to it. It stays where it is when
    /// the pointer follows within two seconds, so that its controls can be used. It has no effect where the desktop
    /// chooses the window's place.
    public var stepsAside = false
    /// How far the skip buttons seek.
    public var skipInterval = Duration.seconds(15)
    /// How long the app has to stay in the background or the foreground before the controller reacts.
    package var backgroundDelay = Duration.milliseconds(50)
    /// How long to wait for the first picture. After that, `didStart` is reported without one.
    package var firstPictureTimeout = Duration.seconds(2)
    /// Whether the engine decodes only the window's streams while the window is open, even while the app is in the
    /// foreground.
    package var decodesOnlyPictureInPictureStream = false
    /// How long the app may take to restore its user interface.
    public var restoreTimeout = Duration.seconds(5)

    /// Makes the default configuration.
    public init() {}
  }
}
