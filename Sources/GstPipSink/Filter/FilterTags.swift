import CGStreamer
import PipSink

/// What a filter tells downstream of a stream's orientation. Where a processor turns pixels upright, the tag that asks for
/// that must not be heard by the next one. It belongs to the streaming thread.
struct FilterTags: ~Copyable {
  /// The newest tags that say how pictures are to be turned. Owned.
  private var tags: UnsafeMutablePointer<GstTagList>?
  private var told = VideoOrientation.upright

  deinit {
    if let tags { gst_tag_list_unref(tags) }
  }

  /// Takes tags from upstream.
  ///
  /// - Parameters:
  ///   - event: of tags; owned.
  ///   - orientation: what downstream is to hear instead; nil for what the tags say.
  /// - Returns: what is to be sent on; owned by the caller.
  mutating func note(
    _ event: UnsafeMutablePointer<GstEvent>, replacing orientation: VideoOrientation?
  ) -> UnsafeMutablePointer<GstEvent> {
    var list: UnsafeMutablePointer<GstTagList>?
    gst_event_parse_tag(event, &list)
    guard let list, let tagged = VideoOrientation(tags: list) else { return event }
    if let tags { gst_tag_list_unref(tags) }
    tags = gst_tag_list_ref(list)
    told = orientation ?? tagged
    guard told != tagged, let new = makeEvent(told) else { return event }
    gst_event_unref(event)
    return new
  }

  /// Tells downstream, before a frame, where that is something else than it has heard.
  ///
  /// - Parameters:
  ///   - orientation: of the frame; nil where its tag holds.
  ///   - tagged: what the tag says.
  mutating func tell(
    _ orientation: VideoOrientation?, of tagged: VideoOrientation, on pad: UnsafeMutablePointer<GstPad>?
  ) {
    let wanted = orientation ?? tagged
    guard wanted != told, let event = makeEvent(wanted) else { return }
    told = wanted
    gst_pad_push_event(pad, event)
  }

  private func makeEvent(_ orientation: VideoOrientation) -> UnsafeMutablePointer<GstEvent>? {
    guard let list = tags.map({ gst_tag_list_copy($0) }) ?? gst_tag_list_new_empty() else { return nil }
    var value = GValue()
    g_value_init(&value, GType(16 << 2))
    defer { g_value_unset(&value) }
    g_value_set_string(&value, orientation.tag)
    gst_tag_list_add_value(list, GST_TAG_MERGE_REPLACE, "image-orientation", &value)
    return gst_event_new_tag(list)
  }
}
