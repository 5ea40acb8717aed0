import CGStreamer
import PipSink

/// Subtitles and other pictures that elements upstream put over frames. Where the sink offers it, these elements attach
/// the pictures to the frames, as GstVideoOverlayCompositionMeta. The sink tells them the window's size, so that they
/// render the pictures for it, and draws them over the frame at that size. Otherwise they draw into the frames.
///
/// Only the streaming thread uses it.
struct ElementOverlays {
  static let capsFeatures = "memory:SystemMemory, meta:GstVideoOverlayComposition"
  private static let capsFeature = "meta:GstVideoOverlayComposition"
  /// The number of frames from one check of the surface's size to the next. With a check at every frame, the pictures
  /// would be rendered again for every frame while a window is resized.
  private static let framesBetweenLooks = 10

  private var areUsed = false
  private var frameCount = 0
  /// The sizes that upstream was told since it was asked to negotiate again. Several elements may ask, one after
  /// another, such as the one that renders the pictures and the source of the frames. Each has to know the size.
  private var proposedSizes: Set<PictureSize?> = []

  /// Notes the caps of the next frames.
  mutating func note(_ caps: UnsafeMutablePointer<GstCaps>) {
    areUsed = gst_caps_features_contains(gst_caps_get_features(caps, 0), Self.capsFeature) != 0
    frameCount = 0
  }

  /// - Parameter size: the size of the surface that the stream is shown on, in pixels; nil while it is unknown.
  mutating func propose(to query: UnsafeMutablePointer<GstQuery>, size: PictureSize?) {
    proposedSizes.insert(size)
    let parameters = size.flatMap { size in
      let structure = gst_structure_new_empty("GstVideoOverlayCompositionMeta")
      for (name, length) in [("width", size.width), ("height", size.height)] {
        var value = GValue()
        g_value_init(&value, PIPSINK_TYPE_UINT)
        g_value_set_uint(&value, guint(clamping: length))
        gst_structure_set_value(structure, name, &value)
      }
      return structure
    }
    gst_query_add_allocation_meta(query, gst_video_overlay_composition_meta_api_get_type(), parameters)
    if let parameters { gst_structure_free(parameters) }
  }

  /// Checks the surface's size. It is called once for every frame, before the frame is shown.
  ///
  /// - Returns: whether elements upstream should ask again for the size of their pictures.
  mutating func isOutdated(_ size: () -> PictureSize?) -> Bool {
    guard areUsed else { return false }
    defer { frameCount += 1 }
    guard frameCount.isMultiple(of: Self.framesBetweenLooks), let size = size() else { return false }
    guard proposedSizes != [size] else { return false }
    proposedSizes = []
    return true
  }
}

extension ElementState {
  /// Whether overlays may be attached to frames. Processors make new frames, which have no overlays, and an engine's
  /// consumers draw frames without them.
  private var offersOverlays: Bool {
    let settings = settings
    return !isInEngine && settings.surface != .none && settings.process?.isEmpty ?? true
  }

  func proposeOverlays(to query: UnsafeMutablePointer<GstQuery>) {
    guard offersOverlays, let member else { return }
    overlays.propose(to: query, size: member.session.router.surfaceSize(of: member.streamID))
  }

  /// Asks upstream to negotiate again when the surface's size has changed. It is called before a frame is shown.
  func updateOverlays() {
    let isOutdated = overlays.isOutdated { member.flatMap { $0.session.router.surfaceSize(of: $0.streamID) } }
    if isOutdated { reference.renegotiate() }
  }
}

extension ElementReference {
  /// Makes upstream negotiate again, so that it asks the element for its caps and its allocation.
  func renegotiate() {
    use { element in
      let sink = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstBaseSink.self)
      _ = gst_pad_push_event(sink.pointee.sinkpad, gst_event_new_reconfigure())
    }
  }
}
