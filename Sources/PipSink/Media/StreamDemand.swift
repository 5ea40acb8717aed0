import CGStreamer

/// How large a stream's pictures have to be for those who see them.
///
/// A sender that follows it sends no more pixels than anybody can see, and nothing while nobody looks. The size counts
/// in the frames' own orientation, before they are turned to be shown.
public enum StreamDemand: Hashable, Sendable {
  /// Nobody sees the stream.
  case hidden
  /// The largest size, in pixels of the screen, of all places where the stream can be seen. Pictures that are larger
  /// are scaled down everywhere.
  case size(PictureSize)
  /// The stream is shown by a renderer that has no size (``VideoRenderer/renderSize``), so that no size is too large.
  case fullSize

  /// The number of pixels, by which demands are compared.
  private var pixelCount: Int {
    switch self {
    case .hidden: 0
    case .size(let size): size.width * size.height
    case .fullSize: .max
    }
  }

  /// The larger one of two demands.
  func union(_ other: StreamDemand) -> StreamDemand { other.pixelCount > pixelCount ? other : self }

  /// Whether this demand asks for more than another one, in width or in height.
  func exceeds(_ other: StreamDemand) -> Bool {
    guard case .size(let size) = self, case .size(let old) = other else { return pixelCount > other.pixelCount }
    return size.width > old.width || size.height > old.height
  }

  /// The demand for a picture that is turned by `orientation` before it is shown.
  func turned(by orientation: VideoOrientation) -> StreamDemand {
    guard case .size(let size) = self else { return self }
    return .size(orientation.applied(to: size))
  }

  /// The size in numbers: 0 and 0 while the stream is hidden, and the largest 32-bit integer twice for the full size.
  package var limit: (width: Int, height: Int) {
    switch self {
    case .hidden: (0, 0)
    case .size(let size): (size.width, size.height)
    case .fullSize: (Int(Int32.max), Int(Int32.max))
    }
  }

  /// The upstream event by which the elements before a sink learn of the demand: "pipsink-demand", with the integers
  /// `width` and `height`, as ``limit`` has them. The caller owns it.
  func makeEvent() -> UnsafeMutablePointer<GstEvent>? {
    let structure = gst_structure_new_empty("pipsink-demand")
    for (name, length) in [("width", limit.width), ("height", limit.height)] {
      var value = GValue()
      g_value_init(&value, PIPSINK_TYPE_INT)
      g_value_set_int(&value, gint(clamping: length))
      gst_structure_take_value(structure, name, &value)
    }
    return gst_event_new_custom(GST_EVENT_CUSTOM_UPSTREAM, structure)
  }
}

extension StreamDemand: CustomStringConvertible {
  /// The demand as text: "hidden", a size such as "640x360", or "full size".
  public var description: String {
    switch self {
    case .hidden: "hidden"
    case .size(let size): size.description
    case .fullSize: "full size"
    }
  }
}

/// When a stream's demand follows what is shown: at once where more is asked for, and after a while where less is, so
/// that a sender is not stopped or changed for a moment.
struct DemandDelay {
  /// How long less has to be asked for.
  static let duration = Duration.milliseconds(500)
  /// Since when less has been asked for than the demand says; nil while that is not so.
  private var since: MonotonicTime?

  /// - Parameters:
  ///   - old: the demand so far.
  ///   - asked: what is asked for now.
  /// - Returns: the demand from now on, and when to look again; nil for no such moment.
  mutating func demand(after old: StreamDemand, asking asked: StreamDemand, at now: MonotonicTime) -> (
    demand: StreamDemand, lookAgainAt: MonotonicTime?
  ) {
    guard asked != old, !asked.exceeds(old) else {
      since = nil
      return (asked, nil)
    }
    let moment = (since ?? now).advanced(by: Self.duration)
    guard now < moment else {
      since = nil
      return (asked, nil)
    }
    since = since ?? now
    return (old, moment)
  }
}
