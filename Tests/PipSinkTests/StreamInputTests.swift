import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Frames that an app pushes into a session.
@Suite struct StreamInputTests {
  private let size = PictureSize(width: 35, height: 21)

  @Test(arguments: PixelFormat.allCases)
  func lentPlanesAreShownWithoutACopyAndGivenBackOnce(format: PixelFormat) throws {
    let original = try TestFrame.pixelBuffer(TestFrame.testSource(format, 36, 22))
    let bytes = try (0..<original.planeCount).map { index in
      try original.withPlane(index) { span, layout in
        (span.withUnsafeBytes { Array($0) }, layout.bytesPerRow)
      }
    }
    let blocks = bytes.map { plane in
      let block = UnsafeMutableRawBufferPointer.allocate(byteCount: plane.0.count, alignment: 16)
      block.copyBytes(from: plane.0)
      return block
    }
    defer { for block in blocks { block.deallocate() } }
    let releases = Locked(0)
    let collector = CountingConsumer()
    let input = StreamInput(streamID: "a", deliveringTo: collector)
    let description = try VideoFormatDescription.make(format, size: original.size, frameRate: (30, 1))
    do {
      let planes = try zip(blocks, bytes).map { block, plane in
        UnsafeLentPlane(address: try #require(UnsafeRawPointer(block.baseAddress)), bytesPerRow: plane.1)
      }
      input.push(
        try PixelBuffer(unsafeLending: planes, description) { releases.withLock { $0 += 1 } },
        timing: SampleTiming(presentationTimeStamp: MediaTime(seconds: 1)))
    }
    let frame = try #require(collector.sampleBuffers.first)
    #expect(frame.sequenceNumber == 1)
    #expect(frame.timing.presentationTimeStamp.seconds == 1)
    #expect(try Oracle.planes(frame.pixelBuffer) == Oracle.planes(original))
    for (index, block) in blocks.enumerated() {
      let address = try frame.pixelBuffer.withPlane(index) { span, _ in span.withUnsafeBytes { $0.baseAddress } }
      #expect(address == UnsafeRawPointer(block.baseAddress), "the frame was not copied")
    }
    #expect(releases.withLock { $0 } == 0)
    collector.removeAll()
    #expect(releases.withLock { $0 } == 0, "the test still has the frame")
    withExtendedLifetime(frame) {}
  }

  @Test func aLoanEndsWithTheLastFrameThatUsesIt() throws {
    let releases = Locked(0)
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 * 16 * 4, alignment: 16)
    defer { block.deallocate() }
    let description = try VideoFormatDescription.make(.bgra, size: .init(width: 64, height: 16))
    let plane = UnsafeLentPlane(address: try #require(UnsafeRawPointer(block.baseAddress)), bytesPerRow: 256)
    let layer = SampleBufferDisplayLayer(name: "test")
    do {
      let input = StreamInput(streamID: "a", deliveringTo: FrameRouter().input(for: "a"))
      let frame = try PixelBuffer(unsafeLending: [plane], description) { releases.withLock { $0 += 1 } }
      layer.enqueue(SampleBuffer(pixelBuffer: frame))
      input.push(frame)
    }
    #expect(releases.withLock { $0 } == 0)
    layer.flush()
    #expect(releases.withLock { $0 } == 1)
  }

  @Test func planesThatCannotBeAreRefusedAndGivenBack() throws {
    let releases = Locked(0)
    let block = UnsafeMutableRawBufferPointer.allocate(byteCount: 4096, alignment: 16)
    defer { block.deallocate() }
    let address = try #require(UnsafeRawPointer(block.baseAddress))
    let description = try VideoFormatDescription.make(.i420, size: size)
    let plane = UnsafeLentPlane(address: address, bytesPerRow: 36)
    #expect(throws: PipSinkError.frame(.noSuchPlane(index: 1, count: 3))) {
      try PixelBuffer(unsafeLending: [plane], description) { releases.withLock { $0 += 1 } }
    }
    let short = UnsafeLentPlane(address: address, bytesPerRow: 34)
    #expect(throws: PipSinkError.frame(.unreadable(reason: "plane 0 has rows of 34 bytes, but needs 35"))) {
      try PixelBuffer(unsafeLending: [short, plane, plane], description) { releases.withLock { $0 += 1 } }
    }
    #expect(releases.withLock { $0 } == 2)
    #expect(throws: PipSinkError.frame(.invalidSize(width: 0, height: 5))) {
      try VideoFormatDescription.make(.i420, size: .init(width: 0, height: 5))
    }
    #expect(throws: PipSinkError.frame(.invalidCaps("colorimetry purple"))) {
      try VideoFormatDescription.make(.i420, size: size, colorimetry: "purple")
    }
  }

  @Test func aSampleOfAnAppsOwnPipelineIsTakenAsItIs() throws {
    let sample = try TestFrame.sample(TestFrame.testSource(.nv12, 64, 36))
    let pixelBuffer = try PixelBuffer(unsafeGstSample: sample)
    gst_sample_unref(sample)
    #expect(pixelBuffer.pixelFormat == .nv12)
    #expect(pixelBuffer.size == PictureSize(width: 64, height: 36))
    #expect(try Oracle.tightBytes(pixelBuffer).count == 64 * 36)
  }

  @Test func framesOfSeveralThreadsAreHandedOnInTheOrderOfTheirNumbers() async throws {
    let frame = try TestFrame.pixelBuffer(TestFrame.testSource(.gray8, 16, 8))
    let collector = CountingConsumer()
    let input = StreamInput(streamID: "a", deliveringTo: collector)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask { for _ in 0..<500 { input.push(frame) } }
      }
    }
    #expect(collector.sampleBuffers.map(\.sequenceNumber) == Array(1...2000))
  }

  @Test func whatAnAppSaysOfAFrameArrivesWithIt() throws {
    let collector = CountingConsumer()
    let input = StreamInput(streamID: "a", deliveringTo: collector)
    let timing = SampleTiming(
      presentationTimeStamp: MediaTime(value: 5, timescale: 30), decodeTimeStamp: MediaTime(value: 3, timescale: 30),
      duration: MediaTime(value: 1, timescale: 30))
    try withUnsafeTemporaryAllocation(byteCount: 35 * 21, alignment: 1) { bytes in
      let plane = UnsafeLentPlane(address: try #require(UnsafeRawPointer(bytes.baseAddress)), bytesPerRow: 35)
      try input.push(copying: [plane], format: .gray8, size: size, timing: timing, orientation: .mirrored)
    }
    input.push(try #require(collector.sampleBuffers.first).pixelBuffer, timing: timing, orientation: .flippedVertically)
    #expect(collector.sampleBuffers.map(\.timing) == [timing, timing])
    #expect(collector.sampleBuffers.map(\.orientation) == [.mirrored, .flippedVertically])
    #expect(collector.sampleBuffers.allSatisfy { !$0.attachments.displayImmediately }, "the frame has a time")
  }
}
