import CGStreamer
import CWebRTC
import PipSink

typealias Element = UnsafeMutablePointer<GstElement>

/// One pipeline with a webrtcbin, from its start to its end. A restart makes a new one.
///
/// `@unchecked Sendable`: the pointers are constant, and GStreamer's elements may be used from every thread.
final class PeerConnection: @unchecked Sendable {
  typealias Step<Value: Sendable> = Completion<Result<Value, PipSinkError>>

  let pipeline: Element
  let webrtc: Element
  let signals: PeerSignals
  private let isClosed = Locked(false)
  /// Held while the state changes.
  private let changing = Locked(())
  /// Whether a thread is about to tell the latency anew.
  private let isLatencyDue = Locked(false)

  /// Makes the pipeline, and plays it.
  ///
  /// - Parameter servers: servers that are used beside those of the configuration.
  /// - Throws: ``PipSinkError/Pipeline/missingElements(_:)``.
  init(_ configuration: WebRTCConnection.Configuration, _ servers: [ICEServer] = []) throws(PipSinkError) {
    try PipSink.initialize()
    guard let webrtc = gst_element_factory_make("webrtcbin", nil), let pipeline = gst_pipeline_new(nil) else {
      throw .pipeline(.missingElements(["webrtcbin"]))
    }
    (self.pipeline, self.webrtc) = (pipeline, webrtc)
    signals = PeerSignals(audioSink: configuration.audioSink)
    pipsink_webrtc_disable_port_mapping(webrtc)
    let latency = max(0, configuration.latency / .milliseconds(1))
    pipsink_webrtc_set_property(webrtc, "bundle-policy", "max-bundle")
    pipsink_webrtc_set_property(webrtc, "latency", String(Int(min(latency, 60_000))))
    // webrtcbin asks one server for this machine's address, and any number to relay.
    let stunServer = configuration.stunServer ?? servers.first { !$0.isRelay }?.url
    if let stunServer { pipsink_webrtc_set_property(webrtc, "stun-server", stunServer) }
    if let server = configuration.turnServer { pipsink_webrtc_set_property(webrtc, "turn-server", server) }
    for server in servers where server.isRelay { pipsink_webrtc_add_relay(webrtc, server.url) }
    signals.connect(to: pipeline, webrtc) { [weak self] in self?.updateLatency() }
    // The pipeline takes the floating reference of the element.
    gst_bin_add(pipeline.asBin, webrtc)
    let signals = self.signals
    change(to: GST_STATE_PLAYING) { isDone in
      guard isDone else { return signals.fail(.pipeline(.stateChangeFailed(pipeline: "webrtcbin"))) }
      signals.started.complete(.success(()))
    }
  }

  deinit { close() }

  /// Stops the pipeline on a thread of its own, since elements may block meanwhile. A second call does nothing.
  @discardableResult
  func close() -> Completion<Void> {
    let done = Completion<Void>()
    guard !isClosed.exchange(true) else {
      done.complete(())
      return done
    }
    change(to: GST_STATE_NULL) { _ in done.complete(()) }
    gst_object_unref(pipeline)
    signals.end()
    return done
  }

  private func change(to state: GstState, _ done: @escaping @Sendable (Bool) -> Void) {
    let address = UInt(bitPattern: gst_object_ref(pipeline))
    let body: @Sendable () -> Void = { [isClosed, changing] in
      guard let pipeline = Element(bitPattern: address) else { return }
      let result = changing.withLock { _ in
        // The thread that stops the pipeline may have been faster than the one that starts it.
        if state == GST_STATE_NULL { return Self.stop(pipeline) }
        return isClosed.withLock { $0 } ? GST_STATE_CHANGE_FAILURE : gst_element_set_state(pipeline, state)
      }
      gst_object_unref(pipeline)
      done(result != GST_STATE_CHANGE_FAILURE)
    }
    if WorkerThread(name: "pip-call", body: body) == nil { body() }
  }

  /// Tells all elements the latency of the slowest one, as GStreamer asks the owner of a pipeline to do when elements
  /// have come: those that play wait so long, and those that send packets say when these were taken. It runs on a thread
  /// of its own, since elements may block meanwhile.
  private func updateLatency() {
    guard !isLatencyDue.exchange(true) else { return }
    let body: @Sendable () -> Void = { [self] in
      changing.withLock { _ in
        isLatencyDue.withLock { $0 = false }
        if !isClosed.withLock({ $0 }) { gst_bin_recalculate_latency(pipeline.asBin) }
      }
    }
    if WorkerThread(name: "pip-call", body: body) == nil { isLatencyDue.withLock { $0 = false } }
  }

  /// Stops all elements, also beside one that could never be started, such as a sound card that is not there. On the way
  /// down a pipeline tries to start that again, and stays as it is when that fails.
  private static func stop(_ pipeline: Element) -> GstStateChangeReturn {
    let result = gst_element_set_state(pipeline, GST_STATE_NULL)
    guard result == GST_STATE_CHANGE_FAILURE else { return result }
    for element in collectObjects(gst_bin_iterate_elements(pipeline.asBin), as: GstElement.self) {
      gst_element_set_locked_state(element, 1)
      gst_element_set_state(element, GST_STATE_NULL)
      gst_object_unref(element)
    }
    return gst_element_set_state(pipeline, GST_STATE_NULL)
  }

  /// Begins to encode what is sent, on a thread of its own, since a microphone may block.
  func makeTracks(
    _ sending: WebRTCConnection.Sending, video: OutgoingTracks.Line, audio: OutgoingTracks.Line?
  ) -> Step<OutgoingTracks> {
    let done = Step<OutgoingTracks>()
    let body: @Sendable () -> Void = { [self] in
      let result = changing.withLock { _ in
        Result { () throws(PipSinkError) in
          guard !isClosed.withLock({ $0 }) else { throw .call(.connectionLost(reason: Self.endedHere)) }
          return try OutgoingTracks(sending, video: video, audio: audio, on: self)
        }
      }
      done.complete(result)
    }
    if WorkerThread(name: "pip-call", body: body) == nil { body() }
    return done
  }

  /// Why a connection is lost that is ended on this side.
  static let endedHere = "it has been ended here"

  // MARK: - Descriptions

  /// Makes an offer or an answer: `kind` is "offer" or "answer".
  func create(_ kind: String) -> Step<String> {
    ask(
      { pipsink_webrtc_create(webrtc, "create-\(kind)", $0) },
      read: { String(taking: pipsink_webrtc_reply_text($0, kind)) })
  }

  /// Sets the description of one side: `side` is "local" or "remote".
  func set(_ side: String, _ kind: String, _ text: String) -> Step<Void> {
    var message: UnsafeMutablePointer<GstSDPMessage>?
    guard gst_sdp_message_new_from_text(text, &message) == GST_SDP_OK else {
      let done = Step<Void>()
      done.complete(.failure(.call(.invalidDescription(reason: "it cannot be read"))))
      return done
    }
    defer { gst_sdp_message_free(message) }
    let type = kind == "offer" ? PIPSINK_SDP_OFFER : PIPSINK_SDP_ANSWER
    return ask({ pipsink_webrtc_set(webrtc, "set-\(side)-description", gint(type), message, $0) }, read: { _ in () })
  }

  /// The local description, with the candidates that have been found so far.
  var localDescription: String? { String(taking: pipsink_webrtc_local_text(webrtc)) }

  /// The certificate (PEM) that the peer has shown; nil before.
  var peerCertificate: String? { String(taking: pipsink_webrtc_peer_certificate(webrtc)) }

  /// Asks for statistics of the track of a pad. webrtcbin says those of all tracks that share its transport.
  func statistics(of pad: Pad) -> Step<WebRTCConnection.Statistics> {
    let source = Self.source(of: pad)
    return ask(
      { pipsink_webrtc_get_statistics(webrtc, pad, $0) },
      read: { $0.map { WebRTCConnection.Statistics($0, of: source) } })
  }

  /// The source (SSRC) of the packets at a pad of webrtcbin; nil while it is unknown.
  private static func source(of pad: Pad) -> guint? {
    guard let caps = gst_pad_get_current_caps(pad) else { return nil }
    defer { gst_caps_unref(caps) }
    var source: guint = 0
    return gst_structure_get_uint(gst_caps_get_structure(caps, 0), "ssrc", &source) != 0 ? source : nil
  }

  /// Has webrtcbin answer through a promise.
  private func ask<Value: Sendable>(
    _ emit: (UnsafeMutablePointer<GstPromise>?) -> Void,
    read: @escaping @Sendable (UnsafePointer<GstStructure>?) -> Value?
  ) -> Step<Value> {
    let done = Step<Value>()
    let box = ClosureBox<UnsafePointer<GstStructure>?> { reply in
      if let error = String(taking: pipsink_webrtc_reply_error(reply)) {
        done.complete(.failure(.call(.invalidDescription(reason: error))))
      } else if let value = read(reply) {
        done.complete(.success(value))
      } else {
        done.complete(.failure(.call(.invalidDescription(reason: "webrtcbin cannot answer"))))
      }
    }
    let promise = gst_promise_new_with_change_func(
      { promise, box in
        let reply = gst_promise_wait(promise) == GST_PROMISE_RESULT_REPLIED ? gst_promise_get_reply(promise) : nil
        ClosureBox<UnsafePointer<GstStructure>?>.borrow(box)?.body(reply)
      }, box.retained(), { ClosureBox<UnsafePointer<GstStructure>?>.take($0) })
    emit(promise)
    gst_promise_unref(promise)
    return done
  }
}

extension WebRTCConnection.Statistics {
  /// Reads a reply of webrtcbin to "get-stats" for a pad: a structure with structures.
  ///
  /// - Parameter source: the source of the packets (SSRC) that is counted; nil for all.
  init(_ reply: UnsafePointer<GstStructure>, of source: guint?) {
    for index in 0..<gst_structure_n_fields(reply) {
      let name = gst_structure_nth_field_name(reply, guint(index))
      guard let value = gst_structure_get_value(reply, name), value.pointee.g_type == gst_structure_get_type(),
        let structure = gst_value_get_structure(value)
      else { continue }
      var other: guint = 0
      if let source, gst_structure_get_uint(structure, "ssrc", &other) != 0, other != source { continue }
      add(structure)
    }
  }

  private mutating func add(_ structure: UnsafePointer<GstStructure>) {
    var number: guint64 = 0
    var time = 0.0
    var (lost, lost64): (gint, gint64) = (0, 0)
    if gst_structure_get_uint64(structure, "packets-received", &number) != 0 { packetsReceived += UInt64(number) }
    if gst_structure_get_uint64(structure, "bytes-received", &number) != 0 { bytesReceived += UInt64(number) }
    if gst_structure_get_uint64(structure, "packets-sent", &number) != 0 { packetsSent += UInt64(number) }
    if gst_structure_get_uint64(structure, "bytes-sent", &number) != 0 { bytesSent += UInt64(number) }
    if gst_structure_get_int(structure, "packets-lost", &lost) != 0 { packetsLost += Int(lost) }
    if gst_structure_get_int64(structure, "packets-lost", &lost64) != 0 { packetsLost += Int(lost64) }
    if gst_structure_get_double(structure, "jitter", &time) != 0 { jitter = max(jitter, time) }
    if gst_structure_get_double(structure, "round-trip-time", &time) != 0 { roundTripTime = time }
  }
}
