import CGStreamer
import Logging

/// Runs a GStreamer pipeline and hands each stream's frames to its consumer.
///
/// Every appsink in the description is a stream, and its `name` is the stream ID. Frames are delivered on GStreamer's
/// streaming threads, at their time (unless the appsink says `sync=false`); everything else arrives as
/// ``EngineEvent``s.
///
/// A stream that ends or fails does not touch the others. `start(deliveringTo:)` and `stop()` may be called from any
/// thread but a streaming one, and wait for each other; the engine can be started again after a stop, with a new
/// pipeline from the same description.
public final class VideoEngine: Sendable {
  /// The streams, in the order of the description.
  public let streamIDs: [StreamID]

  private let description: PipelineDescription?
  let broadcast = Broadcast<EngineEvent>()
  /// Streams with a pipeline of their own.
  let players = Locked<[StreamID: StreamPlayer]>([:])
  let customVideoRender = Locked(CustomVideoRender())
  /// Volumes, and what interrupts the streams.
  public let audioSession: AudioSession
  /// What the audio session calls the one stream of a player's engine.
  let sharedStreamID: StreamID?
  private let logger = Logger(label: "pipsink.engine")

  /// What is running. Held through the whole of a start or stop; never taken by a streaming thread or the bus thread.
  private let control = Locked(Control())
  /// What streaming threads and the bus thread report. Held for a few instructions.
  private let progress = Locked(Progress())

  private struct Control {
    /// Parsed by `init` to find mistakes early; the first start takes it.
    var spare: Pipeline?
    var pipeline: Pipeline?
    var monitor: BusMonitor?
  }

  private struct Progress {
    var state = EngineState.stopped
    /// Counts starts, so that a late report of a stopped pipeline is not taken for the new one's.
    var run = 0
    var open: Set<StreamID> = []
    /// What decodebins said they have no plugin for, by the streams that need it.
    var missingPlugins: [StreamID: [String]] = [:]
    /// Frames that could not be read, since the last start.
    var skipped: [StreamID: UInt64] = [:]
    var isPaused = false
  }

  /// Parses the description; nothing runs yet.
  ///
  /// - Throws: ``PipSinkError``: syntax, a missing element, a link that is impossible, no stream, an unnamed one, two
  ///   of one name, caps that no frame of ours can have.
  public convenience init(_ description: PipelineDescription) throws(PipSinkError) {
    try self.init(description, sharing: nil, as: nil)
  }

  /// For a stream of another engine, whose audio session it shares.
  init(
    _ description: PipelineDescription, sharing audioSession: AudioSession?, as streamID: StreamID?
  ) throws(PipSinkError) {
    let pipeline = try Pipeline(description)
    self.audioSession = audioSession ?? AudioSession(broadcast)
    sharedStreamID = streamID
    self.description = description
    streamIDs = pipeline.streams.map(\.id)
    control.withLock { $0.spare = pipeline }
  }

  /// An engine without a pipeline: streams are started one by one
  /// (``startPlayingStream(_:from:configuration:deliveringTo:)``).
  public init() throws(PipSinkError) {
    try PipSink.initialize()
    description = nil
    audioSession = AudioSession(broadcast)
    sharedStreamID = nil
    streamIDs = []
  }

  deinit {
    stop()
  }

  /// The events from now on; each call gives a stream of its own. It ends when the engine goes away.
  public func events() -> AsyncStream<EngineEvent> {
    broadcast.stream()
  }

  public var state: EngineState { progress.withLock { $0.state } }

  /// Whether the pipeline stands still. May be set while it runs and before it starts; waits for neither.
  public var isPaused: Bool {
    get { progress.withLock { $0.isPaused } }
    set {
      control.withLock { control in
        progress.withLock { $0.isPaused = newValue }
        control.pipeline?.settle { wantedState }
      }
    }
  }

  var wantedState: GstState {
    isPaused || audioSession.interruption == .pause ? GST_STATE_PAUSED : GST_STATE_PLAYING
  }

  /// How many frames of a stream were left out since the last start, because they lie in memory that cannot be read.
  public func skippedFrameCount(of id: StreamID) -> UInt64 { progress.withLock { $0.skipped[id] ?? 0 } }

  /// Starts the pipeline. Returns when it is on its way; ``EngineEvent/stateChanged(_:)`` tells when it runs.
  ///
  /// - Parameter consumers: chooses what takes a stream's frames; asked once a stream, before the first frame.
  /// - Throws: ``PipSinkError/alreadyRunning``; the error of an element that refuses to start, when no stream is left
  ///   without it (a stream that is left goes on, and the others' failures arrive as events).
  public func start(deliveringTo consumers: (StreamID) -> any SampleBufferConsumer) throws(PipSinkError) {
    try control.withLock { control throws(PipSinkError) in
      guard control.pipeline == nil else { throw .alreadyRunning }
      guard let description else { throw .emptyPipeline }
      let pipeline = if let spare = control.spare { spare } else { try Pipeline(description) }
      control.spare = nil
      let run = progress.withLock { progress in
        progress.run += 1
        progress.open = Set(streamIDs)
        progress.missingPlugins = [:]
        progress.skipped = [:]
        return progress.run
      }
      let tap = beginCustomVideoRender()
      for stream in pipeline.streams {
        let consumer = consumers(stream.id)
        install(stream, consumer: tap?(stream.id, consumer) ?? consumer, run: run)
      }
      setState(.starting)
      attachAudio(of: pipeline)
      do throws(PipSinkError) {
        try bringUp(pipeline, run: run)
      } catch {
        audioSession.detach(pipeline)
        setState(.stopped)
        endCustomVideoRender()
        throw error
      }
      control.pipeline = pipeline
      // An interruption may have begun or ended meanwhile.
      pipeline.settle { wantedState }
      // The monitor gets the pipeline weakly, since the pipeline is to go away with `stop()` alone.
      control.monitor = BusMonitor(pipeline: pipeline) { [weak self, weak pipeline] message in
        guard let self, let pipeline else { return }
        handle(message, of: pipeline, run: run)
      }
    }
  }

  /// Stops the pipeline and all streams with one of their own, and waits until no frame is delivered any more and all its threads are gone. Does nothing when
  /// stopped.
  public func stop() {
    for player in players.withLock({ players in
      defer { players = [:] }
      return Array(players.values)
    }) { player.stop() }
    control.withLock { control in
      guard let pipeline = control.pipeline else { return }
      control.monitor?.stop()
      control.monitor = nil
      audioSession.detach(pipeline)
      pipeline.close()
      control.pipeline = nil
      VideoFormatDescription.forgetUnused()
      progress.withLock { $0.run += 1 }
      setState(.stopped)
      endCustomVideoRender()
    }
  }

  /// Calls `body` with a running pipeline's element. For tests that feed an appsrc.
  func withElement(named name: String, _ body: (GstElementPointer) throws -> Void) rethrows {
    guard let pipeline = control.withLock({ $0.pipeline }),
      let element = gst_bin_get_by_name(pipeline.element.asBin, name)
    else { return }
    defer { gst_object_unref(element) }
    try body(element)
  }

  // MARK: - Starting

  private func install(_ stream: Pipeline.Stream, consumer: any SampleBufferConsumer, run: Int) {
    let id = stream.id
    // Weak: the appsink, and so the pipeline, must not keep the engine.
    StreamSink.install(
      on: stream.appsink, consumer: consumer,
      handlers: .init(
        formatChanged: { [weak self] in self?.broadcast.send(.formatChanged(id, $0)) },
        failed: { [weak self] error in self?.close([id], run: run) { .streamFailed($0, error) } },
        skipped: { [weak self] caps in self?.countSkipped(id, caps: caps) }
      ))
  }

  private func countSkipped(_ id: StreamID, caps: String) {
    let count = progress.withLock { progress in
      progress.skipped[id, default: 0] += 1
      return progress.skipped[id]
    }
    if count == 1 { broadcast.send(.framesSkipped(id, caps: caps)) }
  }

  /// Sets the pipeline going; where an element refuses, its streams are taken out and the rest is tried again.
  private func bringUp(_ pipeline: Pipeline, run: Int) throws(PipSinkError) {
    while gst_element_set_state(pipeline.element, wantedState) == GST_STATE_CHANGE_FAILURE {
      let (error, source) = firstError(on: pipeline)
      defer { if let source { gst_object_unref(source) } }
      let affected = source.map(pipeline.streams(dependingOn:)) ?? pipeline.streams
      if affected.isEmpty, let source, removeAudio(source, of: pipeline, run: run, after: error, isRunning: false) {
        continue
      }
      let left = progress.withLock { $0.open.subtracting(affected.map(\.id)) }
      // An element on no stream's way is in one piece with the pipeline: without it nothing starts.
      guard !left.isEmpty, left.count < progress.withLock({ $0.open.count }) else {
        gst_element_set_state(pipeline.element, GST_STATE_NULL)
        throw error
      }
      gst_element_set_state(pipeline.element, GST_STATE_NULL)
      pipeline.isolate(affected)
      close(affected.map(\.id), run: run) { .streamFailed($0, error) }
    }
  }

  /// The error that made a state change fail, with a reference to its element.
  private func firstError(on pipeline: Pipeline) -> (PipSinkError, UnsafeMutablePointer<GstObject>?) {
    let bus = gst_element_get_bus(pipeline.element)
    defer { gst_object_unref(bus) }
    guard let message = gst_bus_pop_filtered(bus, GST_MESSAGE_ERROR) else {
      return (.stateChangeFailed(pipeline: pipeline.element.elementName), nil)
    }
    defer { gst_message_unref(message) }
    let source = message.pointee.src
    if let source { gst_object_ref(source) }
    return (BusMessage.error(in: message), source)
  }

  // MARK: - Messages, on the bus thread

  private func handle(_ message: UnsafeMutablePointer<GstMessage>, of pipeline: Pipeline, run: Int) {
    if handleAudio(message, of: pipeline, run: run) { return }
    switch message.pointee.type {
    case GST_MESSAGE_ERROR:
      handleError(message, of: pipeline, run: run)
    case GST_MESSAGE_WARNING:
      broadcast.send(BusMessage.warning(in: message))
    case GST_MESSAGE_STATE_CHANGED where message.pointee.src == pipeline.element.asObject:
      var new = GST_STATE_NULL
      gst_message_parse_state_changed(message, nil, &new, nil)
      setState(new == GST_STATE_PLAYING ? .running : wantedState == GST_STATE_PAUSED ? .paused : .starting)
    case GST_MESSAGE_LATENCY:
      gst_bin_recalculate_latency(pipeline.element.asBin)
    case GST_MESSAGE_CLOCK_LOST:
      // GStreamer's own advice: a new clock is chosen on the way from PAUSED to PLAYING.
      pipeline.settle { GST_STATE_PAUSED }
      pipeline.settle { wantedState }
    case GST_MESSAGE_APPLICATION:
      if let id = BusMessage.endedStream(in: message) { close([id], run: run, event: EngineEvent.streamEnded) }
    case GST_MESSAGE_ELEMENT:
      if let missing = BusMessage.missingPlugin(in: message) {
        let needy = message.pointee.src.map(pipeline.streams(dependingOn:)) ?? []
        progress.withLock { progress in
          for stream in needy { progress.missingPlugins[stream.id, default: []].append(missing) }
        }
      }
    default:
      break
    }
  }

  private func handleError(_ message: UnsafeMutablePointer<GstMessage>, of pipeline: Pipeline, run: Int) {
    guard let source = message.pointee.src else { return }
    let posted = BusMessage.error(in: message)
    // What was isolated may still have something to say.
    guard pipeline.contains(source) else {
      logger.debug("error behind a stream's end: \(posted)")
      return
    }
    let dependent = pipeline.streams(dependingOn: source)
    guard !dependent.isEmpty else {
      if removeAudio(source, of: pipeline, run: run, after: posted, isRunning: true) {
        return pipeline.settle { wantedState }
      }
      // A recording, for instance: no stream has failed.
      if case .elementFailed(let element, let text, let detail) = posted {
        broadcast.send(.warning(element: element, message: text, detail: detail))
      }
      return
    }
    let open = progress.withLock { $0.open }
    let affected = dependent.filter { open.contains($0.id) }
    guard !affected.isEmpty else { return }
    let error = cause(of: posted, affected: affected)
    let failsAll = affected.count == open.count
    close(affected.map(\.id), run: run) { .streamFailed($0, error) }
    guard !failsAll else { return }
    // Left where it is, a failed branch would keep the others from prerolling; and a failed preroll ends the pipeline's
    // own way up, which is asked for again.
    pipeline.isolate(affected)
    audioSession.outputs(of: pipeline)?.removeLost()
    pipeline.settle { wantedState }
  }

  /// GStreamer reports a decoder that is missing, or caps that do not fit, as "Internal data stream error"; this says
  /// what is wrong.
  private func cause(of posted: PipSinkError, affected: [Pipeline.Stream]) -> PipSinkError {
    let missing = progress.withLock { progress in affected.flatMap { progress.missingPlugins[$0.id] ?? [] } }
    if !missing.isEmpty { return .missingElements(missing) }
    guard case .elementFailed(_, _, let detail?) = posted, detail.contains("not-negotiated") else { return posted }
    for stream in affected {
      guard let pad = gst_element_get_static_pad(stream.appsink, "sink") else { continue }
      defer { gst_object_unref(pad) }
      guard let offered = gst_pad_peer_query_caps(pad, nil) else { continue }
      defer { gst_caps_unref(offered) }
      guard let allowed = gst_pad_query_caps(pad, nil) else { continue }
      defer { gst_caps_unref(allowed) }
      if gst_caps_can_intersect(offered, allowed) == 0 {
        return .unsupportedCaps(streamID: stream.id, caps: shortDescription(of: offered))
      }
    }
    return posted
  }

  // MARK: - Reports, from every thread

  private func setState(_ state: EngineState) {
    let isNew = progress.withLock { progress in
      defer { progress.state = state }
      return progress.state != state
    }
    if isNew { broadcast.send(.stateChanged(state)) }
  }

  /// Counts streams out that ended or failed, each once, and says so; after the last one, that all are done.
  func close(_ ids: [StreamID], run: Int, event: (StreamID) -> EngineEvent) {
    let (closed, isLast) = progress.withLock { progress -> ([StreamID], Bool) in
      guard progress.run == run else { return ([], false) }
      let closed = ids.filter { progress.open.remove($0) != nil }
      return (closed, !closed.isEmpty && progress.open.isEmpty)
    }
    for id in closed { broadcast.send(event(id)) }
    if isLast { broadcast.send(.finished) }
  }
}
