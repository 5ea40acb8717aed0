import Foundation
import Testing

@testable import TestSupport

/// Tests of the demo on a terminal, with windows beside it.
@Suite(
  .enabled(
    if: XServer.isInstalled && FileManager.default.isExecutableFile(atPath: "/usr/bin/script"),
    "the X tools or script are not installed"))
struct TerminalTests {
  /// A run on a terminal, with the keys that the user types.
  private final class Terminal {
    let program: RunningProgram
    private let folder = try? TemporaryFolder()
    private let keys: FileHandle

    init(_ pipeline: String, _ environment: [String: String]) throws {
      let path = try #require(folder).path("keys")
      try #require(mkfifo(path, 0o600) == 0)
      // The descriptor is open for reading as well, so that opening it does not wait for a reader.
      keys = FileHandle(fileDescriptor: open(path, O_RDWR), closeOnDealloc: true)
      let command = "'\(Demo.path)' play --surface window '\(pipeline)'"
      program = try RunningProgram(
        "/bin/sh", ["-c", "exec script -qec \"\(command)\" /dev/null < '\(path)'"], environment: environment)
    }

    func type(_ text: String) { keys.write(Data(text.utf8)) }
  }

  @Test func everyKeyHasItsAnswerOnTheTerminalWhereItWasPressed() async throws {
    let server = try await XServer()
    let terminal = try Terminal("videotestsrc is-live=true ! appsink name=a", server.environment)
    #expect(await terminal.program.wait(forText: " in-app"))
    terminal.type("?")
    #expect(await terminal.program.wait(forText: "q      quit"))
    terminal.type("p")
    #expect(await terminal.program.wait(forText: "  pip:a"))
    terminal.type("n")
    #expect(await terminal.program.wait(forText: "No other stream has a picture."))
    terminal.type("\u{1B}[A")
    #expect(await terminal.program.wait(forText: "The key \"\\u{1B}\" does nothing"))
    terminal.type("q")
    let result = try await terminal.program.result(seconds: 30)
    #expect(result.status == 0, "\(result.output)")
    #expect(!result.output.contains("The key \"[\""), "an arrow key is one key")
  }
}
