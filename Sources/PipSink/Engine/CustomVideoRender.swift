/// The state of an engine's custom rendering: how the streams' consumers are wrapped when a pipeline starts.
struct CustomVideoRender {
  /// Wraps a stream's consumer so that the app's receiver gets the frames, too.
  typealias Tap = @Sendable (StreamID, any SampleBufferConsumer) -> any SampleBufferConsumer

  /// The tap for the next start; nil when custom rendering is disabled.
  var tap: Tap?
  /// The change that was requested while the engine ran, and that takes effect when it stops; `.some(nil)` disables
  /// custom rendering.
  var awaited: Tap??
  /// The number of pipelines that run, each from before its start until after its stop.
  var pipelineCount = 0

  var isInUse: Bool { pipelineCount > 0 }
}

extension EngineStatus {
  /// Notes that a pipeline is about to start. Custom rendering cannot change while it runs.
  func beginCustomVideoRender() { customVideoRender.withLock { $0.pipelineCount += 1 } }

  /// Notes that a pipeline has stopped. When it was the last one, a change that was requested meanwhile takes effect.
  func endCustomVideoRender() {
    let changed = customVideoRender.withLock { render -> Bool? in
      render.pipelineCount -= 1
      guard !render.isInUse, let awaited = render.awaited else { return nil }
      render.tap = awaited
      render.awaited = nil
      return awaited != nil
    }
    if let changed { broadcast.send(.customVideoRenderChanged(isEnabled: changed)) }
  }
}
