import Testing

@testable import PipSink

/// Reads and checks the pictures that the demo and tools for screenshots have written.
enum PictureFile {
  /// Decodes a PNG or PPM file with GStreamer and returns its pixels. Tools for screenshots write a PPM file in a tenth of
  /// the time, since they need not compress it.
  static func decoded(_ path: String) async throws -> BGRAImage {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      .arguments([
        "filesrc", "location=\(path)", "!", path.hasSuffix(".ppm") ? "pnmdec" : "pngdec", "!", "videoconvert", "!",
        "appsink", "name=a", "sync=false",
      ]))
    let events = engine.events()
    try await engine.start { _ in consumer }
    // A picture stays; a broken one fails.
    loop: for await event in events {
      switch event {
      case .streamStateChanged(_, .playing), .finished: break loop
      default: break
      }
    }
    await engine.stop()
    let frame = try #require(consumer.sampleBuffers.last)
    let renderer = try OffscreenRenderer(size: frame.pixelBuffer.size)
    try renderer.render(frame, gravity: .resize)
    return try #require(renderer.image())
  }

  /// Expects values of blue, green and red that differ from a pixel no more than scaling and H.264 may change them.
  static func expect(_ pixel: [UInt8], isNear color: [Int], location: SourceLocation = #_sourceLocation) {
    let isNear = zip(pixel, color).allSatisfy { abs(Int($0) - $1) <= 12 }
    #expect(isNear, "\(pixel) is not near \(color)", sourceLocation: location)
  }
}
