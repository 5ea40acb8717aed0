import Foundation
import Testing

@testable import pipsink_demo

/// The cost of a frame's way in instructions, which do not depend on what else the machine does.
struct InstructionTests {
  @Test func aFrameCostsNoMoreThanInACProgram() async throws {
    let process = try Demo.start(
      ["bench", "route", "--instructions", "--rounds", "3", "--frames", "6000", "--json", "-"])
    let run = try await process.result(seconds: 600)
    try #require(run.status == 0, "\(run.errors)")
    let result = try JSONDecoder().decode(BenchResult.self, from: Data(run.output.utf8))
    // The least of the rounds: in some runs of gst-launch-1.0 each frame costs up to 160 instructions more, in malloc and in
    // GStreamer's own references, by how its threads happened to begin.
    func measured(_ variant: FramePathVariant, _ quantity: String) throws -> Double {
      try #require(result.measurement(InstructionBench.name(variant, streams: 1), quantity)).min
    }
    #expect(result.benchmark == InstructionBench.benchmark)
    #expect(Set(result.processes ?? []).count == 3 * 2 * InstructionBench.variants.count)
    for variant in InstructionBench.variants {
      // A frame that costs less has not been counted, and one that costs more has been to valgrind's start.
      let cost = try measured(variant, InstructionBench.cost)
      #expect((3000...15000).contains(cost), "\(variant)")
    }
    // Beside callbacks, the least that a program can do with an appsink, and always the same number. These builds, with
    // -enable-testing, cost 2 parts in a hundred more than those that are installed.
    let wrapping = try measured(.wrapping, InstructionBench.ratioToC)
    #expect(wrapping <= 0.97)
    let pipSink = try measured(.pipSink, InstructionBench.ratioToC)
    #expect(pipSink <= 1.05)
    let element = try measured(.element, InstructionBench.ratioToC)
    #expect(element <= 1.11)
    // And beside a loop that waits for each frame.
    let pipSinkToLoop = try measured(.pipSink, InstructionBench.ratioToLoop)
    #expect(pipSinkToLoop <= 1)
    let elementToLoop = try measured(.element, InstructionBench.ratioToLoop)
    #expect(elementToLoop <= 1.05)
  }
}
