/// What is known of the router's streams.
extension FrameRouter {
  /// The counts of a stream's frames; nil for a stream that was not added.
  package func statistics(of streamID: StreamID) -> StreamStatistics? {
    route(streamID)?.statistics
  }

  /// All counts and measurements of a stream; nil for a stream that was not added.
  ///
  /// - Parameters:
  ///   - streamID: the stream.
  ///   - info: what its engine knows about it (``VideoEngine/info(of:)``), which adds the frames that never reached the
  ///     router.
  public func renderStatistics(of streamID: StreamID, info: StreamInfo? = nil) -> RenderStatistics? {
    renderStatistics(of: streamID, info: info, processing: nil)
  }

  /// All counts and measurements of a stream, with the statistics of its ``ProcessorChain``.
  package func renderStatistics(
    of streamID: StreamID, info: StreamInfo? = nil, processing: ProcessorChain.Statistics?
  ) -> RenderStatistics? {
    guard let route = route(streamID) else { return nil }
    return RenderStatistics(
      streamID, route.statistics, route.presentations, lastHandover: route.changes.last, info: info,
      processing: processing)
  }

  /// The newest frame of a stream; nil if none has come.
  package func latestSampleBuffer(of streamID: StreamID) -> SampleBuffer? {
    route(streamID)?.latest
  }

  /// The IDs of the streams, in the order in which they were added.
  public var streamIDs: [StreamID] { routes.map(\.streamID) }

  /// The moves of all streams between surfaces, in order. Of the moves of one switch, those back to the app come first.
  /// The last thousand moves of each stream are kept.
  package var changes: [SurfaceChange] {
    routes.flatMap(\.changes).sorted {
      ($0.requestedAt, $0.to == .inApp ? 0 : 1) < ($1.requestedAt, $1.to == .inApp ? 0 : 1)
    }
  }

  /// The size in pixels of the surface that shows a stream's next frame; nil if there is none, or if it has no size
  /// yet. For a stream on several surfaces, it is the size of the largest one.
  package func surfaceSize(of streamID: StreamID) -> PictureSize? {
    route(streamID)?.surfaceSize
  }

  /// How large a stream's frames have to be for all surfaces that show them; nil for an unknown stream.
  ///
  /// - Parameter countingHidden: whether surfaces count that nobody can see now.
  func demand(of streamID: StreamID, countingHidden: Bool) -> StreamDemand? {
    route(streamID)?.demand(countingHidden: countingHidden)
  }

  // MARK: - Gaps

  /// Says whether a stream's frames may stay away for a reason that is known, such as a pause. That is no freeze.
  package func setGapExpected(_ isExpected: Bool, of streamID: StreamID) {
    route(streamID)?.setGapExpected(isExpected)
  }

  /// What is known of the flow of a stream's frames at this moment; nil for an unknown stream.
  func flow(of streamID: StreamID) -> StreamRoute.Flow? { route(streamID)?.flow }
}
