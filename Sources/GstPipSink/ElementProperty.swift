import CGStreamer
import PipSink

/// The element's own properties, and the way from and to GValues.
enum ElementProperty: guint, CaseIterable {
  case streamID = 1
  case session
  case surface
  case mode
  case pictureInPictureStreamID
  case gravity
  case rateLimit
  case process
  case isAutomatic
  case endAction
  case direction
  case statistics
  /// GstVideoOverlay's, write-only.
  case renderRectangle

  var name: String {
    switch self {
    case .streamID: "stream-id"
    case .session: "session"
    case .surface: "surface"
    case .mode: "mode"
    case .pictureInPictureStreamID: "pip-stream-id"
    case .gravity: "gravity"
    case .rateLimit: "rate-limit"
    case .process: "process"
    case .isAutomatic: "auto-pip"
    case .endAction: "pip-end-action"
    case .direction: "video-direction"
    case .statistics: "stats"
    case .renderRectangle: "render-rectangle"
    }
  }

  private static let readWrite = G_PARAM_READABLE.rawValue | G_PARAM_WRITABLE.rawValue
  // GST_PARAM_MUTABLE_READY and GST_PARAM_MUTABLE_PLAYING are macros with casts.
  private static let whenReady = GParamFlags(rawValue: readWrite | 1 << 10)
  private static let whenPlaying = GParamFlags(rawValue: readWrite | 1 << 12)

  static func install(on objectClass: UnsafeMutablePointer<GObjectClass>) {
    objectClass.pointee.set_property = { object, id, value, _ in
      if let object, let value { ElementProperty(rawValue: id)?.set(value, on: object) }
    }
    objectClass.pointee.get_property = { object, id, value, _ in
      if let object, let value { ElementProperty(rawValue: id)?.get(value, of: object) }
    }
    for property in allCases {
      if let specification = property.makeSpecification() {
        g_object_class_install_property(objectClass, property.rawValue, specification)
      }
    }
    g_object_class_override_property(objectClass, direction.rawValue, direction.name)
    gst_video_overlay_install_properties(objectClass, gint(renderRectangle.rawValue - 1))
  }

  /// nil for those that others define.
  private func makeSpecification() -> UnsafeMutablePointer<GParamSpec>? {
    switch self {
    case .streamID:
      string("Stream ID", "By which the session knows the stream (null = the element's name)", nil, Self.whenReady)
    case .session:
      string(
        "Session", "Elements of one session in a process share the window, picture-in-picture and the routing",
        ElementSettings().session, Self.whenReady)
    case .surface:
      enumeration("Surface", "What the session's streams are shown on", ElementSurface.window, Self.whenReady)
    case .mode:
      enumeration(
        "Mode", "Whether the stream is shown in picture-in-picture; follows what the user does", ElementMode.normal,
        Self.whenPlaying)
    case .pictureInPictureStreamID:
      string(
        "Picture-in-picture stream ID", "The session's stream that start-pip shows (null = this one)", nil,
        Self.whenPlaying)
    case .gravity:
      enumeration("Gravity", "How pictures are fitted to their surface", ElementGravity.resizeAspect, Self.whenPlaying)
    case .rateLimit:
      g_param_spec_double(
        name, "Rate limit", "Frames a second to show at most (0 = all)", 0, 1000, 0, Self.whenPlaying)
    case .process:
      string(
        "Process", "Processors for the frames: \(Self.processorNames); with arguments: grayscale,rotate:90", nil,
        Self.whenPlaying)
    case .isAutomatic:
      g_param_spec_boolean(
        name, "Automatic picture-in-picture",
        "Start when nobody can see the session's window, and stop when somebody can",
        0, Self.whenPlaying)
    case .endAction:
      enumeration(
        "Picture-in-picture end action", "What becomes of the picture-in-picture window when this stream ends in it",
        PictureInPictureEndAction.nextStream, Self.whenPlaying)
    case .statistics:
      g_param_spec_boxed(
        name, "Statistics",
        "GstBaseSink's, and the frames received, shown in the app and in picture-in-picture, replaced and dropped",
        gst_structure_get_type(), GParamFlags(rawValue: G_PARAM_READABLE.rawValue))
    case .direction, .renderRectangle: nil
    }
  }

  private static var processorNames: String {
    FrameProcessorRegistry.shared.entries.map(\.name).joined(separator: ", ")
  }

  private func string(
    _ nick: String, _ summary: String, _ initial: String?, _ flags: GParamFlags
  ) -> UnsafeMutablePointer<GParamSpec>? {
    g_param_spec_string(name, nick, summary, initial, flags)
  }

  private func enumeration<Value: ElementEnum>(
    _ nick: String, _ summary: String, _ initial: Value, _ flags: GParamFlags
  ) -> UnsafeMutablePointer<GParamSpec>? {
    g_param_spec_enum(name, nick, summary, Value.makeType(), initial.number, flags)
  }

  // MARK: - Values

  private func set(_ value: UnsafePointer<GValue>, on object: UnsafeMutablePointer<GObject>) {
    let state = PipSinkElement.state(of: object)
    let text = isString ? g_value_get_string(value).map { String(cString: $0) } : nil
    switch self {
    case .streamID: state.set { $0.streamID = text?.isEmpty == true ? nil : text }
    case .session: state.set { $0.session = text ?? ElementSettings().session }
    case .surface: state.set { $0.surface = ElementSurface(number: g_value_get_enum(value)) ?? .window }
    case .mode: state.set(mode: ElementMode(number: g_value_get_enum(value)) ?? .normal)
    case .pictureInPictureStreamID: state.set { $0.pictureInPictureStreamID = text?.isEmpty == true ? nil : text }
    case .gravity: state.set { $0.gravity = ElementGravity(number: g_value_get_enum(value)) ?? .resizeAspect }
    case .rateLimit: state.set { $0.rateLimit = g_value_get_double(value) }
    case .process: state.set { $0.process = text }
    case .isAutomatic: state.set { $0.isAutomatic = g_value_get_boolean(value) != 0 }
    case .endAction:
      state.set { $0.endAction = PictureInPictureEndAction(number: g_value_get_enum(value)) ?? .nextStream }
    case .direction:
      state.set { $0.direction = GstVideoOrientationMethod(rawValue: UInt32(bitPattern: g_value_get_enum(value))) }
    case .renderRectangle:
      // It calls GstVideoOverlay's function.
      gst_video_overlay_set_property(object, gint(rawValue - 1), rawValue, value)
    case .statistics: break
    }
  }

  private var isString: Bool {
    switch self {
    case .streamID, .session, .pictureInPictureStreamID, .process: true
    default: false
    }
  }

  private func get(_ value: UnsafeMutablePointer<GValue>, of object: UnsafeMutablePointer<GObject>) {
    let state = PipSinkElement.state(of: object)
    let settings = state.settings
    switch self {
    case .streamID: g_value_set_string(value, settings.streamID)
    case .session: g_value_set_string(value, settings.session)
    case .surface: g_value_set_enum(value, settings.surface.number)
    case .mode: g_value_set_enum(value, settings.mode.number)
    case .pictureInPictureStreamID: g_value_set_string(value, settings.pictureInPictureStreamID)
    case .gravity: g_value_set_enum(value, settings.gravity.number)
    case .rateLimit: g_value_set_double(value, settings.rateLimit)
    case .process: g_value_set_string(value, settings.process)
    case .isAutomatic: g_value_set_boolean(value, settings.isAutomatic ? 1 : 0)
    case .endAction: g_value_set_enum(value, settings.endAction.number)
    case .direction: g_value_set_enum(value, gint(bitPattern: settings.direction.rawValue))
    case .statistics: g_value_take_boxed(value, UnsafeRawPointer(state.makeStatistics()))
    case .renderRectangle: break
    }
  }
}
