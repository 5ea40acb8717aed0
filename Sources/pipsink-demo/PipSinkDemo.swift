import ArgumentParser
import Glibc
import PipSink
import PipSinkCommandLine

struct PipSinkDemo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipsink-demo",
    abstract: "Shows GStreamer video streams in an app's window or in picture-in-picture.",
    version: "pipsink-demo \(PipSink.version), \(PipSink.gstreamerVersion)",
    subcommands: [PlayCommand.self, CallCommand.self, DoctorCommand.self, ProcessorsCommand.self]
  )
}

@main
enum Program {
  @MainActor
  static func main() {
    // What windows show is in the user's language.
    setlocale(LC_MESSAGES, "")
    CommandLineProgram.run(PipSinkDemo.self) { arguments in
      let commands = PipSinkDemo.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
      if let message = UnknownCommand.message(for: arguments, commands: commands) { throw ValidationError(message) }
    }
  }
}
