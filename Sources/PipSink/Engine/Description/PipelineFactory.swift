/// Makes one pipeline after the other from a description.
///
/// The description is parsed at once, so that mistakes are found early; the pipeline that came of that is the first.
final class PipelineFactory: Sendable {
  let streamIDs: [StreamID]
  private let description: PipelineDescription
  private let streamID: StreamID?
  private let first: Locked<Pipeline?>

  /// - Parameter streamID: what its only stream is called, whatever the description calls it; nil for all names in it.
  /// - Throws: as ``Pipeline/init(_:as:)``.
  init(_ description: PipelineDescription, as streamID: StreamID? = nil) throws(PipSinkError) {
    let pipeline = try Pipeline(description, as: streamID)
    self.description = description
    self.streamID = streamID
    streamIDs = pipeline.streams.map(\.id)
    first = Locked(pipeline)
  }

  /// - Throws: as ``Pipeline/init(_:as:)``.
  func makePipeline() throws(PipSinkError) -> Pipeline {
    let pipeline = first.withLock { first in
      defer { first = nil }
      return first
    }
    guard let pipeline else { return try Pipeline(description, as: streamID) }
    // There may be less left than when it was parsed.
    try ResourceLimits.check()
    return pipeline
  }
}
