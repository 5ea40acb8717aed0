import CAllocationCounter
import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// In the steady state, a frame allocates its own wrappers and nothing else. The counts include the memory that libyuv
/// allocates for its rows and frees within the call.
@Suite(.enabled(if: pipsink_counts_allocations()))
struct AllocationTests {
  private static let frameCount = 1000

  /// Counts the calls of malloc per frame on this thread. The first 50 frames, which fill pools and plans, are not
  /// counted.
  private func allocationsPerFrame(_ body: () throws -> Void) rethrows -> Double {
    for _ in 0..<50 { try body() }
    let before = pipsink_allocation_count()
    for _ in 0..<Self.frameCount { try body() }
    return Double(pipsink_allocation_count() - before) / Double(Self.frameCount)
  }

  /// Wraps a frame again, as the engine does.
  private func wrapped(_ source: PixelBuffer) throws -> SampleBuffer {
    let pixelBuffer = PixelBuffer(owning: gst_buffer_ref(source.buffer), formatDescription: source.formatDescription)
    return SampleBuffer(pixelBuffer: pixelBuffer, attachments: .init(displayImmediately: true))
  }

  private let source: PixelBuffer

  init() throws {
    source = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 320, 240))
  }

  @Test func aFrameThatIsRoutedCostsOneObject() throws {
    let layer = SampleBufferDisplayLayer(name: "test")
    let consumer = FrameRouter().addStream("a", inApp: layer)
    let count = try allocationsPerFrame { consumer.consume(try wrapped(source)) }
    #expect(count <= 1)
  }

  @Test(arguments: [(padding: 0, isUpsideDown: false), (padding: 24, isUpsideDown: true)])
  func aFrameThatIsPushedByItsPlanesCostsOneObject(padding: Int, isUpsideDown: Bool) throws {
    let (width, height) = (source.size.width, source.size.height)
    let input = StreamInput(streamID: "a", deliveringTo: FrameRouter().input(for: "a"))
    try withUnsafeTemporaryAllocation(byteCount: (width + padding) * height, alignment: 16) { bytes in
      let base = try #require(UnsafeRawPointer(bytes.baseAddress))
      let stride = width + padding
      let luma = UnsafeLentPlane(
        address: isUpsideDown ? base + (height - 1) * stride : base, bytesPerRow: isUpsideDown ? -stride : stride)
      let chroma = UnsafeLentPlane(address: base, bytesPerRow: stride)
      let count = try allocationsPerFrame {
        try input.push(
          copying: [luma, chroma, chroma], format: .i420, size: PictureSize(width: width, height: height),
          timing: SampleTiming(presentationTimeStamp: MediaTime(value: 1, timescale: 30)), orientation: .mirrored,
          colorimetry: Colorimetry(matrix: .bt709, isFullRange: true), pixelAspectRatio: (4, 3))
      }
      #expect(count <= 1)
    }
  }

  @Test func aFrameThatGoesThroughProcessorsCostsNoMoreThanTheArrayOfThem() throws {
    let consumer = FrameRouter().input(for: "a")
    let limiter = try #require(FrameRateLimiter(maximumRate: 1e9))
    let chain = ProcessorChain([FrameDecimator(every: 1), limiter], next: consumer)
    #expect(try allocationsPerFrame { chain.consume(try wrapped(source)) } <= 1)
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .bgra, .yuy2, .p010])
  func aFrameThatIsShownAtItsSizeCostsOneObject(format: PixelFormat) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.testSource(format, 320, 240))
    let renderer = try OffscreenRenderer(size: source.size)
    #expect(try allocationsPerFrame { try renderer.render(try wrapped(source), gravity: .resize) } <= 1)
  }

  @Test(arguments: [(PixelFormat.i420, 4.0), (.nv12, 4.0), (.bgra, 4.0)])
  func aFrameThatIsShownSmallerCostsOneObjectAndLibyuvsRows(format: PixelFormat, limit: Double) throws {
    let source = try TestFrame.keptPixelBuffer(TestFrame.testSource(format, 320, 240))
    let renderer = try OffscreenRenderer(size: .init(width: 100, height: 70))
    #expect(try allocationsPerFrame { try renderer.render(try wrapped(source), gravity: .resizeAspect) } <= limit)
  }

  @Test func aConvertedFrameCostsItsWrappersAndMemoryFromThePool() throws {
    let converter = PixelConverter()
    let count = try allocationsPerFrame {
      _ = try converter.convert(try wrapped(source), to: .init(pixelFormat: .nv12))
    }
    // These are the wrapper of the source and the wrapper of the result. GStreamer's sample comes from GLib's slices.
    #expect(count <= 3)
    #expect(converter.pool.statistics.bufferCount == 1)
  }

  @Test func aScaledFrameCostsItsWrappersAndLibyuvsRows() throws {
    let converter = PixelConverter()
    let count = try allocationsPerFrame {
      _ = try converter.convert(try wrapped(source), to: .init(size: .init(width: 160, height: 100)))
    }
    #expect(count <= 6)
    #expect(converter.pool.statistics.bufferCount == 1)
  }

  @Test func theCounterCounts() {
    let before = pipsink_allocation_count()
    let array = Array(repeating: UInt8(1), count: 100_000)
    #expect(pipsink_allocation_count() > before)
    _ = array
  }
}
