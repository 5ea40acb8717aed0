import PipSink

/// The time for a picture in memory, beside memcpy of what is read and what is written for it.
struct OffscreenPresent {
  let frames: BenchFrames
  let renderer: OffscreenRenderer
  /// What the picture is made of is as much as this.
  private let picture: BenchFrames

  init(_ format: PixelFormat, from source: PictureSize, to size: PictureSize) throws {
    frames = try BenchFrames(format, source)
    picture = try BenchFrames(.bgra, size)
    renderer = try OffscreenRenderer(size: size, scalingFilter: .linear)
  }

  /// Seconds of processor time a frame.
  func render(_ count: Int) throws -> Double {
    let sources = frames.sources
    for source in sources { try renderer.render(source, gravity: .resize) }
    let start = FramePathStart()
    for index in 0..<count { try renderer.render(sources[index % sources.count], gravity: .resize) }
    return start.report().cpuSeconds / Double(count)
  }

  /// Seconds of processor time for copying the bytes that are read, and as many as are written.
  func memcpy(_ count: Int) -> Double {
    let start = FramePathStart()
    _ = (frames.memcpy(frames: count), picture.memcpy(frames: count))
    return start.report().cpuSeconds / Double(count)
  }
}
