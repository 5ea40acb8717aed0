import CGStreamer
import CWebRTC
import PipSink

/// The tracks that a connection sends, with the elements that encode them. They live as long as the connection.
///
/// `@unchecked Sendable`: the pointers are constant, and GStreamer's objects may be used from every thread.
final class OutgoingTracks: @unchecked Sendable {
  /// A medium that is sent.
  struct Line {
    let isVideo: Bool
    /// The number that its packets have in RTP.
    var payloadType: Int
    /// Whether the peer may send in it, too.
    var isReceived: Bool
    /// The number of the header extension by which the peer says what has arrived; nil for none.
    var feedbackExtension: Int?
  }

  let picture: OutgoingPicture
  /// The pad of webrtcbin that gets the picture.
  let pad: Pad
  private let encoder: Element
  private let volume: Element?

  /// Encodes VP8 and Opus for webrtcbin. It may block, as a microphone does that cannot be opened.
  ///
  /// - Throws: the errors of a pipeline's description, and
  ///   ``PipSinkError/Pipeline/elementFailed(element:message:detail:kind:)``.
  init(
    _ sending: WebRTCConnection.Sending, video: Line, audio: Line?, on connection: PeerConnection
  ) throws(PipSinkError) {
    let description =
      "appsrc name=source is-live=true format=time do-timestamp=true max-buffers=2 max-bytes=0 leaky-type=downstream "
      + "! \(Self.encoder(sending)) ! rtpvp8pay pt=\(video.payloadType) mtu=1200 picture-id-mode=15-bit "
      + "! capsfilter caps=\"application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000"
      + (video.feedbackExtension.map { ",\(SessionDescription.feedbackFields($0))" } ?? "")
    let (bin, pad) = try Self.add(description, video, sending, connection)
    defer { gst_object_unref(bin) }
    guard let source = gst_bin_get_by_name(bin.asBin, "source"),
      let encoder = gst_bin_get_by_name(bin.asBin, Self.encoderName)
    else { throw .pipeline(.missingElements(["appsrc", "vp8enc"])) }
    (self.pad, self.encoder) = (pad, encoder)
    picture = OutgoingPicture(source, limit: sending.maximumSize)
    gst_object_unref(source)
    guard let sound = sending.audioSource, let audio else {
      volume = nil
      return
    }
    let soundEncoder =
      "\(sound) ! queue leaky=downstream max-size-buffers=0 max-size-bytes=0 max-size-time=200000000 ! audioconvert "
      + "! audioresample ! volume name=\(Self.volumeName) mute=true ! opusenc ! rtpopuspay pt=\(audio.payloadType) "
      + "! capsfilter caps=\"application/x-rtp,media=audio,encoding-name=OPUS,clock-rate=48000,encoding-params=(string)2"
    do throws(PipSinkError) {
      // After an error every property has a value, so that deinit releases them.
      let (soundBin, soundPad) = try Self.add(soundEncoder, audio, sending, connection)
      volume = gst_bin_get_by_name(soundBin.asBin, Self.volumeName)
      gst_object_unref(soundBin)
      gst_object_unref(soundPad)
    } catch {
      volume = nil
      throw error
    }
  }

  deinit {
    gst_object_unref(pad)
    gst_object_unref(encoder)
    if let volume { gst_object_unref(volume) }
  }

  /// The encoder of the picture. However often the peer requests keyframes, it makes two a second. It drops frames rather
  /// than make more bits than it may, and tries to make keyframes of at most three times the bits of another frame.
  static func encoder(_ sending: WebRTCConnection.Sending) -> String {
    "vp8enc name=\(encoderName) deadline=1 cpu-used=8 threads=2 end-usage=cbr dropframe-threshold=30 "
      + "buffer-initial-size=500 buffer-optimal-size=600 buffer-size=1000 max-intra-bitrate=300 "
      + "target-bitrate=\(BitRateControl(limit: sending.bitRate, hasFeedback: false).bitRate) "
      + "keyframe-max-dist=300 min-force-key-unit-interval=500000000"
  }

  static let encoderName = "pipsink-encoder"
  private static let volumeName = "pipsink-microphone"

  /// Sets how many bits per second the picture takes from now on, on a thread of GStreamer's, since the encoder may work
  /// on a frame meanwhile.
  func setBitRate(_ bitRate: Int) {
    picture.setBitRate(bitRate)
    let box = ClosureBox<Element> { pipsink_webrtc_set_property($0, "target-bitrate", "\(bitRate)") }
    gst_element_call_async(
      encoder, { encoder, box in if let encoder { ClosureBox<Element>.borrow(box)?.body(encoder) } }, box.retained(),
      { ClosureBox<Element>.take($0) })
  }

  /// Whether silence is sent in place of the sound, as it is at first.
  func setMuted(_ isMuted: Bool) {
    if let volume { pipsink_webrtc_set_property(volume, "mute", isMuted ? "true" : "false") }
  }

  /// Adds elements that end in packets, and has webrtcbin send those.
  private static func add(
    _ description: String, _ line: Line, _ sending: WebRTCConnection.Sending, _ connection: PeerConnection
  ) throws(PipSinkError) -> (bin: Element, pad: Pad) {
    // With the source's number in the caps, the offer has it before there are packets.
    let full = "\(description),payload=\(line.payloadType),ssrc=(uint)\(UInt32.random(in: 1 ... .max))\""
    let element = try PipelineParser.parseBin(full, hasGhostPads: true)
    guard let source = gst_element_get_static_pad(element, "src") else {
      gst_object_unref(element)
      throw .pipeline(.invalid(reason: description))
    }
    defer { gst_object_unref(source) }
    guard let pad = gst_element_request_pad_simple(connection.webrtc, "sink_%u") else {
      gst_object_unref(element)
      throw .pipeline(.missingElements(["webrtcbin"]))
    }
    pipsink_webrtc_set_property(pad, "msid", sending.mediaStreamName)
    if let transceiver = pipsink_webrtc_transceiver(pad) {
      // Chromium refuses offers in which sound has a second source for packets that are sent again.
      pipsink_webrtc_set_nack(transceiver, line.isVideo ? 1 : 0)
      if !line.isReceived { pipsink_webrtc_set_property(transceiver, "direction", "sendonly") }
      g_object_unref(transceiver)
    }
    gst_bin_add(connection.pipeline.asBin, element)
    guard gst_pad_link(source, pad) == GST_PAD_LINK_OK, gst_element_sync_state_with_parent(element) != 0 else {
      defer {
        gst_object_unref(element)
        gst_object_unref(pad)
      }
      throw connection.signals.elementError ?? .pipeline(.stateChangeFailed(pipeline: description))
    }
    return (element, pad)
  }
}

extension WebRTCConnection.Sending {
  /// The name as SDP can have it.
  var mediaStreamName: String {
    let text = (name ?? streamID.rawValue).utf8.prefix(64).map { byte in
      let isAllowed = Self.nameBytes.contains(byte)
      return Character(UnicodeScalar(isAllowed ? byte : UInt8(ascii: "-")))
    }
    return text.isEmpty ? "-" : String(text)
  }

  private static let nameBytes = Set("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.+".utf8)
}
