import PipSink

/// Measures the time to render a picture to memory, beside that of memcpy of the bytes that are read and written for
/// it.
struct OffscreenPresent {
  let frames: BenchFrames
  let renderer: OffscreenRenderer
  /// Frames as large as the rendered picture, to copy as many bytes as are written.
  private let picture: BenchFrames

  init(_ format: PixelFormat, from source: PictureSize, to size: PictureSize) throws {
    frames = try BenchFrames(format, source)
    picture = try BenchFrames(.bgra, size)
    renderer = try OffscreenRenderer(size: size, scalingFilter: .linear)
  }

  /// Renders frames.
  ///
  /// - Returns: the seconds of processor time for one frame.
  func render(_ count: Int) throws -> Double {
    let sources = frames.sources
    for source in sources { try renderer.render(source, gravity: .resize) }
    let start = FramePathStart()
    for index in 0..<count { try renderer.render(sources[index % sources.count], gravity: .resize) }
    return start.report().cpuSeconds / Double(count)
  }

  /// Copies as many bytes as are read and written for each frame.
  ///
  /// - Returns: the seconds of processor time for one frame.
  func memcpy(_ count: Int) -> Double {
    let start = FramePathStart()
    _ = (frames.memcpy(frames: count), picture.memcpy(frames: count))
    return start.report().cpuSeconds / Double(count)
  }
}
