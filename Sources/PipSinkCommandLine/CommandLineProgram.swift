import ArgumentParser
import Glibc
import PipSink
import PipSinkWindows

/// Runs a program that consists of commands. The main thread runs the main actor, and the command runs on other threads.
package enum CommandLineProgram {
  /// Runs the command that the program's arguments name. It never returns: it ends the program with the command's exit
  /// status.
  ///
  /// - Parameters:
  ///   - root: the command that has all others as its subcommands. Its name is the program's name in messages.
  ///   - check: refuses arguments before they are parsed. It gets them without the program's name.
  @MainActor
  package static func run<Root: AsyncParsableCommand & SendableMetatype>(
    _ root: Root.Type, check: @escaping @Sendable ([String]) throws -> Void = { _ in }
  ) -> Never {
    let name = root.configuration.commandName ?? "\(root)"
    StandardStream.prepare()
    do throws(CommandError) {
      try SystemLimits.checkForProgram()
    } catch {
      // Nothing else has run yet, so that nothing has to be cleaned up.
      _exit(error.report(by: name))
    }
    Task.detached {
      let status = await status(of: root, name, check)
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
  private static func status<Root: AsyncParsableCommand & SendableMetatype>(
    of root: Root.Type, _ name: String, _ check: @Sendable ([String]) throws -> Void
  ) async -> Int32 {
    do {
      try check(Array(CommandLine.arguments.dropFirst()))
      var command = try await root.asyncParseAsRoot()
      if var command = command as? any AsyncParsableCommand { try await command.run() } else { try command.run() }
      return EXIT_SUCCESS
    } catch let error as CommandError {
      return error.report(by: name)
    } catch let error as PipSinkError {
      return CommandError(error).report(by: name)
    } catch {
      let status = root.exitCode(for: error)
      let text = root.fullMessage(for: error)
      guard !text.isEmpty else { return status.rawValue }
      guard status == .success else {
        StandardStream.error.say(text)
        return status.rawValue
      }
      do throws(CommandError) {
        try StandardStream.output.print(text)
        return status.rawValue
      } catch {
        return error.report(by: name)
      }
    }
  }
}
