import CGStreamer
import CWebRTC
import PipSink

typealias Pad = UnsafeMutablePointer<GstPad>

/// A track that comes from the peer, with the elements that decode it. It lives as long as its connection, also while
/// the peer does not send it.
///
/// `@unchecked Sendable`: the pointers are constant, and GStreamer's objects may be used from every thread.
final class IncomingTrack: @unchecked Sendable {
  private enum Output {
    /// Nobody has wanted frames yet. The newest one is kept.
    case waiting(PixelBuffer?)
    case input(StreamInput?, UpstreamDemand?)
  }

  /// The name of the element that measures the sound.
  let name: String
  let mid: String
  let isVideo: Bool
  /// The pad of webrtcbin.
  let pad: Pad
  private let bin: Element
  private let output = Locked(Output.waiting(nil))

  /// Decodes what comes from a new pad of webrtcbin.
  ///
  /// - Parameter number: how many tracks came before.
  /// - Throws: the errors of a pipeline's description, for instance for the audio sink of an app.
  init(from pad: Pad, number: Int, audioSink: String, in pipeline: Element) throws(PipSinkError) {
    Self.isolate(pad)
    let caps = gst_pad_get_current_caps(pad) ?? gst_pad_query_caps(pad, nil)
    defer { gst_caps_unref(caps) }
    let media = gst_caps_get_size(caps) > 0 ? gst_structure_get_string(gst_caps_get_structure(caps, 0), "media") : nil
    isVideo = media.map { String(cString: $0) } == "video"
    name = "track-\(number)"
    mid = String(taking: pipsink_webrtc_mid(pad)) ?? String(number)
    let description =
      isVideo
      ? "decodebin name=decoder ! videoconvert ! appsink name=sink caps=video/x-raw max-buffers=3"
      : "decodebin name=decoder ! audioconvert ! audioresample ! level name=\(name) ! volume name=volume ! \(audioSink)"
    bin = try PipelineParser.parseBin(description, hasGhostPads: false)
    self.pad = UnsafeMutableRawPointer(gst_object_ref(pad)).assumingMemoryBound(to: GstPad.self)
    let decoder = gst_bin_get_by_name(bin.asBin, "decoder")
    if isVideo { takeFrames() }
    // GStreamer would choose the pad of the element that decodebin is linked to later.
    let inner = gst_element_get_static_pad(decoder, "sink")
    let sink = gst_ghost_pad_new("sink", inner)
    gst_element_add_pad(bin, sink)
    gst_object_unref(inner)
    gst_object_unref(decoder)
    // Otherwise all tracks would wait for the first frame of each.
    pipsink_webrtc_set_property(bin, "async-handling", "true")
    gst_bin_add(pipeline.asBin, bin)
    gst_element_sync_state_with_parent(bin)
    gst_pad_link(pad, sink)
  }

  deinit {
    gst_object_unref(pad)
    gst_object_unref(bin)
  }

  /// Keeps all other tracks of the connection from ending with this one: what its elements return would go back to the
  /// source of all packets, which ends for good unless it is OK.
  private static func isolate(_ pad: Pad) {
    let proxy = UnsafeMutableRawPointer(pad).assumingMemoryBound(to: GstProxyPad.self)
    guard let inner = gst_proxy_pad_get_internal(proxy) else { return }
    defer { gst_object_unref(inner) }
    gst_pad_set_chain_function_full(
      UnsafeMutableRawPointer(inner).assumingMemoryBound(to: GstPad.self),
      { pad, parent, buffer in
        gst_proxy_pad_chain_default(pad, parent, buffer)
        return GST_FLOW_OK
      }, nil, nil)
  }

  /// Has frames pushed into an input; nil for no longer.
  ///
  /// - Parameter upstream: says which frames a suspended decoder still held.
  func deliver(to input: StreamInput?, _ upstream: UpstreamDemand? = nil) {
    let before = output.exchange(.input(input, upstream))
    if case .waiting(let frame?) = before { input?.push(frame) }
  }

  /// Calls `body` with the pad at which the frames arrive; it is borrowed.
  func withFramePad<Value>(_ body: (Pad) -> Value) -> Value? {
    guard let sink = gst_bin_get_by_name(bin.asBin, "sink") else { return nil }
    defer { gst_object_unref(sink) }
    guard let pad = gst_element_get_static_pad(sink, "sink") else { return nil }
    defer { gst_object_unref(pad) }
    return body(pad)
  }

  /// The element with the track's volume, which the caller releases.
  func takeVolume() -> Element? { gst_bin_get_by_name(bin.asBin, "volume") }

  /// Passes frames on, on the track's streaming thread.
  private func takeFrames() {
    guard let sink = gst_bin_get_by_name(bin.asBin, "sink") else { return }
    defer { gst_object_unref(sink) }
    var callbacks = GstAppSinkCallbacks()
    callbacks.new_sample = { sink, data in
      guard let data, let sample = gst_app_sink_pull_sample(sink) else { return GST_FLOW_OK }
      defer { gst_sample_unref(sample) }
      guard let frame = try? PixelBuffer(unsafeGstSample: sample), let buffer = gst_sample_get_buffer(sample) else {
        return GST_FLOW_OK
      }
      let output = Unmanaged<Locked<Output>>.fromOpaque(data).takeUnretainedValue()
      let (input, upstream) = output.withLock { output -> (StreamInput?, UpstreamDemand?) in
        if case .input(let input, let upstream) = output { return (input, upstream) }
        output = .waiting(frame)
        return (nil, nil)
      }
      if upstream?.isLeftOver(buffer) != true { input?.push(frame) }
      return GST_FLOW_OK
    }
    sink.withMemoryRebound(to: GstAppSink.self, capacity: 1) {
      gst_app_sink_set_callbacks(
        $0, &callbacks, Unmanaged.passRetained(output).toOpaque(),
        { $0.map { Unmanaged<Locked<Output>>.fromOpaque($0).release() } })
    }
  }
}
