import Foundation
import Testing

@testable import TestSupport
@testable import pipsink_bench

/// The cost of a frame's path in instructions. Other work on the machine does not change this number.
struct InstructionTests {
  @Test func aFrameCostsNoMoreThanInACProgram() async throws {
    let process = try Bench.start(
      ["route", "--instructions", "--rounds", "3", "--frames", "6000", "--json", "-"])
    let run = try await process.result(seconds: 600)
    try #require(run.status == 0, "\(run.errors)")
    let result = try JSONDecoder().decode(BenchResult.self, from: Data(run.output.utf8))
    // The test takes the minimum of the rounds. In some runs of gst-launch-1.0, each frame costs up to 160 more
    // instructions in malloc and in GStreamer's reference counting, depending on how the threads of that run happened
    // to start.
    func measured(_ variant: FramePathVariant, _ quantity: String) throws -> Double {
      try #require(result.measurement(InstructionBench.name(variant, streams: 1), quantity)).min
    }
    #expect(result.benchmark == InstructionBench.benchmark)
    #expect(Set(result.processes ?? []).count == 3 * 2 * InstructionBench.variants.count)
    for variant in InstructionBench.variants {
      // If a frame costs less, it was not counted. If it costs more, the start of valgrind was counted as well.
      let cost = try measured(variant, InstructionBench.cost)
      #expect((3000...15000).contains(cost), "\(variant)")
    }
    // The comparison with callbacks, which are the cheapest use of an appsink: this number is always the same. The
    // builds under test, which use -enable-testing, cost 2 % more than the installed ones.
    let wrapping = try measured(.wrapping, InstructionBench.ratioToC)
    #expect(wrapping <= 0.97)
    let pipSink = try measured(.pipSink, InstructionBench.ratioToC)
    #expect(pipSink <= 1.05)
    let element = try measured(.element, InstructionBench.ratioToC)
    #expect(element <= 1.11)
    // The comparison with a loop that waits for each frame.
    let pipSinkToLoop = try measured(.pipSink, InstructionBench.ratioToLoop)
    #expect(pipSinkToLoop <= 1)
    let elementToLoop = try measured(.element, InstructionBench.ratioToLoop)
    #expect(elementToLoop <= 1.05)
  }
}
