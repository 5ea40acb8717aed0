import ArgumentParser
import PipSink

/// `ID=PIPELINE`: a stream with a pipeline of its own.
struct StreamOption: ExpressibleByArgument {
  let streamID: StreamID
  let description: PipelineDescription

  init?(argument text: String) {
    let parts = text.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    streamID = String(parts[0])
    description = .text(String(parts[1]))
  }
}
