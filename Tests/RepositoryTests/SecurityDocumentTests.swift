import Foundation
import Testing

@testable import TestSupport
@testable import pipsink_demo

/// Tests that the document on security names what the sources read, and tests that exist.
@Suite struct SecurityDocumentTests {
  private static func document() throws -> String {
    try String(contentsOf: Demo.root.appendingPathComponent("docs/security.md"), encoding: .utf8)
  }

  @Test func everyVariableOfTheEnvironmentThatTheSourcesReadIsInTheDocument() throws {
    let document = try Self.document()
    // The benchmarks also set variables, for the programs that they start.
    let readers = try SourceText.files(in: "Sources")
      .filter { $0.value.contains("getenv(") && !$0.key.hasPrefix("pipsink-bench/") }.values
    var names = Set(
      readers.flatMap { text in
        text.matches(of: /"([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)"|getenv\("([A-Z]+)"\)/).compactMap { $0.1 ?? $0.2 }
          .map(String.init)
      })
    #expect(names.isSuperset(of: ["DISPLAY", "PIPSINK_DEBUG", "PIPSINK_DISPLAY", "XDG_STATE_HOME", "XCURSOR_SIZE"]))
    // GLib looks up these folders in a variable each.
    let folders = ["home": "HOME", "tmp": "TMPDIR"]
    for text in try SourceText.files(in: "Sources").values {
      for name in text.matches(of: /g_get_(?:user_)?(\w+)_dir\(/).map({ String($0.1) }) {
        names.insert(
          folders[name] ?? (name == "runtime" ? "XDG_RUNTIME_DIR" : "XDG_\(name.uppercased())_HOME"))
      }
    }
    #expect(names.isSuperset(of: ["HOME", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME"]))
    #expect(names.filter { !document.contains("`\($0)`") } == [])
  }

  /// Whether a sandbox can be made here: in some containers the kernel refuses it.
  private static let canIsolate = {
    let program = try? Process.run(
      URL(fileURLWithPath: "/usr/bin/bwrap"), arguments: ["--unshare-all", "--ro-bind", "/", "/", "true"])
    program?.waitUntilExit()
    return program?.terminationStatus == 0 && Plugin.isUsable
  }()

  @Test(.enabled(if: canIsolate, "bubblewrap cannot make a sandbox, or a sanitizer needs more memory"))
  func theCommandForMediaThatNobodyTrustsPlaysAFilm() async throws {
    let folder = try TemporaryFolder()
    let block = try #require(try Self.document().firstMatch(of: /(?s)```sh\n(# Elements.*?)```/)?.1)
    // The program and Swift's libraries are where they were built.
    let command = block.replacing("--ro-bind film.mkv", with: "$(bind) --ro-bind film.mkv")
      .replacing("pipsink-demo play", with: "'\(Demo.path)' play")
    let script = """
      set -e; cd '\(folder.url.path)'
      bind() { for file in '\(Demo.path)' $(ldd '\(Demo.path)' | grep -o ' /[^ ]*swift[^ ]*'); do
        echo "--ro-bind $file $file"; done; }
      gst-launch-1.0 -q videotestsrc num-buffers=20 ! video/x-raw,width=160,height=120 ! x264enc ! matroskamux \
        ! filesink location=film.mkv
      \(command)
      """
    let result = try await RunningProgram("/bin/bash", ["-c", script]).result()
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    #expect(try result.report().streams["film"]?.received == 20, "\(result.errors)")
  }

  @Test func everyTestThatTheDocumentNamesExists() throws {
    let tests = try SourceText.files(in: "Tests").values.joined()
    let names = Set(try Self.document().matches(of: /`(\w+Tests)`/).map { $0.1 })
    #expect(names.count > 10)
    #expect(names.filter { !tests.contains("struct \($0)") } == [])
  }
}
