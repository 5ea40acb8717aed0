import CGStreamer
import Foundation
import PipSink

/// One operation's sources and the ways to carry it out.
final class KernelBench {
  private let operation: KernelOperation
  private let sources: [SampleBuffer]
  private let single = PixelConverter(usesHelperThreads: false)
  private let helped = PixelConverter(usesHelperThreads: true)
  private let grayscale = GrayscaleProcessor()
  /// A frame's bytes, and as much to copy them to.
  private let byteCount: Int
  private let copies: [UnsafeMutableRawPointer]
  private static let frameCount = 8

  init(_ operation: KernelOperation) throws {
    self.operation = operation
    sources = try Self.makeSources(operation)
    byteCount = sources[0].pixelBuffer.withUnsafeGstSample { Int(gst_buffer_get_size(gst_sample_get_buffer($0))) }
    let byteCount = byteCount
    copies = (0..<Self.frameCount).map { _ in
      let memory = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 64)
      memset(memory, 1, byteCount)
      return memory
    }
  }

  deinit {
    for copy in copies { copy.deallocate() }
  }

  /// Seconds a frame.
  func pipSink(frames: Int, helped usesHelp: Bool) throws -> Double {
    let converter = usesHelp ? helped : single
    // As many results stay alive as there are sources, so that the pool's memory is no more in the cache than theirs.
    var results: [SampleBuffer?] = Array(repeating: nil, count: Self.frameCount)
    let work = { (index: Int) throws in
      let source = self.sources[index % Self.frameCount]
      results[index % Self.frameCount] =
        self.operation.isGrayscale
        ? try self.grayscale.process(source) : try converter.convert(source, to: self.operation.output)
    }
    for index in 0..<Self.frameCount { try work(index) }
    return try Self.seconds(frames, work)
  }

  func memcpy(frames: Int) -> Double {
    Self.seconds(frames) { index in
      let number = index % Self.frameCount
      self.sources[number].pixelBuffer.withUnsafeGstSample { sample in
        var map = GstMapInfo()
        let buffer = gst_sample_get_buffer(sample)
        guard gst_buffer_map(buffer, &map, GST_MAP_READ) != 0 else { return }
        Glibc.memcpy(self.copies[number], map.data, Int(map.size))
        gst_buffer_unmap(buffer, &map)
      }
    }
  }

  /// GstVideoConverter into memory of its own.
  func reference(frames: Int) -> Double {
    let format = sources[0].formatDescription
    var (inInfo, outInfo) = (GstVideoInfo(), GstVideoInfo())
    let target = operation.output.size ?? format.size
    let name = (operation.output.pixelFormat ?? format.pixelFormat).rawValue
    gst_video_info_set_format(
      &inInfo, gst_video_format_from_string(format.pixelFormat.rawValue), guint(format.size.width),
      guint(format.size.height))
    gst_video_info_set_format(
      &outInfo, gst_video_format_from_string(name), guint(target.width), guint(target.height))
    guard let converter = gst_video_converter_new(&inInfo, &outInfo, nil) else { return .nan }
    let buffers = (0..<Self.frameCount).map { _ in gst_buffer_new_allocate(nil, outInfo.size, nil) }
    defer {
      for buffer in buffers { gst_buffer_unref(buffer) }
      gst_video_converter_free(converter)
    }
    let work = { (index: Int) in
      let number = index % Self.frameCount
      self.sources[number].pixelBuffer.withUnsafeGstSample { sample in
        var (from, to) = (GstVideoFrame(), GstVideoFrame())
        guard gst_video_frame_map(&from, &inInfo, gst_sample_get_buffer(sample), GST_MAP_READ) != 0 else { return }
        defer { gst_video_frame_unmap(&from) }
        guard gst_video_frame_map(&to, &outInfo, buffers[number], GST_MAP_WRITE) != 0 else { return }
        gst_video_converter_frame(converter, &from, &to)
        gst_video_frame_unmap(&to)
      }
    }
    for index in 0..<Self.frameCount { work(index) }
    return Self.seconds(frames, work)
  }

  private static func seconds(_ frames: Int, _ work: (Int) throws -> Void) rethrows -> Double {
    let start = MonotonicTime.now
    for index in 0..<frames { try work(index) }
    return Double(MonotonicTime.now.nanoseconds(since: start)) / 1e9 / Double(frames)
  }

  private static func makeSources(_ operation: KernelOperation) throws -> [SampleBuffer] {
    let collector = FrameCollector()
    let engine = try VideoEngine(
      .text(
        "videotestsrc num-buffers=\(frameCount) ! video/x-raw,format=\(operation.format.rawValue),"
          + "width=\(operation.size.width),height=\(operation.size.height),framerate=30/1 ! appsink name=a sync=false"))
    try engine.start { _ in collector }
    defer { engine.stop() }
    return try collector.frames(frameCount)
  }
}

/// Keeps the frames that arrive.
private final class FrameCollector: SampleBufferConsumer, @unchecked Sendable {
  // `@unchecked Sendable`: `sampleBuffers` is behind the condition's lock.
  private let condition = NSCondition()
  private var sampleBuffers: [SampleBuffer] = []

  func consume(_ sampleBuffer: SampleBuffer) {
    condition.lock()
    sampleBuffers.append(sampleBuffer)
    condition.unlock()
    condition.signal()
  }

  func frames(_ count: Int) throws -> [SampleBuffer] {
    condition.lock()
    defer { condition.unlock() }
    let deadline = Date(timeIntervalSinceNow: 30)
    while sampleBuffers.count < count {
      guard condition.wait(until: deadline) else {
        throw DemoError(.failed, "the benchmark's source delivered no frames")
      }
    }
    return sampleBuffers
  }
}
