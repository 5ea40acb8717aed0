/// Makes pipelines from a description, one after the other.
///
/// The description is parsed at once, so that errors are found early. The resulting pipeline is the first one.
final class PipelineFactory: Sendable {
  let streamIDs: [StreamID]
  private let description: PipelineDescription
  private let streamID: StreamID?
  private let first: Locked<Pipeline?>

  /// Parses the description and makes the first pipeline.
  ///
  /// - Parameters:
  ///   - description: the pipeline, with at least one stream.
  ///   - streamID: the ID of the only stream, which replaces its name in the description; nil to use the names there.
  /// - Throws: the errors of ``Pipeline/init(_:as:)``.
  init(_ description: PipelineDescription, as streamID: StreamID? = nil) throws(PipSinkError) {
    let pipeline = try Pipeline(description, as: streamID)
    self.description = description
    self.streamID = streamID
    streamIDs = pipeline.streams.map(\.id)
    first = Locked(pipeline)
  }

  /// Makes the next pipeline, in state NULL.
  ///
  /// - Throws: the errors of ``Pipeline/init(_:as:)``.
  func makePipeline() throws(PipSinkError) -> Pipeline {
    let pipeline = first.exchange(nil)
    guard let pipeline else { return try Pipeline(description, as: streamID) }
    // There may be fewer threads and files left than when the description was parsed.
    try ResourceLimits.check()
    return pipeline
  }
}
