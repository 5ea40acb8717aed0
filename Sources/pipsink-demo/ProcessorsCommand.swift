import ArgumentParser
import PipSink
import PipSinkCommandLine

struct ProcessorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "processors",
    abstract: "Lists the frame processors for the option --process of play.")

  func run() throws {
    for entry in FrameProcessorRegistry.shared.entries {
      try StandardStream.output.print(
        "\(entry.name)\(entry.argument.map { ":ARGUMENT  \(entry.summary); takes \($0)" } ?? "  \(entry.summary)")")
    }
  }
}

/// A processor for the frames of a stream, as `STREAM=NAME[:ARGUMENT]` on the command line.
struct ProcessorOption: ExpressibleByArgument {
  let streamID: StreamID
  let name: String
  let argument: String?

  init?(argument text: String) {
    guard let (id, call) = text.divided(at: "="), !id.isEmpty, !call.isEmpty else { return nil }
    streamID = StreamID(id)
    let parts = call.divided(at: ":")
    name = parts?.before ?? call
    argument = parts?.behind
  }
}
