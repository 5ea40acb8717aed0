import CGStreamer
import PipSink

/// A window of an application's, as that gives it to the element.
struct WindowHandle: Hashable, Sendable {
  /// An X11 window, or the address of a wl_surface; 0 for none.
  var number: UInt = 0
  /// The address of the wl_display whose surface it is; 0 where the application has given none.
  var waylandDisplay: UInt = 0

  /// Whether a stream can be shown there. X11's windows have 29 bits; a larger number is a surface whose display is not
  /// known.
  var isUsable: Bool { number != 0 && (waylandDisplay != 0 || number <= UInt32.max) }
}

/// What an element's properties are set to.
struct ElementSettings: Sendable {
  /// nil for the element's name.
  var streamID: StreamID?
  var session = "default"
  var surface = ElementSurface.window
  var mode = ElementMode.normal
  /// nil for the element's own stream.
  var pictureInPictureStreamID: StreamID?
  /// The stream in the other half of the picture-in-picture window; nil for none.
  var secondStreamID: StreamID?
  var gravity = VideoGravity.resizeAspect
  /// What players know instead: false stretches pictures, whatever the gravity. playbin sets it to true by itself, and a
  /// gravity that somebody has chosen stays then.
  var keepsShape = true
  var colorBalance = ColorBalance.neutral
  /// Frames a second; 0 for all.
  var rateLimit = 0.0
  /// Processors by name: "grayscale,rotate:90".
  var process: String?
  /// Whether the camera behind the stream is off, as the application says.
  var isCameraOff = false
  var isAutomatic = false
  /// Whether the session is on the session bus.
  var isOnBus = false
  var endAction = PictureInPictureEndAction.nextStream
  /// The picture-in-picture window's shape; nil for the stream's.
  var preferredContentSize: PictureSize?
  /// Of the picture-in-picture window.
  var retries = RetryPolicy().limit
  var direction = GST_VIDEO_ORIENTATION_IDENTITY
  /// The application's window for the stream in the app.
  var window = WindowHandle()
  /// In that window, in pixels; nil for all of it.
  var renderRectangle: PictureRect?
  /// Whether the windows' pointer and keys go upstream.
  var handlesEvents = true

  /// How pictures are fitted to their surfaces.
  var fitting: VideoGravity { keepsShape ? gravity : .resize }

  /// How pictures are to be turned whatever their tag says; nil for what it says, which is so for `auto` and as long as
  /// nobody has set anything.
  static func orientation(for direction: GstVideoOrientationMethod) -> VideoOrientation? {
    direction == GST_VIDEO_ORIENTATION_IDENTITY ? nil : VideoOrientation(direction)
  }

  /// The processors that `process` names, and the limiter.
  ///
  /// - Throws: ``PipSinkError/Frame/unknownProcessor(_:known:)``,
  ///   ``PipSinkError/Frame/invalidProcessorArgument(processor:argument:expected:)``.
  func makeProcessors() throws(PipSinkError) -> [any FrameProcessor] {
    let limiter = FrameRateLimiter(maximumRate: rateLimit)
    let named = try FrameProcessorRegistry.shared.makeProcessors(process ?? "")
    return (limiter.map { [$0] } ?? []) + named
  }
}
