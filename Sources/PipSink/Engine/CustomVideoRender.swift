/// What an engine knows of custom rendering: how streams' consumers are wrapped when it starts.
struct CustomVideoRender {
  typealias Tap = @Sendable (StreamID, any SampleBufferConsumer) -> any SampleBufferConsumer

  var tap: Tap?
  /// What was asked for while the engine ran: a tap, or none.
  var awaited: Tap??
  /// The pipelines that run, each from before its start until after its stop: the engine's own, and those of streams.
  var pipelineCount = 0

  var isInUse: Bool { pipelineCount > 0 }
}

extension VideoEngine {
  /// A pipeline is to start: from here on it cannot be changed.
  @discardableResult
  func beginCustomVideoRender() -> CustomVideoRender.Tap? {
    customVideoRender.withLock { render in
      render.pipelineCount += 1
      return render.tap
    }
  }

  /// A pipeline has stopped. With the last one, what was asked for meanwhile is done.
  func endCustomVideoRender() {
    let changed = customVideoRender.withLock { render -> Bool? in
      render.pipelineCount -= 1
      guard !render.isInUse, let awaited = render.awaited else { return nil }
      render.tap = awaited
      render.awaited = nil
      return awaited != nil
    }
    if let changed { status.broadcast.send(.customVideoRenderChanged(isEnabled: changed)) }
  }
}
