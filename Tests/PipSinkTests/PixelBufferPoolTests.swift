import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct PixelBufferPoolTests {
  private func format(_ width: Int = 64, _ format: PixelFormat = .i420) throws -> VideoFormatDescription {
    try TestFrame.keptPixelBuffer(TestFrame.testSource(format, width, 48)).formatDescription
  }

  @Test func memoryComesBackWhenTheLastReferenceGoesAndIsUsedAgain() throws {
    let pool = PixelBufferPool()
    let format = try format()
    for _ in 0..<10 {
      let pixelBuffer = try pool.makePixelBuffer(format).finish()
      #expect(pool.statistics.inUse == 1)
      let another = pixelBuffer
      _ = another
    }
    let statistics = pool.statistics
    #expect(statistics.inUse == 0)
    #expect(statistics.bufferCount == 1)
    #expect(statistics.taken == 10)
    #expect(statistics.reused == 9)
    #expect(statistics.byteCount >= 64 * 48 * 3 / 2)
  }

  @Test func aBufferThatIsNotFinishedComesBackToo() throws {
    let pool = PixelBufferPool()
    _ = try pool.makePixelBuffer(format())
    #expect(pool.statistics.inUse == 0)
    #expect(pool.statistics.bufferCount == 1)
  }

  @Test func thePoolIsBounded() throws {
    var configuration = PixelBufferPool.Configuration()
    configuration.maximumBufferCount = 3
    let pool = PixelBufferPool(configuration: configuration)
    let format = try format()
    var kept = try (0..<3).map { _ in try pool.makePixelBuffer(format).finish() }
    #expect(throws: PipSinkError.frame(.poolExhausted(limit: 3))) { try pool.makePixelBuffer(format).finish() }
    #expect(pool.statistics.refused == 1)
    kept.removeLast()
    #expect(throws: Never.self) { try pool.makePixelBuffer(format).finish() }
  }

  @Test func aStreamWhoseSizeChangesGetsTheNewSizeAndTheOldOneGoes() throws {
    var configuration = PixelBufferPool.Configuration()
    configuration.maximumFormatCount = 2
    let pool = PixelBufferPool(configuration: configuration)
    for width in [64, 128, 64, 192, 64] {
      let pixelBuffer = try pool.makePixelBuffer(format(width)).finish()
      #expect(pixelBuffer.size.width == width)
      #expect(try pixelBuffer.withPlane(0) { $1.width } == width)
    }
    // The size 64 was used again before the size 192 was requested, so the pool released the size 128.
    #expect(pool.statistics.bufferCount == 2)
    #expect(pool.statistics.formatsTrimmed == 1)
    #expect(pool.statistics.reused == 2)
  }

  @Test func aFrameOutlivesThePoolAndItsFormat() throws {
    var pool: PixelBufferPool? = PixelBufferPool()
    var frame = try #require(pool).makePixelBuffer(format())
    try frame.withMutablePlane(0) { bytes, _ in bytes.storeBytes(of: 77, toByteOffset: 0, as: UInt8.self) }
    let pixelBuffer = frame.finish()
    pool = nil
    #expect(try pixelBuffer.withPlane(0) { bytes, _ in bytes.unsafeLoad(as: UInt8.self) } == 77)
  }

  @Test func whatIsIdleIsGivenBackByItself() async throws {
    var configuration = PixelBufferPool.Configuration()
    configuration.idleTime = .seconds(0.05)
    let pool = PixelBufferPool(configuration: configuration)
    let kept = try pool.makePixelBuffer(format()).finish()
    _ = try pool.makePixelBuffer(format()).finish()
    #expect(await eventually { pool.statistics.bufferCount == 0 })
    #expect(pool.statistics.formatsTrimmed == 1)
    // Memory that is in use stays with its frame, and the pool can be used again.
    #expect(try kept.withPlane(0) { bytes, _ in bytes.byteCount } > 0)
    _ = try pool.makePixelBuffer(format()).finish()
    #expect(pool.statistics.taken == 3)
    #expect(await eventually { pool.statistics.bufferCount == 0 })
  }

  @Test func takingABufferAndReturningItAreUses() throws {
    let pool = try #require(CountingBufferPool(formatDescription: format(), maximumBufferCount: 2))
    func passes(_ time: MonotonicTime) { while MonotonicTime.now <= time {} }
    let made = pool.counts.lastUse
    passes(made)
    let buffer = try pool.take()
    let taken = pool.counts.lastUse
    #expect(taken > made)
    passes(taken)
    gst_buffer_unref(buffer)
    #expect(pool.counts.lastUse > taken && pool.counts.inUse == 0)
  }

  @Test func trimmingByHandGivesBackWhatIsNotUsed() throws {
    let pool = PixelBufferPool()
    _ = try pool.makePixelBuffer(format()).finish()
    pool.trim()
    #expect(pool.statistics.bufferCount == 0)
    #expect(pool.statistics.byteCount == 0)
  }

  @Test func aMutableCopyDoesNotTouchTheOriginal() throws {
    let pool = PixelBufferPool()
    for format in PixelFormat.allCases {
      let original = try TestFrame.keptPixelBuffer(TestFrame.testSource(format, 34, 18))
      let before = try Oracle.planes(original)
      var copy = try pool.mutableCopy(of: original)
      for plane in 0..<copy.planeCount {
        try copy.withMutablePlane(plane) { bytes, layout in
          bytes.withUnsafeMutableBytes { _ = $0.initializeMemory(as: UInt8.self, repeating: 3) }
        }
      }
      let changed = copy.finish()
      #expect(try Oracle.planes(original) == before)
      #expect(try Oracle.planes(changed).allSatisfy { $0.allSatisfy { $0 == 3 } })
      #expect(try Oracle.planes(pool.mutableCopy(of: original).finish()) == before)
    }
  }

  @Test(arguments: [PixelFormat.i420, .nv12, .bgra, .p010])
  func aMutableCopyInAnotherFormatIsTheConvertedPicture(format: PixelFormat) throws {
    let original = try TestFrame.keptPixelBuffer(TestFrame.testSource(format, 34, 18))
    let before = try Oracle.planes(original)
    let converter = PixelConverter()
    var copy = try converter.mutableCopy(of: original, as: .bgra)
    try copy.withMutablePlane(0) { bytes, layout in
      #expect(layout.width == 34 && layout.pixelStride == 4)
      bytes.storeBytes(of: 0xFF12_3456, toByteOffset: 17 * layout.bytesPerRow + 33 * 4, as: UInt32.self)
    }
    let changed = copy.finish()
    var expected = try Oracle.tightBytes(converter.convert(original, to: .init(pixelFormat: .bgra)))
    expected.replaceSubrange((expected.count - 4)..., with: [0x56, 0x34, 0x12, 0xFF])
    #expect(try Oracle.tightBytes(changed) == expected)
    #expect(try Oracle.planes(original) == before)
  }

  @Test func aPlaneThatDoesNotExistIsATypedError() throws {
    var frame = try PixelBufferPool().makePixelBuffer(format())
    do throws(PipSinkError) {
      try frame.withMutablePlane(3) { _, _ in }
      Issue.record("no error was thrown")
    } catch {
      #expect(error == .frame(.noSuchPlane(index: 3, count: 3)))
    }
  }

  @Test func manyThreadsMayTakeAndGiveBackAtOnce() async throws {
    var configuration = PixelBufferPool.Configuration()
    configuration.maximumBufferCount = 8
    configuration.idleTime = .seconds(0.001)
    let pool = PixelBufferPool(configuration: configuration)
    let formats = try [format(64), format(128), format(64, .nv12)]
    await withTaskGroup(of: Void.self) { group in
      for worker in 0..<4 {
        group.addTask {
          for round in 0..<500 {
            if let frame = try? pool.makePixelBuffer(formats[(worker + round) % 3]).finish() {
              _ = try? frame.withPlane(0) { bytes, _ in bytes.byteCount }
            }
          }
        }
      }
    }
    #expect(await eventually { pool.statistics.inUse == 0 })
  }
}
