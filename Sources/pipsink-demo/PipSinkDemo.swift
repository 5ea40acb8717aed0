import ArgumentParser
import Glibc
import PipSink
import PipSinkWindows

struct PipSinkDemo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipsink-demo",
    abstract: "Shows GStreamer video streams in an app's window or in picture-in-picture.",
    version: "pipsink-demo \(PipSink.version), \(PipSink.gstreamerVersion)",
    subcommands: [PlayCommand.self, DoctorCommand.self, ProcessorsCommand.self, BenchCommand.self]
  )
}

/// The program's entry point. The main thread runs the main actor, and the command runs on other threads.
@main
enum Program {
  @MainActor
  static func main() {
    StandardStream.prepare()
    do throws(DemoError) {
      try SystemLimits.checkForProgram()
    } catch {
      // Nothing else has run yet, so that nothing has to be cleaned up.
      _exit(error.reported.rawValue)
    }
    Task.detached {
      let status = await run()
      guard status == EXIT_SUCCESS else { exit(status) }
      // The process exits on the main actor, so that no window is at work meanwhile.
      await MainActor.run { () -> Void in exit(EXIT_SUCCESS) }
    }
    MainLoop.run()
  }

  /// Does what `ParsableCommand.main()` does, but prints help and errors by ``StandardStream``, because they quote the
  /// arguments.
  ///
  /// - Returns: the program's exit status.
  private static func run() async -> Int32 {
    do {
      let commands = PipSinkDemo.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
      if let message = UnknownCommand.message(for: Array(CommandLine.arguments.dropFirst()), commands: commands) {
        throw ValidationError(message)
      }
      var command = try await PipSinkDemo.asyncParseAsRoot()
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
      return EXIT_SUCCESS
    } catch let error as DemoError {
      return error.reported.rawValue
    } catch let error as PipSinkError {
      return DemoError(error).reported.rawValue
    } catch {
      let status = PipSinkDemo.exitCode(for: error)
      let text = PipSinkDemo.fullMessage(for: error)
      guard !text.isEmpty else { return status.rawValue }
      guard status == .success else {
        StandardStream.error.say(text)
        return status.rawValue
      }
      do throws(DemoError) {
        try StandardStream.output.print(text)
        return status.rawValue
      } catch {
        return error.reported.rawValue
      }
    }
  }
}
