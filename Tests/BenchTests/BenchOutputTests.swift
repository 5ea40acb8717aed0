import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Tests of what the program prints and writes. `OutputTests` tests what both programs do by the same code.
@Suite struct BenchOutputTests {
  /// Runs the program in a shell.
  ///
  /// - Parameter command: a shell command in which `bench` stands for the program, `switch` for a short run of it, and
  ///   `$folder` for the test's folder.
  private static func shell(_ command: String, in folder: TemporaryFolder) async throws -> ProgramResult {
    let script = """
      bench() { "\(Bench.path)" "$@"; }
      switch() { bench switch --switches 1 --rounds 1 --alone --size 64x36 "$@"; }
      folder='\(folder.url.path)'
      \(command)
      """
    return try await RunningProgram("/bin/bash", ["-c", script]).result()
  }

  @Test(
    arguments: [
      ("switch --json - >/dev/full 2>&-", 74, false), ("switch --csv $folder/report >/dev/full", 74, true),
      ("switch --json $folder/report | true; exit ${PIPESTATUS[0]}", 0, true), ("bench --help >/dev/full", 74, false),
      ("bench nosuch 2>/dev/full", 64, false),
    ] as [(String, Int32, Bool)])
  func writingThatFailsLosesNoResult(command: String, status: Int32, hasReport: Bool) async throws {
    let folder = try TemporaryFolder()
    let result = try await Self.shell(command, in: folder)
    #expect(result.status == status, "\(result.errors)")
    let report = (try? String(contentsOfFile: folder.path("report"), encoding: .utf8)) ?? ""
    #expect(!report.isEmpty == hasReport)
    #expect(folder.files == (hasReport ? ["report"] : []), "no temporary file is left")
  }

  @Test func aTableIsPutIntoWhatALinkLeadsTo() async throws {
    let folder = try TemporaryFolder()
    let result = try await Self.shell(
      """
      printf '<!-- bench:switch -->\\n<!-- end -->\\n' >$folder/document; ln -s document $folder/link
      switch --json $folder/result >/dev/null || exit 1
      bench table $folder/result --into $folder/link || exit 2
      test -L $folder/link || exit 3
      sed 's/"rounds" : .*/"rounds" : [ ],/; /^ *[0-9.]*$/d; /^ *],$/d' $folder/result >$folder/empty
      bench table $folder/empty; test $? = 64 || exit 4
      """, in: folder)
    #expect(result.status == 0, "\(result.errors)")
    #expect(try String(contentsOfFile: folder.path("document"), encoding: .utf8).contains("| --- |"))
    #expect(folder.files == ["document", "empty", "link", "result"])
  }

  @Test func argumentsArePrintedWithTheirEscapesWrittenOut() async throws {
    let evil = "\u{1B}[31m\u{9B}2J\u{202E}"
    for arguments in [["table", "/nowhere/" + evil], ["switch", "--surface", evil]] {
      let result = try await Bench.start(arguments).result()
      #expect(!result.wasKilled && result.errors.contains("\\u{1B}"), "\(result.errors)")
      let unseen = (result.output + result.errors).unicodeScalars.filter { $0.isUnseen && $0 != "\n" }
      #expect(unseen.isEmpty, "\(result.errors.visibleLines)")
    }
  }
}
