import CGStreamer

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
  let status = EngineStatus()
  /// Streams with a pipeline of their own.
  let players = Locked<[StreamID: StreamPlayer]>([:])
  let customVideoRender = Locked(CustomVideoRender())
  /// Volumes, and what interrupts the streams.
  public let audioSession: AudioSession
  /// What the audio session calls the one stream of a player's engine.
  private let sharedStreamID: StreamID?

  /// What is running. Held through the whole of a start or stop; never taken by a streaming thread or the bus thread.
  private let control = Locked(Control())

  private struct Control {
    /// Parsed by `init` to find mistakes early; the first start takes it.
    var spare: Pipeline?
    var run: PipelineRun?
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
    self.audioSession = audioSession ?? AudioSession(status.broadcast)
    sharedStreamID = streamID
    self.description = description
    streamIDs = pipeline.streams.map(\.id)
    control.withLock { $0.spare = pipeline }
    status.add(streamIDs)
  }

  /// An engine without a pipeline: streams are started one by one
  /// (``startPlayingStream(_:from:configuration:deliveringTo:)``).
  public init() throws(PipSinkError) {
    try PipSink.initialize()
    description = nil
    audioSession = AudioSession(status.broadcast)
    sharedStreamID = nil
    streamIDs = []
  }

  deinit {
    stop()
  }

  /// The events from now on; each call gives a stream of its own. It ends when the engine goes away.
  public func events() -> AsyncStream<EngineEvent> {
    status.broadcast.stream()
  }

  public var state: EngineState { status.state.withLock { $0.engine } }

  /// Whether the pipeline and all streams with one of their own stand still. May be set while they run and before they
  /// start; waits for neither.
  public var isPaused: Bool {
    get { status.state.withLock { $0.isPaused } }
    set {
      control.withLock { control in
        status.state.withLock { $0.isPaused = newValue }
        control.run?.updatePause()
      }
      for player in players.withLock({ Array($0.values) }) { player.isPaused = newValue }
    }
  }

  /// Seconds without a frame after which a stream of the engine's pipeline counts as stalled; taken at the next start.
  public var stallTimeout: Double {
    get { status.state.withLock { $0.stallTimeout } }
    set { status.state.withLock { $0.stallTimeout = max(0.01, newValue) } }
  }

  /// Starts the pipeline. Returns when it is on its way; ``EngineEvent/stateChanged(_:)`` tells when it runs.
  ///
  /// - Parameter consumers: chooses what takes a stream's frames; asked once a stream, before the first frame.
  /// - Throws: ``PipSinkError/alreadyRunning``; the error of an element that refuses to start, when no stream is left
  ///   without it (a stream that is left goes on, and the others' failures arrive as events).
  public func start(deliveringTo consumers: (StreamID) -> any SampleBufferConsumer) throws(PipSinkError) {
    try control.withLock { control throws(PipSinkError) in
      guard control.run == nil else { throw .alreadyRunning }
      guard let description else { throw .emptyPipeline }
      let pipeline = if let spare = control.spare { spare } else { try Pipeline(description) }
      control.spare = nil
      let tap = beginCustomVideoRender()
      let run = PipelineRun(pipeline, status: status, audioSession: audioSession, sharedStreamID: sharedStreamID)
      do throws(PipSinkError) {
        try run.start { id in
          let consumer = consumers(id)
          return tap?(id, consumer) ?? consumer
        }
      } catch {
        endCustomVideoRender()
        throw error
      }
      control.run = run
    }
  }

  /// Stops the pipeline and all streams with one of their own, and waits until no frame is delivered any more and all
  /// its threads are gone. Does nothing when stopped.
  public func stop() {
    for id in playingStreamIDs { try? removePlayer(id) }
    control.withLock { control in
      guard let run = control.run else { return }
      run.stop()
      control.run = nil
      endCustomVideoRender()
    }
  }

  /// Has the decoders stand still or go on, as it is wanted now.
  func updateDecoding() {
    withRun { $0.updateDecoding() }
    for (id, player) in players.withLock({ $0 }) {
      player.isDecodingSuspended = status.state.withLock { $0.isSuspended(id) }
    }
  }

  /// Calls `body` with an element of the running pipeline: to set its properties, or for what has no interface here,
  /// such as webrtcbin's signalling. The element is borrowed; it may be kept with a reference of one's own, and outlives
  /// the run then.
  ///
  /// - Returns: nil when nothing runs, or no element has this name.
  public func withUnsafeElement<Result>(
    named name: String, _ body: (UnsafeMutablePointer<GstElement>) throws -> Result
  ) rethrows -> Result? {
    guard let run = withRun({ $0 }), let element = gst_bin_get_by_name(run.pipeline.element.asBin, name) else {
      return nil
    }
    defer { gst_object_unref(element) }
    return try body(element)
  }

  /// What runs now; nil when nothing does.
  func withRun<Result>(_ body: (PipelineRun) -> Result) -> Result? {
    control.withLock { $0.run }.map(body)
  }
}
