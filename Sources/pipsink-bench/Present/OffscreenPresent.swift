import Glibc
import PipSink

/// Measures the time to render a picture to memory, beside that of memcpy of the bytes that are read and written for
/// it.
struct OffscreenPresent {
  let frames: BenchFrames
  let renderer: OffscreenRenderer
  /// Frames as large as the rendered picture, to copy as many bytes as are written.
  private let picture: BenchFrames

  init(_ format: PixelFormat, from source: PictureSize, to size: PictureSize) async throws {
    frames = try await BenchFrames(format, source)
    picture = try await BenchFrames(.bgra, size)
    renderer = try OffscreenRenderer(size: size, scalingFilter: .linear)
  }

  /// Renders frames, and copies as many bytes as are read and written for each.
  ///
  /// - Returns: the seconds of processor time for one frame.
  func measure(_ count: Int) throws -> (rendering: Double, memcpy: Double) {
    let sources = frames.sources
    let times = try BenchFrames.inTurn(
      count, clock: CLOCK_PROCESS_CPUTIME_ID,
      [
        { try renderer.render(sources[$0 % sources.count], gravity: .resize) },
        {
          frames.copy($0)
          picture.copy($0)
        },
      ])
    return (times[0], times[1])
  }
}
