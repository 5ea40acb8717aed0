/// When a change of custom rendering takes effect.
public enum CustomVideoRenderChange: Equatable, Sendable {
  /// The change has taken effect.
  case applied
  /// The engine runs, so the change takes effect when its pipeline and all streams with their own pipelines have
  /// stopped (``EngineEvent/customVideoRenderChanged(isEnabled:)``). Of several changes, the last one counts.
  case afterStop

  /// The error code 1011003 for ``afterStop``, by which apps that used ZEGO's engine, an SDK for calls, know that custom rendering cannot be
  /// changed while the engine runs; nil for ``applied``.
  public var code: Int? { self == .afterStop ? 1_011_003 : nil }
}

/// Custom rendering: the app receives the frames of every stream, in addition to the surfaces.
extension VideoEngine {
  /// Enables or disables custom rendering from the engine's next start on, for all streams. May be called from any
  /// thread.
  ///
  /// The format of a stream's frames is negotiated when its pipeline starts, so a change has to wait while one runs.
  ///
  /// - Parameters:
  ///   - receiver: gets the frames of every stream; nil disables custom rendering.
  ///   - formatSeries: the kind of pixels that the receiver wants, as for ``VideoFrameObservation``.
  /// - Returns: whether the change has taken effect or waits for the engine's stop.
  @discardableResult
  public func setCustomVideoRender(
    _ receiver: VideoFrameReceiver?, formatSeries: FrameFormatSeries = .any
  ) -> CustomVideoRenderChange {
    let tap = receiver.map { receiver -> CustomVideoRender.Tap in
      { VideoFrameObservation(of: $0, by: receiver, formatSeries: formatSeries, next: $1) }
    }
    let change = status.customVideoRender.withLock { render -> CustomVideoRenderChange in
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

  /// Whether custom rendering is enabled: for the current run while the engine runs, and for the next start otherwise.
  package var isCustomVideoRenderEnabled: Bool { status.customVideoRender.withLock { $0.tap != nil } }
}
