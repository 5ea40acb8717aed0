/// How a change of custom rendering was taken.
public enum CustomVideoRenderChange: Equatable, Sendable {
  case applied
  /// The engine runs, and does it when its pipeline and all streams with one of their own have stopped
  /// (``EngineEvent/customVideoRenderChanged(isEnabled:)``). Of several changes the last counts.
  case afterStop

  /// By which apps of other engines know that custom rendering cannot be changed while the engine runs: 1011003.
  public var code: Int? { self == .afterStop ? 1_011_003 : nil }
}

/// Custom rendering: an app's own renderer gets every stream's frames, beside the surfaces.
extension VideoEngine {
  /// Has `receiver` get every stream's frames from the engine's next start on, or nobody where it is nil, be they the
  /// engine's own pipeline's or of streams with one of their own. What kind of frames a pipeline delivers is negotiated
  /// when it starts, so that nothing changes while one runs. From any thread.
  ///
  /// - Parameter formatSeries: as ``VideoFrameObservation`` takes it.
  @discardableResult
  public func setCustomVideoRender(
    _ receiver: VideoFrameReceiver?, formatSeries: FrameFormatSeries = .any
  ) -> CustomVideoRenderChange {
    let tap = receiver.map { receiver -> CustomVideoRender.Tap in
      { VideoFrameObservation(of: $0, by: receiver, formatSeries: formatSeries, next: $1) }
    }
    let change = customVideoRender.withLock { render -> CustomVideoRenderChange in
      guard !render.isInUse else {
        render.awaited = .some(tap)
        return .afterStop
      }
      render.tap = tap
      return .applied
    }
    if change == .applied { status.broadcast.send(.customVideoRenderChanged(isEnabled: tap != nil)) }
    return change
  }

  /// Whether frames of the next start go to an app's renderer, or of this one while the engine runs.
  public var isCustomVideoRenderEnabled: Bool { customVideoRender.withLock { $0.tap != nil } }
}
