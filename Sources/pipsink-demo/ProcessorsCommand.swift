import ArgumentParser
import PipSink

struct ProcessorsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "processors",
    abstract: "Lists the frame processors that play's --process takes.")

  func run() throws {
    for entry in FrameProcessorRegistry.shared.entries {
      try StandardStream.output.print(
        "\(entry.name)\(entry.argument.map { ":ARGUMENT  \(entry.summary); takes \($0)" } ?? "  \(entry.summary)")")
    }
  }
}

/// `STREAM=NAME[:ARGUMENT]`: a processor for a stream's frames.
struct ProcessorOption: ExpressibleByArgument {
  let streamID: StreamID
  let name: String
  let argument: String?

  init?(argument text: String) {
    let parts = text.split(separator: "=", maxSplits: 1)
    guard parts.count == 2 else { return nil }
    streamID = String(parts[0])
    let call = parts[1].split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    name = String(call[0])
    argument = call.count > 1 ? String(call[1]) : nil
  }
}
