import CGStreamer
import CWebRTC
import Foundation

@testable import PipSink
@testable import PipSinkCalls
@testable import TestSupport

/// The other side of a call: a webrtcbin that sends tracks.
///
/// `@unchecked Sendable`: the pointers are constant, and GStreamer's elements may be used from every thread.
final class WebRTCPeer: @unchecked Sendable {
  /// A track, and the name of its MediaStream.
  struct Track {
    let description: String
    let name: String?

    static func video(_ pattern: String, of name: String? = nil) -> Track {
      let description =
        "videotestsrc is-live=true pattern=\(pattern) ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 "
        + "! valve name=valve ! vp8enc deadline=1 keyframe-max-dist=3000 ! rtpvp8pay pt=96"
      return Track(description: description, name: name)
    }

    /// A picture in which every frame is another one. The element "sent" gets what a decoder makes of what is sent.
    ///
    /// - Parameter codec: "vp8" or "h264".
    static func moving(_ codec: String, of name: String) -> Track {
      let (encoder, payloader, decoder) =
        codec == "vp8"
        ? ("vp8enc deadline=1 keyframe-max-dist=3000 target-bitrate=600000", "rtpvp8pay pt=96", "vp8dec")
        : (
          "x264enc tune=zerolatency speed-preset=ultrafast key-int-max=3000 bitrate=600 "
            + "! video/x-h264,profile=constrained-baseline",
          // webrtcbin takes no other level than the one that is offered. Browsers do not describe their parameter sets.
          "rtph264pay pt=97 ssrc=264 config-interval=-1 ! capssetter replace=true caps=application/x-rtp,media=video,"
            + "encoding-name=H264,payload=97,clock-rate=90000,ssrc=(uint)264,packetization-mode=(string)1,"
            + "profile-level-id=(string)42e01f",
          "h264parse ! avdec_h264"
        )
      let description =
        "videotestsrc is-live=true pattern=ball ! video/x-raw,format=I420,width=640,height=360,framerate=30/1 "
        + "! timeoverlay ! valve name=valve ! \(encoder) ! tee name=coded "
        + "! queue ! \(payloader) "
        + "coded. ! queue ! \(decoder) ! video/x-raw,format=I420 ! fakesink name=sent sync=false async=false"
      return Track(description: description, name: name)
    }

    static func sound(of name: String) -> Track {
      let description = "audiotestsrc is-live=true volume=0.5 ! valve name=valve ! opusenc ! rtpopuspay pt=111"
      return Track(description: description, name: name)
    }
  }

  let pipeline: Element
  private let webrtc: Element
  /// The tracks' pads and elements, and whether the next offer has them.
  private let tracks = Locked<[(pad: Pad, bin: Element, isSent: Bool)]>([])

  /// Makes a peer and plays it.
  init(_ tracks: Track...) {
    pipeline = gst_pipeline_new(nil)
    webrtc = gst_element_factory_make("webrtcbin", nil)
    pipsink_webrtc_disable_port_mapping(webrtc)
    pipsink_webrtc_set_property(webrtc, "bundle-policy", "max-bundle")
    gst_bin_add(pipeline.asBin, webrtc)
    Self.tellLatency(of: pipeline)
    for track in tracks { add(track) }
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
  }

  deinit {
    kill()
    for track in tracks.withLock({ $0 }) { gst_object_unref(track.pad) }
    gst_object_unref(pipeline)
  }

  /// Tells the elements their latency whenever that changes: without it, webrtcbin does not know when the packets were
  /// taken that it reports.
  private static func tellLatency(of pipeline: Element) {
    guard let bus = gst_element_get_bus(pipeline) else { return }
    defer { gst_object_unref(bus) }
    gst_bus_set_sync_handler(
      bus,
      { _, message, pipeline in
        guard let message, let pipeline else { return GST_BUS_DROP }
        defer { gst_message_unref(message) }
        guard message.pointee.type == GST_MESSAGE_LATENCY else { return GST_BUS_DROP }
        let address = UInt(bitPattern: gst_object_ref(pipeline))
        Thread.detachNewThread {
          guard let pipeline = Element(bitPattern: address) else { return }
          gst_bin_recalculate_latency(pipeline.asBin)
          gst_object_unref(pipeline)
        }
        return GST_BUS_DROP
      }, pipeline, nil)
  }

  /// Adds a track, which the next offer has.
  func add(_ track: Track) {
    guard let bin = gst_parse_bin_from_description(track.description, 1, nil),
      let source = gst_element_get_static_pad(bin, "src"), let pad = gst_element_request_pad_simple(webrtc, "sink_%u")
    else { return }
    defer { gst_object_unref(source) }
    if let transceiver = pipsink_webrtc_transceiver(pad) {
      pipsink_webrtc_set_nack(transceiver, 1)
      g_object_unref(transceiver)
    }
    if let name = track.name { pipsink_webrtc_set_property(pad, "msid", name) }
    gst_bin_add(pipeline.asBin, bin)
    gst_pad_link(source, pad)
    tracks.withLock { $0.append((pad, bin, true)) }
    gst_element_sync_state_with_parent(bin)
  }

  /// Sets whether a track is sent, which the next offer says.
  func send(_ index: Int, _ isSent: Bool) { tracks.withLock { $0[index].isSent = isSent } }

  /// Ends it without a word to the other side.
  func kill() { gst_element_set_state(pipeline, GST_STATE_NULL) }

  func answer(_ offer: String) async -> String {
    WebRTCLoopback.set("remote", "offer", offer, of: webrtc)
    return await WebRTCLoopback.describe("answer", by: webrtc)
  }

  func offer() async -> String {
    // Without caps webrtcbin does not know the tracks' sources, which the offer says.
    _ = await eventually { tracks.withLock { $0.allSatisfy { gst_pad_has_current_caps($0.pad) != 0 } } }
    return direct(await WebRTCLoopback.describe("offer", by: webrtc), "inactive")
  }

  /// Takes an answer, and stops to send the tracks that the offer did not have.
  func take(_ answer: String) {
    WebRTCLoopback.set("remote", "answer", direct(answer, "recvonly"), of: webrtc)
    for track in tracks.withLock({ $0 }) { Self.hold(track.bin, !track.isSent) }
  }

  /// Sends nothing for so long.
  func pause(for duration: Duration) async throws {
    for track in tracks.withLock({ $0 }) { Self.hold(track.bin, true) }
    try await Task.sleep(for: duration)
    for track in tracks.withLock({ $0 }) { Self.hold(track.bin, false) }
  }

  private static func hold(_ bin: Element, _ isHeld: Bool) {
    guard let valve = gst_bin_get_by_name(bin.asBin, "valve") else { return }
    defer { gst_object_unref(valve) }
    pipsink_webrtc_set_property(valve, "drop", isHeld ? "true" : "false")
  }

  /// Gives tracks that are not sent another direction: webrtcbin itself cannot change it and change it back.
  private func direct(_ text: String, _ direction: String) -> String {
    let withdrawn = tracks.withLock { tracks in tracks.indices.filter { !tracks[$0].isSent } }
    return SessionDescription.text(text) { withdrawn.contains($0) ? direction : nil }
  }
}
