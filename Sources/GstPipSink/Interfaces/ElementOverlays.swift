import CGStreamer
import PipSink

/// Subtitles and other pictures that elements put over frames. Where the element offers it, they come beside the frames, as
/// GstVideoOverlayCompositionMeta, and are drawn with them at the window's size, which the elements are told so that they make
/// them for it. Otherwise they draw into the frames.
///
/// It belongs to the streaming thread.
struct ElementOverlays {
  static let capsFeatures = "memory:SystemMemory, meta:GstVideoOverlayComposition"
  private static let capsFeature = "meta:GstVideoOverlayComposition"
  /// A window that is being resized would have the pictures made anew for every frame.
  private static let framesBetweenLooks = 10

  private var areUsed = false
  private var frameCount = 0
  private var proposedSize: PictureSize?

  /// The next frames have these caps.
  mutating func note(_ caps: UnsafeMutablePointer<GstCaps>) {
    areUsed = gst_caps_features_contains(gst_caps_get_features(caps, 0), Self.capsFeature) != 0
    frameCount = 0
  }

  /// - Parameter size: of what the stream is shown on, in pixels; nil while nobody knows.
  mutating func propose(to query: UnsafeMutablePointer<GstQuery>, size: PictureSize?) {
    proposedSize = size
    let parameters = size.flatMap { size in
      let structure = gst_structure_new_empty("GstVideoOverlayCompositionMeta")
      for (name, length) in [("width", size.width), ("height", size.height)] {
        var value = GValue()
        // GObject's number of its unsigned integers.
        g_value_init(&value, GType(7 << 2))
        g_value_set_uint(&value, guint(clamping: length))
        gst_structure_set_value(structure, name, &value)
      }
      return structure
    }
    gst_query_add_allocation_meta(query, gst_video_overlay_composition_meta_api_get_type(), parameters)
    if let parameters { gst_structure_free(parameters) }
  }

  /// Called for every frame, between frames.
  ///
  /// - Returns: whether elements upstream are to ask again what size their pictures should have.
  mutating func isOutdated(_ size: () -> PictureSize?) -> Bool {
    guard areUsed else { return false }
    defer { frameCount += 1 }
    guard frameCount.isMultiple(of: Self.framesBetweenLooks), let size = size() else { return false }
    return size != proposedSize
  }
}

extension ElementState {
  /// Whether overlays can come beside frames: processors make new frames, which have none, and an engine's consumers draw
  /// frames by themselves.
  private var offersOverlays: Bool {
    let settings = settings
    return !isInEngine && settings.surface != .none && settings.process?.isEmpty ?? true
  }

  func proposeOverlays(to query: UnsafeMutablePointer<GstQuery>) {
    guard offersOverlays, let member else { return }
    overlays.propose(to: query, size: member.session.router.surfaceSize(of: member.streamID))
  }

  /// Before a frame is shown.
  func updateOverlays() {
    let isOutdated = overlays.isOutdated { member.flatMap { $0.session.router.surfaceSize(of: $0.streamID) } }
    if isOutdated { reference.renegotiate() }
  }
}

extension ElementReference {
  /// Has upstream ask again what the element would like.
  func renegotiate() {
    use { element in
      let sink = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstBaseSink.self)
      _ = gst_pad_push_event(sink.pointee.sinkpad, gst_event_new_reconfigure())
    }
  }
}
