import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import TestSupport
@testable import pipsink_demo

/// Tests of what the program prints and writes, for all kinds of destinations.
@Suite struct OutputTests {
  private static let source = "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=36 ! appsink name=a sync=false"

  /// Runs the demo in a shell.
  ///
  /// - Parameter command: a shell command in which `demo` stands for the program, `play` for a short run of it,
  ///   and `$folder` for the test's folder.
  private static func shell(_ command: String, in folder: TemporaryFolder) async throws -> ProgramResult {
    let script = """
      demo() { "\(Demo.path)" "$@"; }
      play() { demo play '\(source)' --surface none "$@"; }
      folder='\(folder.url.path)'
      \(command)
      """
    return try await RunningProgram("/bin/bash", ["-c", script]).result()
  }

  struct Case: CustomTestStringConvertible, Sendable {
    let command: String
    let status: Int32
    /// Whether the run writes its report to a file.
    let hasReport: Bool
    /// Whether the case also runs with a sanitizer, where a program takes seconds to start. There is one such case for
    /// each kind of output.
    let isForSanitizers: Bool

    init(_ command: String, _ status: Int32, hasReport: Bool = false, isForSanitizers: Bool = false) {
      (self.command, self.status, self.hasReport) = (command, status, hasReport)
      self.isForSanitizers = isForSanitizers
    }

    var testDescription: String { command }
  }

  private static let cases = allCases.filter { Plugin.isUsable || $0.isForSanitizers }

  private static let allCases = [
    Case("play --report $folder/report 2>&-", 0, hasReport: true),
    Case("play --report $folder/report >&-", 0, hasReport: true),
    Case("play --report $folder/report <&- >&- 2>&-", 0, hasReport: true, isForSanitizers: true),
    Case("play --report $folder/report 2>/dev/full", 0, hasReport: true),
    Case("play --report $folder/report >/dev/full", 0, hasReport: true),
    Case("play --report $folder/report --log-level debug 2>&-", 0, hasReport: true, isForSanitizers: true),
    Case("play --report $folder/report --log-level gstreamer.*:debug 2>/dev/full", 0, hasReport: true),
    Case("play --report $folder/report 2>&1 | true; exit ${PIPESTATUS[0]}", 0, hasReport: true),
    Case("play --report $folder/report | head -1; exit ${PIPESTATUS[0]}", 0, hasReport: true),
    Case("play | true; exit ${PIPESTATUS[0]}", 0),
    Case("play >&-", 0),
    Case("play >/dev/full", 74, isForSanitizers: true),
    Case("play --report - >/dev/full", 74),
    Case("play --report - >&-", 74),
    Case("play --report - | true; exit ${PIPESTATUS[0]}", 74, isForSanitizers: true),
    Case("play --report /dev/full", 74),
    Case("play --metrics /dev/full", 74, isForSanitizers: true),
    Case("demo --help >/dev/full", 74, isForSanitizers: true),
    Case("demo --help >&- 2>&-", 0),
    Case("demo --version | true; exit ${PIPESTATUS[0]}", 0),
    Case("demo nosuch 2>/dev/full", 64, isForSanitizers: true),
    Case("demo nosuch 2>&1 | true; exit ${PIPESTATUS[0]}", 64),
    Case("demo processors >/dev/full", 74),
    Case("demo processors | true; exit ${PIPESTATUS[0]}", 0),
    Case("demo doctor >/dev/full", 74),
    Case("demo doctor 2>&1 | true; exit ${PIPESTATUS[0]}", 69),
  ]

  @Test(arguments: cases) func writingThatFailsNeitherEndsTheProgramNorLosesTheReport(output: Case) async throws {
    let folder = try TemporaryFolder()
    let result = try await Self.shell(output.command, in: folder)
    #expect(result.status == output.status, "\(result.errors)")
    let report = (try? String(contentsOfFile: folder.path("report"), encoding: .utf8)) ?? ""
    #expect(!report.isEmpty == output.hasReport)
    if output.hasReport { #expect(folder.files == ["report"], "no temporary file is left") }
  }

  /// The number of a closed descriptor must not be reused for a file or a socket, which would then receive the log.
  @Test func aClosedStandardErrorIsNoOtherFile() async throws {
    let folder = try TemporaryFolder()
    let result = try await Self.shell(
      "play --report $folder/report --metrics $folder/metrics --log-level debug --snapshots $folder/shots 0>&- 1>&- 2>&-",
      in: folder)
    #expect(result.status == 0)
    let report = try Data(contentsOf: URL(fileURLWithPath: folder.path("report")))
    #expect(try JSONDecoder().decode(Report.self, from: report).streams["a"]?.arrived == 3)
    let metrics = try String(contentsOfFile: folder.path("metrics"), encoding: .utf8)
    #expect(metrics.contains("pipsink_frames_received") && !metrics.contains(" debug "), "\(metrics)")
  }

  @Test func aTerminalThatGoesEndsTheRunWithItsReport() async throws {
    let folder = try TemporaryFolder()
    let demo = try Demo.start([
      "play", "videotestsrc is-live=true ! video/x-raw,width=64,height=36 ! appsink name=a", "--surface", "none",
      "--report", folder.path("report"), "--log-level", "pipsink.engine:debug",
    ])
    #expect(await demo.wait(forText: "stream \"a\": playing"))
    // The signal is sent twice, as the terminal and the shell both send it.
    kill(demo.processIdentifier, SIGHUP)
    kill(demo.processIdentifier, SIGHUP)
    let result = try await demo.result()
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    let report = try Data(contentsOf: URL(fileURLWithPath: folder.path("report")))
    #expect(try JSONDecoder().decode(Report.self, from: report).outcome == .interrupted)
  }

  // MARK: - Files

  @Test func metricsLeaveLinksAndDevicesWhatTheyAre() async throws {
    let folder = try TemporaryFolder()
    let result = try await Self.shell(
      """
      ln -s target $folder/link; mkfifo $folder/fifo
      play --metrics $folder/link >/dev/null || exit 1
      play --metrics $folder/fifo && exit 2
      play --metrics /dev/stdout >$folder/printed || exit 3
      play --metrics /dev/stdout | cat >$folder/piped || exit 4
      test -L $folder/link -a -p $folder/fifo || exit 5
      """, in: folder)
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("/fifo\" cannot be written: nobody reads it"))
    #expect(folder.files == ["fifo", "link", "piped", "printed", "target"])
    for name in ["printed", "piped", "target"] {
      let text = try String(contentsOfFile: folder.path(name), encoding: .utf8)
      #expect(text.contains("pipsink_frames_received"), "\(name)")
      // The table follows the metrics in the same file.
      #expect(text.contains("Outcome:") == (name != "target"), "\(name)")
    }
  }

  @Test func snapshotsOfDifferentStreamsAreDifferentFilesInTheFolder() async throws {
    let long = String(repeating: "long", count: 100)
    let names = [
      "a/b", "a_b", "a%2Fb", "..", "../x", "", ".hidden", "A", "a", "é", "e\u{301}x", "\u{1B}[31m", "日本", long + "1",
      long + "2",
    ]
    let files = SnapshotName.names(of: names)
    #expect(Set(files.map { $0.lowercased() }).count == names.count, "\(files)")
    for file in files {
      #expect(!file.utf8.contains(UInt8(ascii: "/")) && file.utf8.count <= 180 && file == file.visible)
    }
    #expect(files.prefix(3) == ["a%2Fb", "a_b", "a%252Fb"])
    let folder = try TemporaryFolder()
    let source = "videotestsrc num-buffers=2 ! video/x-raw,width=16,height=16 ! appsink sync=false"
    let result = try await Demo.play([
      "\(source) name=a/b \(source) name=a_b \(source) name=\(long)\(long)", "--surface", "offscreen", "--snapshots",
      folder.path("shots/deep/"),
    ])
    #expect(result.status == 0, "\(result.errors)")
    let pictures = try FileManager.default.contentsOfDirectory(atPath: folder.path("shots/deep"))
    #expect(pictures.count == 3 && pictures.allSatisfy { $0.hasPrefix("01-") && $0.hasSuffix(".png") }, "\(pictures)")
  }

  // MARK: - What terminals obey

  private static func expectVisible(_ result: ProgramResult, sourceLocation: SourceLocation = #_sourceLocation) {
    for text in [result.output, result.errors] {
      let unseen = text.unicodeScalars.filter { $0.isUnseen && $0 != "\n" && $0 != "\t" }
      #expect(unseen.isEmpty, "\(text.visibleLines)", sourceLocation: sourceLocation)
    }
    #expect((result.output + result.errors).contains("\\u{1B}"), "\(result.errors)", sourceLocation: sourceLocation)
  }

  @Test(arguments: ["HTTP", "RTSP"]) func aServersStatusLineIsPrintedWithItsEscapesWrittenOut(protocol: String)
    async throws
  {
    let script = Demo.root.appendingPathComponent("Tests/DemoTests/evil-server.py").path
    let server = try RunningProgram("/usr/bin/python3", [script])
    let port = try #require(await server.firstLine())
    let source =
      `protocol` == "HTTP"
      ? "souphttpsrc location=http://127.0.0.1:\(port)/x ! decodebin"
      : "rtspsrc protocols=tcp location=rtsp://127.0.0.1:\(port)/x ! decodebin"
    let result = try await Demo.play([
      "\(source) ! videoconvert ! appsink name=a", "--surface", "none", "--log-level", "debug", "--duration", "3",
    ])
    #expect(result.status == 74 && !result.wasKilled, "\(result.errors)")
    Self.expectVisible(result)
    #expect(result.errors.contains("\\u{1B}[31mGone\\u{9B}2J\\u{202E}"), "\(result.errors)")
  }

  @Test func namesAndArgumentsArePrintedWithTheirEscapesWrittenOut() async throws {
    let folder = try TemporaryFolder()
    let evil = "\u{1B}[31m\u{9B}2J\u{202E}"
    let play = ["play", "videotestsrc num-buffers=3 ! appsink sync=false name=\"a\(evil)\"", "--surface", "offscreen"]
    let all = [
      play, play + ["--report", "-"], play + ["--log-level", "debug,gstreamer.GST_STATES:info"],
      play + ["--snapshots", folder.path(evil)], play + ["--report", folder.path("none/" + evil)],
      ["play", "--pipeline", "/nowhere/" + evil],
      ["play", "filesrc location=/nowhere/\"\(evil)\" ! appsink name=a"], play + ["--pip-stream", evil],
      play + ["--at", evil], play + ["--" + evil], ["play" + evil], play + ["--process", "a=" + evil],
      play + ["--log-level", evil], play + ["--surface", evil],
    ]
    // With a sanitizer each program takes seconds to start, so only one run and one refusal of each kind are tried.
    for arguments in Plugin.isUsable ? all : Array(all.prefix(3)) + Array(all.suffix(1)) {
      let result = try await Demo.start(arguments + (arguments.first == "play" ? ["--duration", "5"] : [])).result()
      #expect(!result.wasKilled)
      if arguments.last == "-" {
        // JSON has its own escapes, which decode to the same text.
        #expect(result.output.unicodeScalars.filter { $0.isUnseen && $0 != "\n" }.isEmpty)
        #expect(try result.report().streams["a" + evil]?.arrived == 3)
      } else {
        Self.expectVisible(result)
      }
    }
  }

  @Test func jsonEscapesWhatATerminalObeys() throws {
    let text =
      (0...0x9F).compactMap { Unicode.Scalar($0).map(String.init) }.joined() + "\u{2028}\u{202E}\u{2066}\u{1F600}é\"\\"
    let bytes = try JSONText.encode([text: text])
    #expect(String(decoding: bytes, as: UTF8.self).unicodeScalars.filter { $0.isUnseen && $0 != "\n" }.isEmpty)
    #expect(try JSONDecoder().decode([String: String].self, from: Data(bytes)) == [text: text])
  }
}
