import Foundation

/// Runs variants in processes of their own, so that none finds what another has left behind.
struct FramePathRun {
  let path: FramePathOptions
  let programs: BenchPrograms

  func run(
    _ variant: FramePathVariant, streams: Int, frames: Int, countsAllocations: Bool = false,
    countsBuffers: Bool = false
  ) throws -> FramePathReport {
    let environment = countsAllocations ? ["LD_PRELOAD": programs.allocationCounter] : [:]
    let process =
      if variant == .c {
        try ChildProcess(
          programs.consumer, [path.pipeline(streams: streams, frames: frames, sink: variant.sink)],
          environment: environment, readsOutput: true)
      } else {
        try ChildProcess(
          ChildProcess.demo,
          [
            "bench", "variant", variant.rawValue, "--streams", "\(streams)", "--frames", "\(frames)", "--size",
            "\(path.size)", "--format", path.format.rawValue,
          ] + (countsBuffers ? ["--count-buffers"] : []), environment: environment, readsOutput: true)
      }
    let (output, status) = process.finish()
    guard status == 0, let report = try? JSONDecoder().decode(FramePathReport.self, from: output) else {
      throw DemoError(.failed, "the variant \"\(variant.title)\" failed: \(process.errors)")
    }
    return report
  }
}
