/// What an engine knows of custom rendering: how streams' consumers are wrapped when it starts.
struct CustomVideoRender {
  typealias Tap = @Sendable (StreamID, any SampleBufferConsumer) -> any SampleBufferConsumer

  var tap: Tap?
  /// What was asked for while the engine ran: a tap, or none.
  var awaited: Tap??
  /// From before a start until after its stop.
  var isInUse = false
}

extension VideoEngine {
  /// From here on it cannot be changed.
  func beginCustomVideoRender() -> CustomVideoRender.Tap? {
    customVideoRender.withLock { render in
      render.isInUse = true
      return render.tap
    }
  }

  /// The engine has stopped: what was asked for meanwhile is done.
  func endCustomVideoRender() {
    let changed = customVideoRender.withLock { render -> Bool? in
      render.isInUse = false
      guard let awaited = render.awaited else { return nil }
      render.tap = awaited
      render.awaited = nil
      return awaited != nil
    }
    if let changed { status.broadcast.send(.customVideoRenderChanged(isEnabled: changed)) }
  }
}
