/// Custom rendering: an app's own renderer gets every stream's frames, beside the surfaces.
extension VideoEngine {
  /// Has `observer` get every stream's frames from the engine's next start on, in the buffer type and format series of
  /// `configuration`; or no longer, when `isEnabled` is false or there is no observer.
  ///
  /// What kind of frames a pipeline delivers is negotiated when it starts. While one runs this fails, as in the engines
  /// that apps know; the engine then waits for its stop, does what was asked last, and says so by
  /// ``EngineEvent/customVideoRenderChanged(isEnabled:)``. From any thread.
  ///
  /// - Throws: ``PipSinkError/customVideoRenderInUse`` (code 1011003) while the engine is running, starting or stopping.
  public func enableCustomVideoRender(
    _ isEnabled: Bool, configuration: VideoFrameConfiguration = VideoFrameConfiguration(),
    observer: (any VideoFrameObserver)?
  ) throws(PipSinkError) {
    var tap: CustomVideoRender.Tap?
    if isEnabled, let observer {
      tap = { streamID, next in
        VideoFrameObservation(of: streamID, by: observer, configuration: configuration, next: next)
      }
    }
    let isApplied = customVideoRender.withLock { render in
      guard render.isInUse else {
        render.tap = tap
        return true
      }
      render.awaited = .some(tap)
      return false
    }
    guard isApplied else { throw .customVideoRenderInUse }
    status.broadcast.send(.customVideoRenderChanged(isEnabled: tap != nil))
  }

  /// Whether frames of the next start go to an app's renderer, or of this one while the engine runs.
  public var isCustomVideoRenderEnabled: Bool { customVideoRender.withLock { $0.tap != nil } }
}
