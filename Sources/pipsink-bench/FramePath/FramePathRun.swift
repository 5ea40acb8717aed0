/// Runs a ``FramePathVariant``, each time in a new process.
struct FramePathRun {
  let path: FramePathOptions
  let programs: BenchPrograms
  let processes = OwnProcesses()

  func run(
    _ variant: FramePathVariant, streams: Int, frames: Int, countsAllocations: Bool = false,
    countsBuffers: Bool = false
  ) throws -> FramePathReport {
    let environment = countsAllocations ? ["LD_PRELOAD": programs.allocationCounter] : [:]
    let (program, arguments) = command(variant, streams: streams, frames: frames)
    return try processes.report(
      of: variant.title, program, arguments + (countsBuffers ? ["--count-buffers"] : []), environment: environment)
  }

  /// The program that runs a variant, and its arguments.
  func command(_ variant: FramePathVariant, streams: Int, frames: Int) -> (program: String, arguments: [String]) {
    if variant.isInC {
      let pipeline = path.pipeline(streams: streams, frames: frames, sink: variant.sink)
      return (programs.consumer, (variant == .loop ? ["--loop"] : []) + [pipeline])
    }
    return (
      ThisProgram.path,
      [
        "variant", variant.rawValue, "--streams", "\(streams)", "--frames", "\(frames)", "--size",
        "\(path.size)", "--format", path.format.rawValue,
      ]
    )
  }
}
