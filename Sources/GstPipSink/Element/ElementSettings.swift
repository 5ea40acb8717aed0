import CGStreamer
import PipSink
import PipSinkWindows

/// A window of an application, as the application gives it to the element.
struct WindowHandle: Hashable, Sendable {
  /// The ID of an X11 window, or the address of a wl_surface; 0 for no window.
  var number: UInt = 0
  /// The address of the wl_display that the surface belongs to; 0 when the application has given none.
  var waylandDisplay: UInt = 0

  /// Whether a stream can be shown in the window. The IDs of X11 windows have 29 bits, so that a larger number is a
  /// surface whose display is not known.
  var isUsable: Bool { number != 0 && (waylandDisplay != 0 || number <= UInt32.max) }
}

/// The values of an element's properties.
struct ElementSettings: Sendable {
  /// The stream ID; nil for the element's name.
  var streamID: StreamID?
  /// The stream's name for the user, as the application says; nil for the title or the ID.
  var givenName: String?
  /// The title in the stream's tags; nil where they have none.
  var title: String?
  var session = "default"
  var surface = ElementSurface.window
  /// Who draws frames in windows.
  var renderer = WindowRenderer.fromEnvironment
  var mode = ElementMode.normal
  /// The stream that the element shows in picture-in-picture; nil for its own stream.
  var pictureInPictureStreamID: StreamID?
  /// The stream in the second place of the picture-in-picture window; nil for none.
  var secondStreamID: StreamID?
  /// How the streams in the session's picture-in-picture window are arranged.
  var layout = PictureInPictureLayout.single
  /// The controls of the session's picture-in-picture window, as a list in words; nil for those of a player.
  var controls: String?
  /// The opacity of that window.
  var opacity = 1.0
  /// Whether the stream may be in picture-in-picture.
  var isAllowedInPictureInPicture = true
  /// What the application draws over that window's pictures; nil for nothing.
  var overlay: ElementOverlay?
  /// Whether that window lets presses through to what is below it.
  var isClickThrough = false
  /// Whether that window goes to another corner when the pointer comes.
  var stepsAside = false
  var gravity = VideoGravity.resizeAspect
  /// The property `force-aspect-ratio`, which players know: false stretches pictures, whatever the gravity. playbin
  /// sets it to true by itself, which leaves the gravity as it was chosen.
  var keepsShape = true
  var colorBalance = ColorBalance.neutral
  /// The most frames to show in a second; 0 for all.
  var rateLimit = 0.0
  /// The names of processors, with their arguments: "grayscale,rotate:90".
  var process: String?
  /// Whether the camera behind the stream is off, as the application says.
  var isCameraOff = false
  /// Whether the microphone of the stream is off, as the application says.
  var isMicrophoneOff = false
  /// How good the connection to whoever sends the stream is, as the application says.
  var connectionQuality = ConnectionQuality.unknown
  /// The text over the stream's picture; nil for none, and for that of a stream with a caption of its own.
  var caption: String?
  /// The path of the picture that stands for whoever is in the stream; nil for none.
  var imagePath: String?
  /// Whether the stream shows somebody's screen, as the application says.
  var isScreenShare = false
  var isAutomatic = false
  /// Whether the stream is decoded while nobody sees it.
  var decodesInBackground = true
  /// After how long without a frame the stream has stalled, in nanoseconds; 0 for never.
  var stallTimeout: UInt64 = 3_000_000_000
  /// Whether the session is on the session bus.
  var isOnBus = false
  /// Whether the screen stays on while a stream of the session can be seen.
  var inhibitsIdle = false
  var endAction = PictureInPictureEndAction.nextStream
  /// The aspect ratio of the picture-in-picture window, as a size; nil for that of the stream.
  var preferredContentSize: PictureSize?
  /// How often in a row opening the picture-in-picture window is tried again.
  var retries = RetryPolicy().limit
  var direction = GST_VIDEO_ORIENTATION_AUTO
  /// The application's window for the stream in the app.
  var window = WindowHandle()
  /// The part of that window in which the stream is shown, in pixels; nil for all of it.
  var renderRectangle: PictureRect?
  /// Whether pointer and key events of the windows are sent upstream.
  var handlesEvents = true

  /// The stream's name for the user; nil for that of the ID.
  var streamName: String? { givenName ?? title }

  /// How pictures are fitted to their surfaces.
  var fitting: VideoGravity { keepsShape ? gravity : .resize }

  /// Makes the processors that `process` names, and the limiter for `rateLimit`.
  ///
  /// - Throws: ``PipSinkError/Frame/unknownProcessor(_:known:)``,
  ///   ``PipSinkError/Frame/invalidProcessorArgument(processor:argument:expected:)``.
  func makeProcessors() throws(PipSinkError) -> [any FrameProcessor] {
    let limiter = FrameRateLimiter(maximumRate: rateLimit)
    let named = try FrameProcessorRegistry.shared.makeProcessors(process ?? "")
    return (limiter.map { [$0] } ?? []) + named
  }
}
