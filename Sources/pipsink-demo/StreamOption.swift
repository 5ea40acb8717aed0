import ArgumentParser
import PipSink

/// `ID=PIPELINE`: a stream with a pipeline of its own.
struct StreamOption: ExpressibleByArgument {
  let streamID: StreamID
  let description: PipelineDescription

  init?(argument text: String) {
    guard let (id, pipeline) = text.divided(at: "="), !id.isEmpty, !pipeline.isEmpty else { return nil }
    streamID = StreamID(id)
    description = .text(pipeline)
  }
}
