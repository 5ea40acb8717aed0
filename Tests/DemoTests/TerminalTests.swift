import Foundation
import Testing

@testable import TestSupport
@testable import pipsink_demo

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
    let answers: KeyValuePairs = [
      "?": "q      end the run", "p": "  pip:a", "n": "No other stream has a picture.", " ": "  paused",
      "m": "  muted", "v": "  no captions", "s": "No pictures are written without --snapshots.", "f": "",
      "\u{1B}[A": "The key \"\\u{1B}\" does nothing", "q": "",
    ]
    #expect(Set(answers.map(\.key)) == Set(TimedAction.keys.map { "\($0.key)" } + ["\u{1B}[A"]))
    let window = try await server.window("PipSink")
    for (key, answer) in answers {
      terminal.type(key)
      if key == "f" {
        #expect(try await eventually { try await server.properties(window, "_NET_WM_STATE").contains("FULLSCREEN") })
      } else if !answer.isEmpty {
        #expect(await terminal.program.wait(forText: answer), "\(key)")
      }
    }
    let result = try await terminal.program.result(seconds: 30)
    #expect(result.status == 0, "\(result.output)")
    #expect(!result.output.contains("The key \"[\""), "an arrow key is one key")
  }
}
