import CGStreamer
import CWebRTC
import PipSink

/// What the elements of a ``PeerConnection`` say, on threads of GStreamer. It never waits there.
final class PeerSignals: Sendable {
  enum Event: Sendable {
    case added(IncomingTrack)
    case level(AudioLevel, track: String)
    /// What the peer has said of the packets that were sent.
    case feedback(BitRateControl.Feedback)
  }

  let events: AsyncStream<Event>
  private let continuation: AsyncStream<Event>.Continuation
  let audioSink: String
  /// Completes when the pipeline plays: webrtcbin makes no descriptions before.
  let started = PeerConnection.Step<Void>()
  /// Completes when all candidates have been found, or when the connection fails.
  let gathered = PeerConnection.Step<Void>()
  let connected = PeerConnection.Step<Void>()
  /// Completes when the connection fails.
  let lost = Completion<PipSinkError>()
  /// The formats for transceivers that webrtcbin makes for the peer's media, by the numbers of those media.
  let formats = Locked<[guint: String]>([:])
  private let lastPacket = Locked(MonotonicTime.now)
  /// What the peer has said of packets, and since when.
  private let feedback = Locked((known: BitRateControl.Feedback(), since: MonotonicTime.now))
  private let trackCount = Locked(0)
  private let lastElementError = Locked<PipSinkError?>(nil)

  init(audioSink: String) {
    self.audioSink = audioSink
    (events, continuation) = AsyncStream.makeStream()
  }

  /// Ends the connection: whoever waits for it gets the error.
  func fail(_ error: PipSinkError) {
    lost.complete(error)
    started.complete(.failure(error))
    gathered.complete(.failure(error))
    connected.complete(.failure(error))
  }

  func end() { continuation.finish() }

  /// The last error that an element has posted.
  var elementError: PipSinkError? { lastElementError.withLock { $0 } }

  func send(_ event: Event) { continuation.yield(event) }

  /// How long nothing has come from the peer: neither media nor control packets.
  var silence: Duration { lastPacket.withLock { $0 }.duration(to: .now) }

  func notePacket() { lastPacket.withLock { $0 = .now } }

  // MARK: - Signals

  /// - Parameter latencyChanged: called on any thread when the pipeline's latency has to be told anew.
  func connect(to pipeline: Element, _ webrtc: Element, latencyChanged: @escaping @Sendable () -> Void) {
    typealias Added = @convention(c) (Element, UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Void
    typealias DeepAdded = @convention(c) (Element, Element, Element, UnsafeMutableRawPointer) -> Void
    typealias Changed = @convention(c) (Element, OpaquePointer?, UnsafeMutableRawPointer) -> Void
    let padAdded: Added = { webrtc, pad, data in
      PeerSignals.from(data).add(pad.assumingMemoryBound(to: GstPad.self), of: webrtc)
    }
    let transceiverAdded: Added = { _, transceiver, data in
      pipsink_webrtc_set_nack(transceiver, 1)
      let formats = PeerSignals.from(data).formats.withLock { $0[pipsink_webrtc_line(transceiver)] }
      if let formats { pipsink_webrtc_restrict_formats(transceiver, formats) }
    }
    let elementAdded: DeepAdded = { _, _, element, data in PeerSignals.from(data).prepare(element) }
    let gatheringChanged: Changed = { webrtc, _, data in
      guard Int(pipsink_webrtc_state(webrtc, "ice-gathering-state")) == PIPSINK_GATHERING_COMPLETE else { return }
      PeerSignals.from(data).gathered.complete(.success(()))
    }
    let stateChanged: Changed = { webrtc, _, data in
      let signals = PeerSignals.from(data)
      switch Int(pipsink_webrtc_state(webrtc, "connection-state")) {
      case PIPSINK_PEER_CONNECTED: signals.connected.complete(.success(()))
      case PIPSINK_PEER_FAILED: signals.fail(.call(.connectionLost(reason: "webrtcbin says that it failed")))
      case PIPSINK_PEER_CLOSED: signals.fail(.call(.connectionLost(reason: "the peer has closed it")))
      default: break
      }
    }
    on("pad-added", of: webrtc, unsafeBitCast(padAdded, to: GCallback.self))
    on("on-new-transceiver", of: webrtc, unsafeBitCast(transceiverAdded, to: GCallback.self))
    on("notify::ice-gathering-state", of: webrtc, unsafeBitCast(gatheringChanged, to: GCallback.self))
    on("notify::connection-state", of: webrtc, unsafeBitCast(stateChanged, to: GCallback.self))
    on("deep-element-added", of: pipeline, unsafeBitCast(elementAdded, to: GCallback.self))
    guard let bus = gst_element_get_bus(pipeline) else { return }
    defer { gst_object_unref(bus) }
    let box = ClosureBox<UnsafeMutablePointer<GstMessage>> { [self] message in
      if message.pointee.type == GST_MESSAGE_LATENCY { latencyChanged() } else { handle(message) }
    }
    gst_bus_set_sync_handler(
      bus,
      { _, message, box in
        guard let message else { return GST_BUS_DROP }
        ClosureBox<UnsafeMutablePointer<GstMessage>>.borrow(box)?.body(message)
        gst_message_unref(message)
        return GST_BUS_DROP
      }, box.retained(), { ClosureBox<UnsafeMutablePointer<GstMessage>>.take($0) })
  }

  static func from(_ data: UnsafeMutableRawPointer) -> PeerSignals {
    Unmanaged<PeerSignals>.fromOpaque(data).takeUnretainedValue()
  }

  private func on(_ signal: String, of element: Element, _ handler: GCallback) {
    g_signal_connect_data(
      element, signal, handler, Unmanaged.passRetained(self).toOpaque(),
      { data, _ in data.map { Unmanaged<PeerSignals>.fromOpaque($0).release() } }, GConnectFlags(rawValue: 0))
  }

  /// Prepares a new element for packets that are lost, before data flow through it.
  private func prepare(_ element: Element) {
    let names = [
      "automatic-request-sync-points", "discard-corrupted-frames", "request-keyframe", "wait-for-keyframe",
    ]
    guard let name = String(taking: pipsink_webrtc_factory_name(element)) else { return }
    for property in names { pipsink_webrtc_set_property(element, property, "true") }
    if name == "rtpbin" {
      // webrtcbin 1.22 leaves retransmission off although the transceiver of the pictures has do-nack. Where this side
      // sends, too, a jitter buffer for which it is switched on before this signal has it off afterwards.
      let added: @convention(c) (Element, Element, UInt32, UInt32, UnsafeMutableRawPointer?) -> Void = {
        _, jitterBuffer, _, _, _ in
        pipsink_webrtc_set_property(jitterBuffer, "do-retransmission", "true")
        // Otherwise the first packet after a pause counts as lost before it comes, and is thrown away then.
        pipsink_webrtc_set_property(jitterBuffer, "rtx-next-seqnum", "false")
      }
      on("new-jitterbuffer", of: element, unsafeBitCast(added, to: GCallback.self))
    }
    // By default feedback may take 5 % of what arrives, so that of a stream of few packets a second most requests for
    // lost ones come too late. Values above 1 are bits a second.
    if name == "rtpsession" {
      pipsink_webrtc_set_property(element, "rtcp-fraction", "50000")
      let changed: @convention(c) (Element, OpaquePointer?, UnsafeMutableRawPointer) -> Void = { session, _, data in
        PeerSignals.from(data).takeFeedback(of: session)
      }
      on("notify::twcc-stats", of: element, unsafeBitCast(changed, to: GCallback.self))
    }
    guard name == "nicesrc", let pad = gst_element_get_static_pad(element, "src") else { return }
    defer { gst_object_unref(pad) }
    gst_pad_add_probe(
      pad, GstPadProbeType(rawValue: GST_PAD_PROBE_TYPE_BUFFER.rawValue | GST_PAD_PROBE_TYPE_BUFFER_LIST.rawValue),
      { _, _, data in
        if let data { PeerSignals.from(data).notePacket() }
        return GST_PAD_PROBE_OK
      }, Unmanaged.passRetained(self).toOpaque(), { $0.map { Unmanaged<PeerSignals>.fromOpaque($0).release() } })
  }

  /// Notes what the peer says of packets, which it does after each picture, and passes it on four times a second.
  private func takeFeedback(of session: Element) {
    var (sent, received, bitsSent, bitsReceived): (guint, guint, guint, guint) = (0, 0, 0, 0)
    var loss = 0.0
    guard pipsink_webrtc_feedback(session, &sent, &received, &bitsSent, &bitsReceived, &loss) != 0 else { return }
    let isLossless = loss == 0
    let due = feedback.withLock { feedback -> BitRateControl.Feedback? in
      feedback.known.add(
        .init(
          packetsSent: Int(sent), packetsReceived: Int(received), bitsReceived: Double(bitsReceived), reportCount: 1,
          losslessBitsSent: isLossless ? Double(bitsSent) : 0,
          losslessBitsReceived: isLossless ? Double(bitsReceived) : 0))
      guard feedback.since.duration(to: .now) >= .milliseconds(250) else { return nil }
      defer { feedback = (.init(), .now) }
      return feedback.known
    }
    if let due { send(.feedback(due)) }
  }

  private func handle(_ message: UnsafeMutablePointer<GstMessage>) {
    guard let source = message.pointee.src else { return }
    switch message.pointee.type {
    case GST_MESSAGE_ELEMENT:
      if let level = AudioLevel(message) { send(.level(level, track: source.objectName)) }
    case GST_MESSAGE_ERROR:
      let posted = BusMessage.error(in: message, readsFiles: false)
      lastElementError.withLock { $0 = posted }
      // A track's own elements fail alone: what it shows stalls, and the connection goes on.
      guard case .pipeline(.elementFailed(let name, let text, _, _)) = posted,
        name.hasPrefix("nice") || name.hasPrefix("dtls")
      else { return }
      fail(.call(.connectionLost(reason: text)))
    default: break
    }
  }

  private func add(_ pad: Pad, of webrtc: Element) {
    guard gst_pad_get_direction(pad) == GST_PAD_SRC, let parent = gst_object_get_parent(webrtc.asObject) else { return }
    defer { gst_object_unref(parent) }
    let number = trackCount.withLock { count in
      defer { count += 1 }
      return count
    }
    do throws(PipSinkError) {
      let pipeline = UnsafeMutableRawPointer(parent).assumingMemoryBound(to: GstElement.self)
      send(.added(try IncomingTrack(from: pad, number: number, audioSink: audioSink, in: pipeline)))
    } catch {
      fail(error)
    }
  }
}
