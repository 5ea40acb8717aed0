import ArgumentParser
import Foundation
import PipSink
import Testing

@testable import PipSinkCommandLine
@testable import TestSupport
@testable import pipsink_bench

/// Runs every benchmark with as little work as possible. The tests do not look at how fast the machine is.
@Suite struct BenchTests {
  /// The benchmarks run every part in a process of its own in each round. With a sanitizer, where a process takes
  /// seconds to start, one round is enough.
  private static let rounds = Plugin.isUsable ? 2 : 1

  private func run(_ arguments: [String], environment: [String: String] = [:]) async throws -> BenchResult {
    let result = try await Bench.start(arguments + ["--json", "-"], environment: environment)
      .result(seconds: 300)
    try #require(result.status == 0, "\(arguments): \(result.errors)")
    // The progress line is shown only on terminals.
    #expect(!result.errors.contains("\r"))
    return try JSONDecoder().decode(BenchResult.self, from: Data(result.output.utf8))
  }

  /// - Parameter processes: the number of processes that measured. Every part of the benchmark runs in a new process in
  ///   every round.
  private func expectSound(_ result: BenchResult, _ name: String, rounds: Int, rows: Int, processes: Int) {
    #expect(result.schema == 1)
    #expect(result.benchmark == name)
    #expect(result.command.hasPrefix("pipsink-bench \(name)"))
    #expect(!result.command.contains("--json"))
    #expect(result.machine.processorCount > 0)
    #expect(result.machine.gstreamer.hasPrefix("GStreamer 1."))
    #expect(Set(result.measurements.map(\.name)).count == rows)
    #expect(result.processes?.count == processes)
    #expect(Set(result.processes ?? []).count == processes, "a process measured twice: \(result.processes ?? [])")
    for measurement in result.measurements {
      #expect(measurement.rounds.count == rounds)
      #expect(measurement.min <= measurement.median && measurement.median <= measurement.max)
    }
  }

  @Test func routeComparesEveryVariantWithTheCProgramAndWithFakesink() async throws {
    let result = try await run([
      "route", "--frames", "2000", "--rounds", "\(Self.rounds)", "--streams", "2", "--size", "64x36",
    ])
    let ways = FramePathVariant.ways.count
    expectSound(result, "route", rounds: Self.rounds, rows: ways, processes: Self.rounds * ways)
    let name = "2 streams: \(FramePathVariant.pipSink.title)"
    let ours = try #require(result.measurement(name, "frames/s"))
    let theirs = try #require(result.measurement("2 streams: \(FramePathVariant.c.title)", "frames/s"))
    let ratios = zip(ours.rounds, theirs.rounds).map { $0 / $1 }
    #expect(result.measurement(name, "ratio to C")?.rounds == ratios)
    #expect(result.ratioToC == result.measurement(name, "ratio to C")?.median)
    #expect(result.ratioToFakesink == result.measurement(name, "ratio to fakesink")?.median)
    #expect(result.measurement(name, "processor time a frame, µs")?.min ?? 0 > 0)
  }

  @Test func memoryIsMeasuredAndNoBufferIsLeftBehind() async throws {
    let result = try await run(["memory", "--frames", "3000", "--rounds", "1", "--size", "64x36"])
    // Each variant runs in a process with some frames and in one with all frames. Where buffers can be counted, it runs
    // once more with all frames.
    expectSound(result, "memory", rounds: 1, rows: 5, processes: 5 * 2 + 3)
    for variant in [FramePathVariant.pipSink, .observer, .processor] {
      #expect(result.measurement(variant.title, "buffers alive after the end")?.max == 0)
      // At most one buffer is in the mailbox and one is held by the route. The others are in flight.
      let atMost = try #require(result.measurement(variant.title, "buffers alive at most")?.max)
      #expect((1...4).contains(atMost))
    }
    #expect(result.measurement(FramePathVariant.c.title, "resident, KiB")?.min ?? 0 > 1000)
    // fakesrc allocates the memory of each frame anew.
    #expect(result.measurement(FramePathVariant.c.title, "mallocs a frame")?.min ?? 0 > 0.9)
  }

  @Test func switchesLoseNoFrames() async throws {
    let result = try await run(["switch", "--switches", "6", "--rounds", "\(Self.rounds)", "--size", "64x36"])
    expectSound(result, "switch", rounds: Self.rounds, rows: 1, processes: Self.rounds)
    let name = "offscreen, 64x36 at 60 frames/s"
    for quantity in ["frames lost", "frames repeated", "switches without a picture"] {
      #expect(result.measurement(name, quantity)?.max == 0, "\(quantity)")
    }
    #expect(result.measurement(name, "p50, ms")?.min ?? 0 > 0)
  }

  @Test func scaleSaysUpToWhereTheCostIsLinear() async throws {
    let result = try await run(
      ["scale", "--streams", "1,2", "--sizes", "32x18,64x36", "--rates", "30", "--seconds", "0.3", "--rounds", "1"])
    expectSound(result, "scale", rounds: 1, rows: 4, processes: 4)
    // The benchmark compares the costs of the picture sizes only at points that show their frames. A busy machine may
    // have no such point.
    let isAnyShown = [1, 2].contains { streams in
      ["32x18", "64x36"].allSatisfy { size in
        result.measurement("\(size) at 30 frames/s: \(streams)", ScalePoint.shown)?.median ?? 0 >= 0.95
      }
    }
    #expect(result.remarks.count == (isAnyShown ? 3 : 2))
    #expect(result.remarks.prefix(2).allSatisfy { $0.contains("linear") })
  }

  @Test func kernelsAreMeasuredBesideMemcpy() async throws {
    // These are one operation of each size, with and without rotation, with and without a reference. The converter's
    // tests cover the formats.
    let names = ["I420 to BGRA, 1080p", "1080p NV12 to 320x180 BGRA", "rotate by 90, 1080p I420"]
    let result = try await run(
      ["kernels", "--frames", "1", "--rounds", "1"] + names.flatMap { ["--operation", $0] })
    expectSound(result, "kernels", rounds: 1, rows: names.count, processes: names.count)
    let operations = KernelOperation.all.filter { names.contains($0.name) }
    #expect(operations.count == names.count && Set(operations.map(\.hasReference)).count == 2)
    for operation in operations {
      #expect(result.measurement(operation.name, "PipSink / memcpy")?.min ?? 0 > 0)
      let reference = result.measurement(operation.name, "GstVideoConverter, µs")
      #expect((reference != nil) == operation.hasReference)
    }
  }

  /// Another number of frames makes no difference to the instructions of one, so that each operation is counted alone.
  @Test(.enabled(if: Plugin.isUsable)) func instructionsOfKernelsAreCountedForEachOperation() async throws {
    let names = ["mirror, 1080p I420", "I420 to BGRA, 1080p", "grayscale, 1080p I420"]
    var counts: [[Double]] = []
    for frames in [1, 3] {
      let result = try await run(
        ["kernels", "--instructions", "--frames", "\(frames)", "--rounds", "1"]
          + names.flatMap { ["--operation", $0] })
      expectSound(result, KernelsBenchCommand.counted, rounds: 1, rows: names.count, processes: 1)
      counts.append(try names.map { try #require(result.measurement($0, KernelsBenchCommand.cost)?.median) })
    }
    for (one, three) in zip(counts[0], counts[1]) { #expect((0.9...1.1).contains(one / three), "\(counts)") }
  }

  @Test func picturesInMemoryAreComparedWithMemcpy() async throws {
    let result = try await run([
      "present", "--surface", "offscreen", "--format", "NV12", "--sizes", "32x18,64x36", "--frames", "2", "--rounds",
      "\(Self.rounds)",
    ])
    expectSound(result, "present", rounds: Self.rounds, rows: 2, processes: 2 * Self.rounds)
    #expect(result.measurement("offscreen, NV12 to 64x36", "PipSink / memcpy")?.min ?? 0 > 0)
  }

  @Test(.enabled(if: XServer.isInstalled)) func windowsAreComparedOnAnXServerOfItsOwn() async throws {
    let result = try await run([
      "present", "--surface", "x11", "--sizes", "64x36", "--format", "I420", "--seconds", "0.5", "--rounds", "1",
    ])
    // The processes are one for the source alone and one for each program.
    let programs = 1 + result.measurements.filter { $0.unit == "ms" }.count
    // A program that does not work here has also taken one process, which tried it.
    let failed = result.remarks.filter { $0.contains("was not measured any more") }.count
    expectSound(result, "present", rounds: 1, rows: 1, processes: programs + failed)
    #expect(result.measurement("x11, I420 to 64x36", "PipSink, ms") != nil)
    #expect(result.measurement("x11, I420 to 64x36", "videoscale ! videoconvert ! ximagesink, ms") != nil)
    #expect(result.remarks.first == "x11: on Xvfb, whose time is counted")
  }

  @Test(.enabled(if: XServer.isInstalled && HostLoop.installed.contains(.gtk4) && Plugin.isUsable))
  func aWidgetOfGTK4IsComparedWithGStreamersOwn() async throws {
    let result = try await run([
      "present", "--surface", "gtk4", "--sizes", "64x36", "--format", "I420", "--seconds", "0.5", "--rounds", "1",
    ])
    #expect(result.measurement("gtk4, I420 to 64x36", "PipSink, ms") != nil)
    #expect(result.remarks.first == "gtk4: on Xvfb, whose time is counted")
  }

  @Test(.enabled(if: XServer.isInstalled)) func switchesAreMeasuredInWindows() async throws {
    let server = try await XServer()
    let result = try await run(
      ["switch", "--surface", "window", "--switches", "3", "--rounds", "1", "--size", "64x36"],
      environment: server.environment)
    expectSound(result, "switch", rounds: 1, rows: 1, processes: 1)
    #expect(result.measurement("x11, 64x36 at 60 frames/s", "switches without a picture")?.max == 0)
  }

  @Test func whatMakesNoSenseIsRefused() async throws {
    for arguments in [
      ["route", "--rounds", "0"], ["route", "--streams", "1,x"], ["route", "--format", "H264"],
      ["memory", "--frames", "3"],
      ["scale", "--sizes", "64"], ["route", "--compare", "/dev/null"], ["table", "/dev/null"],
      ["switch", "--switches", "501"], ["kernels", "--operation", "I420 to nothing"],
      ["route", "--instructions", "--frames", "9"],
      // A process that runs with `--alone` measures one part once.
      ["scale", "--alone", "--rounds", "1"], ["kernels", "--alone", "--rounds", "1"], ["switch", "--alone"],
      ["present", "--alone", "--rounds", "1", "--surface", "offscreen"],
    ] {
      // The parser refuses invalid arguments in this process as well, so no other process is needed for them.
      do {
        _ = try PipSinkBench.parseAsRoot(arguments)
        #expect(try await Bench.start(arguments).result().status == 64, "\(arguments)")
      } catch {
        #expect(PipSinkBench.exitCode(for: error).rawValue == 64, "\(arguments)")
      }
    }
    let windows = try await Bench.start(["present", "--surface", "wayland"]).result()
    #expect(windows.status == 69)
    #expect(windows.errors.contains("WAYLAND_DISPLAY"))
  }

  /// The numeric options of each command, with the range that each accepts.
  private static let options: [(command: [String], option: String, range: String)] = [
    (["switch"], "--rounds", "1 to 10000 rounds"),
    (["switch"], "--switches", "1 to 500 switches"),
    (["switch"], "--rate", "1 to 1000 frames a second"),
    (["present"], "--rate", "1 to 1000 frames a second"),
    (["present"], "--frames", "1 to 1000000000 frames"),
    (["present"], "--seconds", "0.001 to 86400 seconds"),
    (["scale"], "--seconds", "0.001 to 86400 seconds"),
    (["scale"], "--streams", "1 to 1000 streams"),
    (["scale"], "--rates", "1 to 1000 frames a second"),
    (["kernels"], "--frames", "1 to 1000000000 frames"),
    (["route"], "--streams", "1 to 1000 streams"),
    (["route"], "--frames", "1 to 1000000000 frames"),
    (["memory"], "--streams", "1 to 1000 streams"),
    (["memory"], "--frames", "1 to 1000000000 frames"),
    (["variant", "pipsink"], "--streams", "1 to 1000 streams"),
    (["variant", "pipsink"], "--frames", "1 to 1000000000 frames"),
  ]

  @Test(arguments: options.indices) func everyNumberHasARangeThatItsErrorNames(index: Int) {
    let (command, option, range) = Self.options[index]
    for number in ["0", "9223372036854775807", "1e300"] {
      do {
        _ = try PipSinkBench.parseAsRoot(command + ["\(option)=\(number)"])
        Issue.record("\(option)=\(number) is accepted")
      } catch {
        #expect(PipSinkBench.exitCode(for: error).rawValue == 64)
        let message = PipSinkBench.fullMessage(for: error)
        let isNamed =
          message.contains("\(option) takes \(range)") || message.contains("'\(number)' is invalid for '\(option)")
        #expect(isNamed, "\(option)=\(number): \(message)")
      }
    }
  }

  @Test func aListHasAtLeastOneValueAndNoneThatIsNoValue() throws {
    #expect(CommaList<Int>(argument: "1,4,16")?.values == [1, 4, 16])
    let sizes = try #require(CommaList<PictureSize>(argument: "320x180,1280x720"))
    #expect(sizes.values.map(\.width) == [320, 1280] && sizes.defaultValueDescription == "320x180,1280x720")
    for text in ["", ",", "1,", ",1", "1;2", "1,x"] { #expect(CommaList<Int>(argument: text) == nil, "\(text)") }
  }

  /// The result of a point of `scale` must not depend on the points before it, so each process measures one point
  /// alone.
  @Test func aProcessMeasuresItsPartAlone() async throws {
    let point = ["scale", "--streams", "2", "--sizes", "32x18", "--rates", "30", "--seconds", "0.2"]
    let result = try await run(point + ["--alone", "--rounds", "1"])
    #expect(result.processes == nil)
    #expect(Set(result.measurements.map(\.name)) == ["32x18 at 30 frames/s: 2"])
    let operation = try #require(KernelOperation.all.last).name
    let kernel = try await run(["kernels", "--frames", "1", "--operation", operation, "--alone", "--rounds", "1"])
    #expect(Set(kernel.measurements.map(\.name)) == [operation])
  }

  @Test func withoutValgrindInstructionsAreNotCounted() async throws {
    let folder = try TemporaryFolder()
    // The folder has the programs that are needed before Valgrind, and nothing else.
    for name in ["make", "cc", "pkg-config", "sh", "env"] {
      try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: "/usr/bin/\(name)")
    }
    let result = try await Bench.start(["route", "--instructions"], environment: ["PATH": folder.url.path])
      .result()
    #expect(result.status == 69)
    #expect(result.errors.contains("apt-get install valgrind"), "\(result.errors)")
  }

  @Test func theTotalIsReadFromCallgrindsFile() {
    let text = "# callgrind format\nversion: 1\nevents: Ir\nsummary: 12\n\nfn=(1) main\n3 4\n\ntotals: 78123456\n"
    #expect(InstructionCounter.total(in: text) == 78_123_456)
    #expect(InstructionCounter.total(in: "events: Ir\n") == nil)
  }

  @Test func theProgressIsShownOnATerminalOnly() async throws {
    let command = "'\(Bench.path)' present --surface offscreen --sizes 32x18 --frames 1 --rounds 1"
    let terminal = try await RunningProgram("/usr/bin/script", ["-qec", command, "/dev/null"]).result()
    #expect(terminal.output.contains("1 of 2"))
  }
}
