import CGStreamer
import PipSink

/// The tags with which a filter tells downstream a stream's orientation. Where a processor rotates the pixels upright,
/// the tag that asks for the rotation must not reach the elements downstream. Only the streaming thread uses it.
struct FilterTags: ~Copyable {
  /// The newest tags with an orientation. This owns a reference to them.
  private var tags: UnsafeMutablePointer<GstTagList>?
  private var sent = VideoOrientation.upright

  deinit {
    if let tags { gst_tag_list_unref(tags) }
  }

  /// Notes tags from upstream.
  ///
  /// - Parameters:
  ///   - event: a tag event, which this consumes.
  ///   - orientation: the orientation to tell downstream instead; nil for what the tags say.
  /// - Returns: the event to send on, which the caller owns.
  mutating func note(
    _ event: UnsafeMutablePointer<GstEvent>, replacing orientation: VideoOrientation?
  ) -> UnsafeMutablePointer<GstEvent> {
    var list: UnsafeMutablePointer<GstTagList>?
    gst_event_parse_tag(event, &list)
    guard let list, let tagged = VideoOrientation(tags: list) else { return event }
    if let tags { gst_tag_list_unref(tags) }
    tags = gst_tag_list_ref(list)
    sent = orientation ?? tagged
    guard sent != tagged, let new = makeEvent(sent) else { return event }
    gst_event_unref(event)
    return new
  }

  /// Tells downstream the orientation of the next frame, if downstream has been sent another one.
  ///
  /// - Parameters:
  ///   - orientation: the orientation of the frame; nil where its tag is valid.
  ///   - tagged: the orientation that the stream's tag says.
  mutating func send(
    _ orientation: VideoOrientation?, of tagged: VideoOrientation, on pad: UnsafeMutablePointer<GstPad>?
  ) {
    let wanted = orientation ?? tagged
    guard wanted != sent, let event = makeEvent(wanted) else { return }
    sent = wanted
    gst_pad_push_event(pad, event)
  }

  private func makeEvent(_ orientation: VideoOrientation) -> UnsafeMutablePointer<GstEvent>? {
    guard let list = tags.map({ gst_tag_list_copy($0) }) ?? gst_tag_list_new_empty() else { return nil }
    var value = GValue()
    g_value_init(&value, PIPSINK_TYPE_STRING)
    defer { g_value_unset(&value) }
    g_value_set_string(&value, orientation.tag)
    gst_tag_list_add_value(list, GST_TAG_MERGE_REPLACE, "image-orientation", &value)
    return gst_event_new_tag(list)
  }
}
