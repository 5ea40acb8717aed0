import ArgumentParser
import Foundation
import PipSink
import PipSinkGTK

struct PipSinkDemo: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "pipsink-demo",
    abstract: "Shows GStreamer video streams in an app surface or in picture-in-picture.",
    version: "pipsink-demo \(PipSink.version), \(PipSink.gstreamerVersion)",
    subcommands: [PlayCommand.self, DoctorCommand.self, ProcessorsCommand.self, BenchCommand.self]
  )
}

/// The main thread runs GLib's main loop with the main actor in it, as GTK needs it; the command runs beside it.
@main
enum Program {
  @MainActor
  static func main() {
    do throws(PipSinkError) {
      try PipSink.checkLimits()
    } catch {
      FileHandle.standardError.write(Data("pipsink-demo: \(error)\n".utf8))
      _exit(ExitStatus(error).rawValue)
    }
    Task.detached {
      await PipSinkDemo.main()
      // On the main actor, so that GTK is not at work while the process ends.
      await MainActor.run { () -> Void in exit(EXIT_SUCCESS) }
    }
    MainLoop.run()
  }
}
