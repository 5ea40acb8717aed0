import CGStreamer
import Glibc
import PipSink
import PipSinkCommandLine

/// Test pictures in memory to work on in turn, which are more than the processor's cache holds, and memory to copy them
/// to.
final class BenchFrames {
  let sources: [SampleBuffer]
  /// The number of bytes of one frame.
  let byteCount: Int
  private let copies: [UnsafeMutableRawPointer]

  /// - Parameters:
  ///   - colorimetry: the colorimetry in the caps; nil for the default of the size.
  ///   - count: the number of pictures. It is one where instructions are counted, which caches do not change.
  init(_ format: PixelFormat, _ size: PictureSize, colorimetry: String? = nil, count: Int = 8) async throws {
    sources = try await Self.makeSources(format, size, colorimetry, count)
    byteCount = sources[0].pixelBuffer.withUnsafeGstSample { Int(gst_buffer_get_size(gst_sample_get_buffer($0))) }
    let byteCount = byteCount
    copies = (0..<count).map { _ in
      let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
      memset(memory, 1, byteCount)
      return memory
    }
  }

  deinit {
    for copy in copies { copy.deallocate() }
  }

  /// Copies the frame of this number.
  func copy(_ index: Int) {
    let number = index % sources.count
    sources[number].pixelBuffer.withUnsafeGstSample { sample in
      var map = GstMapInfo()
      let buffer = gst_sample_get_buffer(sample)
      guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return }
      memcpy(copies[number], map.data, Int(map.size))
      gst_buffer_unmap(buffer, &map)
    }
  }

  /// Lets several sides work on so many frames each. They take turns of eight frames, after two turns of each to warm
  /// up: in a new process whoever works first takes some 15 % longer.
  ///
  /// - Parameter sides: the work on one frame, whose number it gets.
  /// - Returns: the seconds for one frame, of each side.
  static func inTurn(
    _ frames: Int, clock: clockid_t = CLOCK_MONOTONIC, _ sides: [(Int) throws -> Void]
  ) throws -> [Double] {
    let turn = 8
    for side in sides { for index in 0..<2 * turn { try side(index) } }
    var times = sides.map { _ in 0.0 }
    for first in stride(from: 0, to: frames, by: turn) {
      for (number, side) in sides.enumerated() {
        let start = FramePathStart.seconds(clock)
        for index in first..<min(first + turn, frames) { try side(index) }
        times[number] += FramePathStart.seconds(clock) - start
      }
    }
    return times.map { $0 / Double(frames) }
  }

  private static func makeSources(
    _ format: PixelFormat, _ size: PictureSize, _ colorimetry: String?, _ count: Int
  ) async throws -> [SampleBuffer] {
    let collector = FrameCollector()
    let engine = try VideoEngine()
    let pipeline =
      "videotestsrc num-buffers=\(count) ! video/x-raw,format=\(format.rawValue),"
      + "width=\(size.width),height=\(size.height),framerate=30/1\(colorimetry.map { ",colorimetry=\($0)" } ?? "")"
      + " ! appsink sync=false"
    try engine.startPlayingStream("a", from: .text(pipeline)) { _ in collector }
    let frames = try collector.frames(count)
    // A pipeline that is still ending would be measured and counted, too.
    await engine.stop()
    return frames
  }
}

/// Collects the frames that arrive.
private final class FrameCollector: SampleBufferConsumer {
  private let sampleBuffers = Locked<[SampleBuffer]>([])

  func consume(_ sampleBuffer: SampleBuffer) {
    sampleBuffers.withLock { $0.append(sampleBuffer) }
    sampleBuffers.wakeAll()
  }

  func frames(_ count: Int) throws(CommandError) -> [SampleBuffer] {
    let all = sampleBuffers.wait(until: .now.advanced(by: .seconds(30))) { $0.count < count ? nil : $0 }
    guard let all else { throw CommandError(.failed, "the benchmark's source delivered no frames") }
    return all
  }
}

/// A part of a pipeline that sends the same test picture at a steady rate, which takes next to no processor time.
struct StillSource {
  var size: PictureSize
  var format = PixelFormat.i420
  /// Frames a second.
  var rate: Int

  var description: String {
    "videotestsrc num-buffers=1 ! video/x-raw,format=\(format.rawValue),width=\(size.width),height=\(size.height),"
      + "framerate=\(rate)/1 ! imagefreeze ! video/x-raw,framerate=\(rate)/1"
  }
}
