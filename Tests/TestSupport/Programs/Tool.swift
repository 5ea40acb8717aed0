import Testing

enum Tool {
  /// Runs one of GStreamer's own programs to its end.
  @discardableResult
  static func gstLaunch(_ pipeline: String, verbose: Bool = false) async throws -> ProgramResult {
    let words = pipeline.split(separator: " ").map(String.init)
    let result = try await RunningProgram("/usr/bin/gst-launch-1.0", (verbose ? ["-v"] : ["-q"]) + words).result()
    #expect(result.status == 0, "\(pipeline): \(result.errors)")
    return result
  }

  /// Writes a Matroska file of H.264 test pictures with the given pattern.
  static func makeVideo(
    _ path: String, frames: Int = 40, pattern: String = "smpte100", size: String = "width=640,height=480"
  ) async throws {
    try await gstLaunch(
      "videotestsrc num-buffers=\(frames) pattern=\(pattern) ! video/x-raw,format=I420,\(size),framerate=30/1 "
        + "! x264enc speed-preset=ultrafast key-int-max=15 ! h264parse ! matroskamux ! filesink location=\(path)")
  }
}
