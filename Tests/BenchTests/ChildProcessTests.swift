import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import TestSupport
@testable import pipsink_bench

/// Tests of the child processes that the programs start.
@Suite struct ChildProcessTests {
  private func shell(_ script: String, environment: [String: String] = [:]) throws -> ChildProcess {
    try ChildProcess("/bin/sh", ["-c", script], environment: environment, readsOutput: true)
  }

  @Test func itReadsNothingAndIsReadFrom() throws {
    let process = try shell(
      "readlink /proc/self/fd/0; echo \"$HOME$PIPSINK_TEST\"; ls /proc/self/fd | wc -l; echo oh >&2; exit 7",
      environment: ["PIPSINK_TEST": "=here"])
    let (output, status) = process.finish()
    let lines = String(decoding: output, as: UTF8.self).split(separator: "\n").map(String.init)
    let home = ProcessInfo.processInfo.environment["HOME"] ?? ""
    // ls has the three standard descriptors open, and the folder that it reads.
    #expect(lines == ["/dev/null", "\(home)=here", "4"])
    #expect(status == 7 && process.errors == "oh\n" && !process.isRunning)
    #expect(process.finish().status == 7)
  }

  @Test func itsOutputGoesNowhereWhereNobodyReadsIt() throws {
    let process = try ChildProcess("/bin/sh", ["-c", "output=$(readlink /proc/$$/fd/1); echo $output >&2"])
    #expect(process.finish().status == 0)
    #expect(process.errors == "/dev/null\n" && process.availableOutput.isEmpty)
  }

  @Test func moreIsReadThanAPipeHolds() throws {
    let (output, status) = try shell("head -c 1000000 /dev/zero; kill -TERM $$").finish()
    #expect(output.count == 1_000_000 && output.allSatisfy { $0 == 0 })
    #expect(status == 128 + SIGTERM)
  }

  @Test func whatIsThereIsReadWhileItRuns() throws {
    let process = try shell("echo 42; exec sleep 1000")
    #expect(process.availableOutput == Array("42\n".utf8))
    #expect(process.isRunning)
    process.end()
    #expect(!process.isRunning && process.finish().status == 128 + SIGKILL)
  }

  @Test func oneThatEndsAtOnceHasAProcessIDAsWell() throws {
    let processes = try (0..<50).map { _ in try ChildProcess("/bin/true", []) }
    #expect(Set(processes.map(\.processIdentifier)).count == 50)
    #expect(processes.allSatisfy { $0.processIdentifier > 0 && $0.finish().status == 0 })
  }

  @Test func aProgramThatCannotBeStartedIsNamed() throws {
    let error = try #require(throws: CommandError.self) { try ChildProcess("/nowhere/at-all", []) }
    #expect(error.status == .unavailable)
    #expect(error.message.hasPrefix("/nowhere/at-all cannot be started: "), "\(error.message)")
  }

  /// The benchmarks look for the demo and the plugin in this folder.
  @Test func whatIsBuiltWithThisProgramIsInItsFolder() {
    #expect(ThisProgram.folder + "/pipsink-demo" == Demo.path)
  }

  /// The process IDs of a process's children.
  private static func children(of parent: Int32) -> [Int32] {
    InputFile.names(inFolder: "/proc").compactMap { Int32($0) }.filter { process in
      let status = (try? InputFile.text(of: "/proc/\(process)/status")) ?? ""
      return status.contains("\nPPid:\t\(parent)\n")
    }
  }

  @Test func anInterruptedBenchmarkLeavesNoProcess() async throws {
    let folder = try TemporaryFolder()
    let bench = try Bench.start(
      ["scale", "--streams", "1", "--sizes", "32x18", "--rates", "30", "--seconds", "1000", "--rounds", "1"],
      environment: ["TMPDIR": folder.url.path])
    #expect(await bench.wait { !Self.children(of: $0.processIdentifier).isEmpty })
    let children = Self.children(of: bench.processIdentifier)
    bench.interrupt()
    let result = try await bench.result()
    #expect(result.status == 128 + SIGINT, "\(result.errors)")
    let haveGone = await eventually { children.allSatisfy { kill($0, 0) != 0 } }
    #expect(haveGone)
  }

  @Test func aBenchmarkLeavesNoFiles() async throws {
    let folder = try TemporaryFolder()
    let result = try await Bench.start(
      ["present", "--surface", "offscreen", "--sizes", "32x18", "--frames", "1", "--rounds", "1"],
      environment: ["TMPDIR": folder.url.path]
    ).result()
    #expect(result.status == 0, "\(result.errors)")
    #expect(folder.files.isEmpty)
  }

  @Test func aScratchFolderGoesWithAllThatIsInItAndNothingElse() throws {
    let (scratch, other) = (try ScratchFolder(), try TemporaryFolder())
    try Data("kept".utf8).write(to: URL(fileURLWithPath: other.path("file")))
    try FileManager.default.createDirectory(atPath: scratch.path + "/a/b", withIntermediateDirectories: true)
    try Data().write(to: URL(fileURLWithPath: scratch.path + "/a/b/c"))
    try FileManager.default.createSymbolicLink(
      atPath: scratch.path + "/link", withDestinationPath: other.url.path)
    scratch.remove()
    #expect(!FileManager.default.fileExists(atPath: scratch.path) && other.files == ["file"])
  }
}
