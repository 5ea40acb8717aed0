import CGStreamer
import CWebRTC

@testable import PipSink

/// The signalling between two webrtcbins in one process: the messages that two apps would exchange through their
/// server.
enum WebRTCLoopback {
  typealias Element = UnsafeMutablePointer<GstElement>

  /// Connects the two elements and negotiates the media that the first one sends. Both elements must be running.
  static func connect(_ sender: Element, _ receiver: Element) {
    pipsink_webrtc_disable_port_mapping(sender)
    pipsink_webrtc_disable_port_mapping(receiver)
    forwardCandidates(from: sender, to: receiver)
    forwardCandidates(from: receiver, to: sender)
    let offer = create("offer", by: sender)
    set("local", "offer", offer, of: sender)
    set("remote", "offer", offer, of: receiver)
    let answer = create("answer", by: receiver)
    set("local", "answer", answer, of: receiver)
    set("remote", "answer", answer, of: sender)
  }

  private static func forwardCandidates(from element: Element, to other: Element) {
    let handler: @convention(c) (Element, guint, UnsafePointer<gchar>, UnsafeMutableRawPointer) -> Void = {
      _, line, candidate, other in
      pipsink_webrtc_add_candidate(other.assumingMemoryBound(to: GstElement.self), line, candidate)
    }
    g_signal_connect_data(
      element, "on-ice-candidate", unsafeBitCast(handler, to: GCallback.self), gst_object_ref(other),
      { other, _ in gst_object_unref(other) }, GConnectFlags(rawValue: 0))
  }

  /// Asks an element for an "offer" or an "answer", which describes what it sends and receives.
  static func create(_ kind: String, by element: Element) -> String {
    let promise = gst_promise_new()
    defer { gst_promise_unref(promise) }
    pipsink_webrtc_create(element, "create-\(kind)", promise)
    gst_promise_wait(promise)
    return String(taking: pipsink_webrtc_reply_text(gst_promise_get_reply(promise), kind)) ?? ""
  }

  /// Sets the "local" or "remote" description of an element.
  static func set(_ side: String, _ kind: String, _ text: String, of element: Element) {
    var message: UnsafeMutablePointer<GstSDPMessage>?
    guard gst_sdp_message_new_from_text(text, &message) == GST_SDP_OK else { return }
    defer { gst_sdp_message_free(message) }
    let promise = gst_promise_new()
    defer { gst_promise_unref(promise) }
    let type = kind == "offer" ? PIPSINK_SDP_OFFER : PIPSINK_SDP_ANSWER
    pipsink_webrtc_set(element, "set-\(side)-description", gint(type), message, promise)
    gst_promise_wait(promise)
  }

  /// Makes an element's description and waits until it has all candidates.
  static func describe(_ kind: String, by element: Element) async -> String {
    set("local", kind, create(kind, by: element), of: element)
    _ = await eventually { Int(pipsink_webrtc_state(element, "ice-gathering-state")) == PIPSINK_GATHERING_COMPLETE }
    return String(taking: pipsink_webrtc_local_text(element)) ?? ""
  }
}
