import PipSink

/// Runs a pipeline whose frames take PipSink's frame path, to the mailbox of a display layer for each stream. Nothing
/// presents them.
enum EngineRun {
  static func run(
    _ description: String, variant: FramePathVariant, countsBuffers: Bool
  ) async throws -> FramePathReport {
    let counter = BufferCounter.shared
    var report = try await measure(description, variant: variant, counter: countsBuffers ? counter : nil)
    // Only now the engine and the router have been released, with their last frames.
    if countsBuffers { (report.buffersAtMost, report.buffersLeft) = (counter.atMost, counter.alive) }
    return report
  }

  private static func measure(
    _ description: String, variant: FramePathVariant, counter: BufferCounter?
  ) async throws -> FramePathReport {
    let engine = try VideoEngine(.text(description))
    // A pipeline that fails must end.
    engine.configuration.retryPolicy = nil
    let router = FrameRouter()
    let observer = ByteObserver()
    let events = engine.events()
    let start = FramePathStart()
    try await engine.start { id in
      if variant == .wrapping { return DiscardingConsumer() }
      router.setLayer(SampleBufferDisplayLayer(name: id.rawValue), for: id)
      let route = router.input(for: id)
      return switch variant {
      case .observer:
        VideoFrameObservation(of: id, by: .rawData(observer), next: route)
      case .processor: ProcessorChain([GrayscaleProcessor()], next: route)
      default: route
      }
    }
    if let counter {
      for number in engine.streamIDs.indices {
        engine.withUnsafeElement(named: "source\(number)") { counter.watch($0) }
      }
    }
    var failure: PipSinkError?
    for await event in events {
      if case .streamStateChanged(_, .failed(let error)) = event { failure = error }
      if case .finished = event { break }
    }
    let report = start.report()
    await engine.stop()
    if let failure { throw failure }
    return report
  }
}

/// Receives the bytes of every frame, and does nothing with them.
private final class ByteObserver: RawVideoFrameObserver {
  func streamDidDeliver(_ rawFrame: borrowing RawVideoFrame, parameters: VideoFrameParameters, streamID: StreamID) {}
}

private final class DiscardingConsumer: SampleBufferConsumer {
  func consume(_ sampleBuffer: SampleBuffer) {}
}
