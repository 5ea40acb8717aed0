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
    // No window is drawn by OpenGL, for which GDK otherwise asks the server when it connects; Mesa reads through a null
    // pointer when that has just gone. There is one thread yet, so that the environment can be changed.
    setenv("GDK_GL", "disable", 0)
    // For whatever is done without a run; a run has its own, which writes its report.
    GTKDisplay.onLoss {
      FileHandle.standardError.write(Data("pipsink-demo: \(DisplayLoss.message)\n".utf8))
      DisplayLoss.end(ExitStatus.unavailable.rawValue)
    }
    Task.detached {
      await PipSinkDemo.main()
      // On the main actor, so that GTK is not at work while the process ends.
      await MainActor.run { () -> Void in exit(EXIT_SUCCESS) }
    }
    MainLoop.run()
  }
}

/// The end of a program whose display server has gone.
enum DisplayLoss {
  static let message = "the display server has gone; the windows with it"

  /// Ends the program without the libraries' cleaning up, which may wait for what a broken connection keeps locked.
  static func end(_ status: Int32) -> Never {
    fflush(nil)
    _exit(status)
  }
}
