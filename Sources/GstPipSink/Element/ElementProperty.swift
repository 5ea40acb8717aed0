import CGStreamer
import PipSink

/// One of the element's properties: its GObject specification, and how it is read from and written to GValues.
struct ElementProperty: Sendable {
  let name: String
  private let makeSpecification: @Sendable () -> UnsafeMutablePointer<GParamSpec>?
  private let set: @Sendable (ElementState, UnsafePointer<GValue>) -> Void
  private let get: @Sendable (ElementState, UnsafeMutablePointer<GValue>) -> Void

  init(
    name: String, _ makeSpecification: @escaping @Sendable () -> UnsafeMutablePointer<GParamSpec>?,
    set: @escaping @Sendable (ElementState, UnsafePointer<GValue>) -> Void,
    get: @escaping @Sendable (ElementState, UnsafeMutablePointer<GValue>) -> Void
  ) {
    (self.name, self.makeSpecification, self.set, self.get) = (name, makeSpecification, set, get)
  }

  private static let readWrite = G_PARAM_READABLE.rawValue | G_PARAM_WRITABLE.rawValue
  // GST_PARAM_MUTABLE_READY and GST_PARAM_MUTABLE_PLAYING are macros with casts.
  private static let whenReady = GParamFlags(rawValue: readWrite | 1 << 10)
  static let whenPlaying = GParamFlags(rawValue: readWrite | 1 << 12)

  /// All properties. A property's number in GObject is its position here, counted from 1.
  static let all: [ElementProperty] = [
    ElementProperty(name: "stream-id") {
      g_param_spec_string(
        "stream-id", "Stream ID", "The stream's ID in the session (null = the element's name)", nil, whenReady)
    } set: { state, value in
      let id = identifier(text(of: value))
      state.set { $0.streamID = id }
    } get: { state, value in
      g_value_set_string(value, state.streamID.rawValue)
    },
    string(
      "session", "Session", "The session's name; its elements share a window, picture-in-picture and the routing",
      whenReady, get: { $0.session }, set: { $0.session = $1 ?? ElementSettings().session }),
    enumeration("surface", "Surface", "What the streams of the session are shown on", whenReady, \.surface),
    enumeration(
      "renderer", "Renderer",
      "Who draws frames in windows; for PipSink's own, the session's first element decides (PIPSINK_RENDERER sets the "
        + "default)", whenReady, \.renderer),
    enumeration(
      "mode", "Mode", "Where the stream is shown; changes when the user starts or stops picture-in-picture",
      whenPlaying,
      \.mode, set: { $0.set(mode: $1) }),
    string(
      "pip-stream-id", "Picture-in-picture stream ID", "The stream that start-pip shows (null = this element's)",
      whenPlaying, get: { $0.pictureInPictureStreamID?.rawValue }, set: { $0.pictureInPictureStreamID = identifier($1) }
    ),
    string(
      "pip-second-stream-id", "Second picture-in-picture stream ID",
      "The stream in the second place of the picture-in-picture window (null = none); the first element of the session "
        + "that sets one decides", whenPlaying, get: { $0.secondStreamID?.rawValue },
      set: { $0.secondStreamID = identifier($1) }),
    enumeration(
      "pip-layout", "Picture-in-picture layout",
      "How the streams of the session are arranged in its picture-in-picture window; changes when the user arranges them "
        + "in another way", whenPlaying, \.layout),
    string(
      "pip-controls", "Picture-in-picture controls",
      "The controls of the session's picture-in-picture window: call, player, or names with commas between them "
        + "(null = player); those that only the application can do are told by pip-action", whenPlaying,
      get: { $0.controls }, set: { $0.controls = $1 }),
    ElementProperty(name: "pip-opacity") {
      g_param_spec_double(
        "pip-opacity", "Picture-in-picture opacity", "The opacity of the session's picture-in-picture window", 0.1, 1,
        1, whenPlaying)
    } set: { state, value in
      state.set { $0.opacity = g_value_get_double(value) }
    } get: { state, value in
      g_value_set_double(value, state.settings.opacity)
    },
    boolean(
      "pip-click-through", "Picture-in-picture click-through",
      "Whether presses go to the windows below the session's picture-in-picture window; changes when the user ends "
        + "that", whenPlaying, \.isClickThrough),
    boolean(
      "pip-steps-aside", "Picture-in-picture steps aside",
      "Whether the session's picture-in-picture window goes to another corner when the pointer comes to it",
      whenPlaying, \.stepsAside),
    boolean(
      "pip-allowed", "Picture-in-picture allowed",
      "Whether the stream may be in picture-in-picture; false for something private, for instance", whenPlaying,
      \.isAllowedInPictureInPicture),
    enumeration("gravity", "Gravity", "How pictures are fitted to their surface", whenPlaying, \.gravity),
    boolean(
      "force-aspect-ratio", "Force aspect ratio",
      "Whether pictures keep their aspect ratio; false stretches them to fill their surface, whatever the gravity",
      whenPlaying, \.keepsShape),
    balance(.brightness), balance(.contrast), balance(.hue), balance(.saturation),
    ElementProperty(name: "rate-limit") {
      g_param_spec_double(
        "rate-limit", "Rate limit", "The most frames to show in a second (0 = all)", 0, 1000, 0, whenPlaying)
    } set: { state, value in
      state.set { $0.rateLimit = g_value_get_double(value) }
    } get: { state, value in
      g_value_set_double(value, state.settings.rateLimit)
    },
    string(
      "process", "Process", processSummary, whenPlaying, get: { $0.process }, set: { $0.process = $1 }),
    boolean(
      "auto-pip", "Automatic picture-in-picture",
      "Start picture-in-picture when the session's window is hidden, and stop it when the window is visible again",
      whenPlaying, \.isAutomatic),
    boolean(
      "background-decoding", "Background decoding",
      "Whether the stream is decoded while nobody sees it; with false, its video decoder is suspended meanwhile, and "
        + "resumes with a keyframe, which is requested", whenPlaying, \.decodesInBackground),
    ElementProperty(name: "stall-timeout") {
      g_param_spec_uint64(
        "stall-timeout", "Stall timeout",
        "After how many nanoseconds without a frame, while the pipeline plays, the stream has stalled (0 = never)", 0,
        guint64(Int64.max), guint64(ElementSettings().stallTimeout), whenPlaying)
    } set: { state, value in
      state.set { $0.stallTimeout = UInt64(g_value_get_uint64(value)) }
    } get: { state, value in
      g_value_set_uint64(value, guint64(state.settings.stallTimeout))
    },
    wantedLength("width", \.width), wantedLength("height", \.height),
    boolean(
      "dbus", "D-Bus", "Let other processes control the session by D-Bus, also as a media player (MPRIS)", whenReady,
      \.isOnBus),
    boolean(
      "inhibit-idle", "Inhibit idle",
      "Whether the screen stays on while a stream of the session plays and can be seen", whenPlaying,
      \.inhibitsIdle),
    enumeration(
      "pip-end-action", "Picture-in-picture end action",
      "What the picture-in-picture window does when this stream ends in it", whenPlaying, \.endAction),
    ElementProperty(name: "pip-retries") {
      g_param_spec_uint(
        "pip-retries", "Picture-in-picture retries",
        "How often in a row to try again when the picture-in-picture window cannot be opened or has failed", 0,
        1_000_000_000, guint(ElementSettings().retries), whenPlaying)
    } set: { state, value in
      state.set { $0.retries = Int(g_value_get_uint(value)) }
    } get: { state, value in
      g_value_set_uint(value, guint(clamping: state.settings.retries))
    },
    ElementProperty(name: "pip-aspect-ratio") {
      gst_param_spec_fraction(
        "pip-aspect-ratio", "Picture-in-picture aspect ratio",
        "The picture-in-picture window's ratio of width to height (0/1 = that of the stream)", 0, 1, 32767, 1, 0, 1,
        whenPlaying)
    } set: { state, value in
      let size = PictureSize(
        width: Int(gst_value_get_fraction_numerator(value)), height: Int(gst_value_get_fraction_denominator(value)))
      state.set { $0.preferredContentSize = size.width == 0 ? nil : size }
    } get: { state, value in
      let size = state.settings.preferredContentSize
      gst_value_set_fraction(value, gint(clamping: size?.width ?? 0), gint(clamping: size?.height ?? 1))
    },
    boolean(
      "paused", "Paused",
      "Whether the stream is paused, as the windows show it: true in PAUSED, false in PLAYING; setting it asks the "
        + "application for that state (request-state), and before the start for PAUSED with the first picture",
      get: { state in state.playback.withLock(\.isPaused) }, set: { $0.set(isPaused: $1) }),
    boolean(
      "muted", "Muted",
      "Whether the stream is muted, as the windows show it and their button switches it: playbin's mute when the "
        + "element is in a playbin, otherwise for the application to follow (notify::muted) and to set",
      get: { $0.isMuted }, set: { $0.set(isMuted: $1) }),
    ElementProperty(name: "paintable") {
      g_param_spec_object(
        "paintable", "Paintable",
        "In programs with GTK 4, a GdkPaintable that shows the stream in the app instead of a window, for "
          + "Gtk.Picture.new_for_paintable(); null in other programs", PIPSINK_TYPE_OBJECT,
        GParamFlags(rawValue: G_PARAM_READABLE.rawValue))
    } set: { _, _ in
    } get: { state, value in
      state.getPaintable(value)
    },
    ElementProperty(name: "pip-overlay") {
      g_param_spec_boxed(
        "pip-overlay", "Picture-in-picture overlay",
        "What the application draws over the pictures of the session's picture-in-picture window, as a "
          + "GstVideoOverlayComposition in pixels of that window (null = nothing)",
        gst_video_overlay_composition_get_type(), whenPlaying)
    } set: { state, value in
      let overlay = g_value_get_boxed(value).map { ElementOverlay($0) }
      state.set { $0.overlay = overlay }
    } get: { state, value in
      g_value_set_boxed(value, (state.settings.overlay?.composition).map { UnsafeRawPointer($0) })
    },
    boolean(
      "camera-off", "Camera off",
      "Whether the camera of the stream is off: the app shows a placeholder for it, and picture-in-picture shows "
        + "another stream", whenPlaying, \.isCameraOff),
    boolean(
      "microphone-off", "Microphone off",
      "Whether the microphone of whoever is in the stream is off, which a mark over the picture says", whenPlaying,
      \.isMicrophoneOff),
    enumeration(
      "connection-quality", "Connection quality",
      "How good the connection to whoever is in the stream is; a mark over the picture says when it is not good",
      whenPlaying, \.connectionQuality),
    string(
      "caption", "Caption", "What is said at the moment, as a text over the picture (null = nothing)", whenPlaying,
      get: \.caption, set: { $0.caption = $1 }),
    string(
      "image", "Image",
      "The path of a picture, such as a PNG or JPEG file, that stands for whoever is in the stream while the camera is "
        + "off (null = the initials of the name)", whenPlaying, get: \.imagePath, set: { $0.imagePath = $1 }),
    boolean(
      "screen-share", "Screen share",
      "Whether the stream shows somebody's screen: it is never cropped, and picture-in-picture prefers it to streams "
        + "that nobody has chosen", whenPlaying, \.isScreenShare),
    ElementProperty(name: "stream-name") {
      g_param_spec_string(
        "stream-name", "Stream name",
        "The stream's name for the user, in windows and for media players (null = the title in its tags, or else its ID)",
        nil, whenPlaying)
    } set: { state, value in
      let name = text(of: value)
      state.set { $0.givenName = name }
    } get: { state, value in
      g_value_set_string(value, state.settings.streamName ?? state.streamID.rawValue)
    },
    ElementProperty(name: "wayland-display") {
      g_param_spec_uint64(
        "wayland-display", "Wayland display",
        "The address of the application's wl_display, for languages that cannot make a GstContext; window handles are "
          + "then addresses of its surfaces", 0, .max, 0, whenReady)
    } set: { state, value in
      let address = UInt(g_value_get_uint64(value))
      state.set { $0.window.waylandDisplay = address }
    } get: { state, value in
      g_value_set_uint64(value, guint64(state.settings.window.waylandDisplay))
    },
    // GstVideoDirection would make an element begin with identity.
    ElementProperty(name: "video-direction") {
      g_param_spec_enum(
        "video-direction", "Video direction",
        "How the picture is rotated or mirrored: auto is what the stream's tag says, and identity is not at all",
        gst_video_orientation_method_get_type(), gint(GST_VIDEO_ORIENTATION_AUTO.rawValue), whenPlaying)
    } set: { state, value in
      state.set { $0.direction = GstVideoOrientationMethod(rawValue: UInt32(bitPattern: g_value_get_enum(value))) }
    } get: { state, value in
      g_value_set_enum(value, gint(bitPattern: state.settings.direction.rawValue))
    },
    ElementProperty(name: "stats") {
      g_param_spec_boxed(
        "stats", "Statistics",
        "GstBaseSink's statistics, and the numbers of frames received, shown in the app and in picture-in-picture, "
          + "replaced, dropped, and skipped because they are in memory that the processor cannot read, freezes, and "
          + "when the screen showed frames",
        gst_structure_get_type(), GParamFlags(rawValue: G_PARAM_READABLE.rawValue))
    } set: { _, _ in
    } get: { state, value in
      g_value_take_boxed(value, UnsafeRawPointer(state.makeStatistics()))
    },
  ]

  /// The description of the property `process`, with the names of all processors.
  static var processSummary: String {
    let names = FrameProcessorRegistry.shared.entries.map(\.name).joined(separator: ", ")
    return "The processors to run on the frames: \(names); with arguments, for example, grayscale,rotate:90"
  }

  static func install(on objectClass: UnsafeMutablePointer<GObjectClass>) {
    objectClass.pointee.set_property = { object, id, value, _ in
      guard let object, let value else { return }
      // The last property is GstVideoOverlay's. It can only be written, and the interface handles it.
      guard gst_video_overlay_set_property(object, gint(ElementProperty.all.count), id, value) == 0 else { return }
      ElementProperty.all[Int(id) - 1].set(PipSinkElement.state(of: object), value)
    }
    objectClass.pointee.get_property = { object, id, value, _ in
      if let object, let value { ElementProperty.all[Int(id) - 1].get(PipSinkElement.state(of: object), value) }
    }
    for (index, property) in all.enumerated() {
      g_object_class_install_property(objectClass, guint(index + 1), property.makeSpecification())
    }
    gst_video_overlay_install_properties(objectClass, gint(all.count))
  }
}
