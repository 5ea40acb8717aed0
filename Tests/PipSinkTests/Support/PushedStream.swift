import CGStreamer

@testable import PipSink
@testable import TestSupport

/// A stream whose frames, failures and messages come when the test says so. It records what its engine reports.
final class PushedStream: Sendable {
  /// How the engine has got the stream.
  enum Kind: CaseIterable {
    /// In the pipeline that the engine begins with.
    case first
    /// With a pipeline of its own.
    case added
  }

  /// The source of this description is called "source". It delivers nothing unless the test tells it to.
  static let description: PipelineDescription = .text(
    PushedSource.description(named: "source") + " ! appsink name=a sync=false")

  let engine: VideoEngine
  private let kind: Kind
  let frames = CountingConsumer()
  private let configuration: PipelineConfiguration
  private let log = Locked<[StreamPlayState]>([])
  private let events = Locked<[EngineEvent]>([])

  init(_ kind: Kind, _ configuration: PipelineConfiguration, clock: ManualClock) throws {
    (self.kind, self.configuration) = (kind, configuration)
    engine = try VideoEngine(kind == .first ? Self.description : nil, clock: clock.clock)
    engine.configuration = configuration
    engine.status.broadcast.observe { [log, events] event in
      switch event {
      case .streamStateChanged(_, let state): log.withLock { $0.append(state) }
      default: events.withLock { $0.append(event) }
      }
    }
  }

  func start() async throws {
    let frames = frames
    switch kind {
    case .first: try await engine.start { _ in frames }
    case .added:
      try engine.startPlayingStream("a", from: Self.description, configuration: configuration) { _ in frames }
    }
  }

  func startAnew() async throws {
    await engine.stop()
    try await start()
  }

  /// The last state that was reported.
  var state: StreamPlayState { states.last ?? .stopped }

  /// All states that were reported so far.
  var states: [StreamPlayState] { log.withLock { $0 } }

  /// The state of the stream's pipeline, or nil where there is none.
  private var pipelineState: EngineState? { engine.player(of: "a")?.pipelineState }

  /// Whether the stream's pipeline is paused.
  var isStandingStill: Bool { pipelineState == .paused }

  /// The numbers of the tries that were announced.
  var attempts: [Int] {
    states.compactMap { if case .reconnecting(let attempt, _, _) = $0 { attempt } else { nil } }
  }

  var isReconnecting: Bool { if case .reconnecting = state { true } else { false } }

  /// Waits until an event was reported that is not a change of state.
  ///
  /// - Returns: false when there is no such event within 20 seconds.
  func isTold(_ isWanted: (EngineEvent) -> Bool) async -> Bool {
    await eventually(within: 20) { hasTold(isWanted) }
  }

  /// Whether an event has been reported that is not a change of state.
  func hasTold(_ isWanted: (EngineEvent) -> Bool) -> Bool { events.withLock { $0.contains(where: isWanted) } }

  private func withSource(_ body: @escaping (GstElementPointer) -> Void) {
    PushedSource.wait(for: { engine.run(of: "a")?.withUnsafeElement(named: "source", $0) }, body)
  }

  /// Sends a frame.
  func push() { withSource(PushedSource.push) }

  /// Sends the first frame, and waits until the pipeline runs.
  func play() async -> Bool {
    push()
    return await eventually(within: 20) { hasArrived && pipelineState == .running }
  }

  /// Whether the stream plays, and the sink is done with its frame. Before that the stream does not stall.
  var hasArrived: Bool {
    state == .playing && engine.run(of: "a")?.pipeline.streams.contains(where: \.isWaiting) == false
  }

  /// Ends the stream.
  func end() { withSource(PushedSource.end) }

  /// Makes the stream fail with the given error. The default is the error of a server that has gone.
  func fail(_ code: GstResourceError = GST_RESOURCE_ERROR_READ) { withSource { PushedSource.fail($0, code) } }

  func buffer(percent: Int, mode: GstBufferingMode = GST_BUFFERING_STREAM) {
    withSource {
      let message = gst_message_new_buffering($0.asObject, gint(percent))
      gst_message_set_buffering_stats(message, mode, -1, -1, -1)
      gst_element_post_message($0, message)
    }
  }
}

/// An appsrc with frames of 16 by 16 pixels that does what a test tells it.
enum PushedSource {
  /// Returns the description of the source alone, without the elements that follow it.
  static func description(named name: String) -> String {
    "appsrc name=\(name) format=time caps=video/x-raw,format=I420,width=16,height=16,framerate=30/1"
  }

  /// Waits until the pipeline has been started, because a message that is posted earlier is lost.
  ///
  /// - Parameter find: calls its argument with the source, if there is one.
  static func wait(for find: ((GstElementPointer) -> Bool) -> Bool?, _ body: @escaping (GstElementPointer) -> Void) {
    for _ in 0..<20_000 {
      let isDone = find { source in
        guard source.pointee.current_state.rawValue >= GST_STATE_PAUSED.rawValue else { return false }
        body(source)
        return true
      }
      if isDone == true { return }
      g_usleep(1000)
    }
  }

  static func push(_ source: GstElementPointer) {
    let appsrc = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstAppSrc.self)
    _ = gst_app_src_push_buffer(appsrc, gst_buffer_new_allocate(nil, 384, nil))
  }

  static func end(_ source: GstElementPointer) {
    let appsrc = UnsafeMutableRawPointer(source).assumingMemoryBound(to: GstAppSrc.self)
    _ = gst_app_src_end_of_stream(appsrc)
  }

  static func fail(_ source: GstElementPointer, _ code: GstResourceError = GST_RESOURCE_ERROR_READ) {
    guard let error = g_error_new_literal(gst_resource_error_quark(), gint(code.rawValue), "told to fail") else {
      return
    }
    defer { g_error_free(error) }
    gst_element_post_message(source, gst_message_new_error(source.asObject, error, nil))
  }
}
