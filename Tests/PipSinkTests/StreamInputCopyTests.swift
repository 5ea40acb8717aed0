import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Frames whose planes an app gives away only during the call that pushes them.
@Suite struct StreamInputCopyTests {
  private let size = PictureSize(width: 35, height: 21)
  private let pool = PixelBufferPool()
  private let collector = CountingConsumer()
  private let input: StreamInput

  init() {
    input = StreamInput(streamID: "a", deliveringTo: collector, pool: pool)
  }

  /// The planes of a frame as an engine has them, each in memory between pages that cannot be accessed.
  private final class EnginePlanes {
    private let planes: [UnsafeLentPlane]
    private let memories: [GuardedMemory]

    /// - Parameters:
    ///   - padding: the number of bytes between rows; nil for rows that are as far apart as those of a pool.
    ///   - isUpsideDown: whether the bottom row is the first one in memory.
    init(_ original: PixelBuffer, padding: Int?, isUpsideDown: Bool) throws {
      var (planes, memories): ([UnsafeLentPlane], [GuardedMemory]) = ([], [])
      for (index, bytes) in try Oracle.planes(original).enumerated() {
        let rowCount = Int(original.pixelFormat.planeSize(index, of: original.size).height)
        let byteCount = bytes.count / rowCount
        let stride = byteCount + (padding ?? byteCount.roundedUp(toPower: 6) - byteCount)
        let memory = GuardedMemory(byteCount: 64 << 10)
        let start = memory.place(byteCount: stride * (rowCount - 1) + byteCount)
        memset(start, 0xA5, memory.used)
        for row in 0..<rowCount {
          let place = isUpsideDown ? rowCount - 1 - row : row
          bytes.withUnsafeBytes { _ = memcpy(start + place * stride, $0.baseAddress! + row * byteCount, byteCount) }
        }
        planes.append(
          UnsafeLentPlane(
            address: isUpsideDown ? start + (rowCount - 1) * stride : start,
            bytesPerRow: isUpsideDown ? -stride : stride))
        memories.append(memory)
      }
      (self.planes, self.memories) = (planes, memories)
    }

    /// Calls `body` with the planes, which are valid during the call.
    func lend(_ body: ([UnsafeLentPlane]) throws -> Void) rethrows {
      try withExtendedLifetime(self) { try body(planes) }
    }

    /// What an engine does with its memory after the call.
    func overwrite() {
      for memory in memories { memset(memory.base, 0x5A, memory.used) }
    }
  }

  @Test(arguments: PixelFormat.allCases, [(0, false), (0, true), (13, false), (13, true), (nil, false), (nil, true)])
  func planesOfEveryFormatAreCopiedWhateverTheirRows(format: PixelFormat, rows: (padding: Int?, isUpsideDown: Bool))
    throws
  {
    for size in [size, PictureSize(width: 64, height: 2), PictureSize(width: 1, height: 1)] {
      let original = try TestFrame.keptPixelBuffer(TestFrame.testSource(format, size.width, size.height))
      let engine = try EnginePlanes(original, padding: rows.padding, isUpsideDown: rows.isUpsideDown)
      try engine.lend { try input.push(copying: $0, format: format, size: size) }
      engine.overwrite()
      let frame = try #require(collector.sampleBuffers.last)
      #expect(try Oracle.planes(frame.pixelBuffer) == Oracle.planes(original))
      #expect(frame.pixelBuffer.size == size)
    }
  }

  @Test func framesComeInTheirOrderFromMemoryThatIsUsedAgain() throws {
    for value in 1...40 as ClosedRange<UInt8> {
      let bytes = [UInt8](repeating: value, count: 35 * 21)
      try bytes.withUnsafeBytes { bytes in
        let plane = UnsafeLentPlane(address: try #require(bytes.baseAddress), bytesPerRow: 35)
        try input.push(copying: [plane], format: .gray8, size: size)
      }
      let frame = try #require(collector.sampleBuffers.last)
      #expect(frame.sequenceNumber == UInt64(value) && frame.attachments.displayImmediately)
      #expect(try Oracle.tightBytes(frame.pixelBuffer).allSatisfy { $0 == value })
      collector.removeAll()
    }
    #expect(pool.statistics.bufferCount <= 2)
    #expect(pool.statistics.inUse == 0)
  }

  @Test func everyThreadsFramesArrive() async throws {
    let input = input
    let size = size
    await withTaskGroup(of: Void.self) { group in
      for value in 1...4 as ClosedRange<UInt8> {
        group.addTask {
          let bytes = [UInt8](repeating: value, count: 35 * 21)
          for _ in 0..<4 {
            bytes.withUnsafeBytes { bytes in
              guard let address = bytes.baseAddress else { return }
              try? input.push(
                copying: [UnsafeLentPlane(address: address, bytesPerRow: 35)], format: .gray8, size: size)
            }
          }
        }
      }
    }
    #expect(collector.sampleBuffers.map(\.sequenceNumber) == Array(1...16))
    let values = try collector.sampleBuffers.map { frame in
      let bytes = try Oracle.tightBytes(frame.pixelBuffer)
      #expect(Set(bytes).count == 1, "two threads wrote into one frame")
      return bytes[0]
    }
    #expect(values.sorted() == [1, 2, 3, 4].flatMap { [UInt8](repeating: $0, count: 4) })
  }

  @Test func anAppThatKeepsEveryFrameIsToldThatThePoolHasNoMore() throws {
    let original = try TestFrame.keptPixelBuffer(TestFrame.testSource(.gray8, 35, 21))
    let engine = try EnginePlanes(original, padding: 0, isUpsideDown: false)
    func push() throws { try engine.lend { try input.push(copying: $0, format: .gray8, size: size) } }
    for _ in 0..<16 { try push() }
    #expect(throws: PipSinkError.frame(.poolExhausted(limit: 16))) { try push() }
    collector.removeAll()
    try push()
    #expect(collector.sampleBuffers.map(\.sequenceNumber) == [17], "the refused frame has no number")
  }

  @Test func coloursAndTheShapeOfPixelsAreThoseThatTheAppSays() throws {
    let original = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 35, 21))
    let engine = try EnginePlanes(original, padding: 0, isUpsideDown: false)
    try engine.lend { planes in
      let matrices: [Colorimetry.Matrix] = [.bt601, .bt709, .bt2020]
      for colorimetry in matrices.flatMap({ matrix in
        [true, false].map { Colorimetry(matrix: matrix, isFullRange: $0) }
      }) {
        try input.push(copying: planes, format: .i420, size: size, colorimetry: colorimetry)
        #expect(collector.sampleBuffers.last?.formatDescription.colorimetry == colorimetry)
      }
      try input.push(copying: planes, format: .i420, size: size, pixelAspectRatio: (32, 28))
      let wide = try #require(collector.sampleBuffers.last?.formatDescription)
      #expect(wide.pixelAspectRatio == (8, 7) && wide.displaySize == (40, 21))
      try input.push(copying: planes, format: .i420, size: size)
      let usual = try #require(collector.sampleBuffers.last?.formatDescription)
      #expect(usual.pixelAspectRatio == (1, 1) && usual.colorimetry == Colorimetry(matrix: .bt601, isFullRange: false))
      try input.push(
        copying: Array(planes.prefix(1)), format: .bgrx, size: PictureSize(width: 8, height: 8),
        colorimetry: Colorimetry(matrix: .bt709, isFullRange: false))
      #expect(collector.sampleBuffers.last?.formatDescription.capsDescription.contains("BGRx") == true)
    }
  }

  @Test func planesThatCannotBeAreRefused() throws {
    let original = try TestFrame.keptPixelBuffer(TestFrame.testSource(.i420, 35, 21))
    let engine = try EnginePlanes(original, padding: 0, isUpsideDown: false)
    try engine.lend { try refuseWhatCannotBe($0) }
  }

  private func refuseWhatCannotBe(_ planes: [UnsafeLentPlane]) throws {
    func refusal(
      _ planes: [UnsafeLentPlane], _ size: PictureSize? = nil, ratio: (Int, Int) = (1, 1)
    ) throws -> PipSinkError? {
      #expect(throws: PipSinkError.self) {
        try input.push(
          copying: planes, format: .i420, size: size ?? self.size, pixelAspectRatio: (ratio.0, ratio.1))
      }
    }
    func unreadable(_ plane: Int, _ stride: Int, _ needed: Int) -> PipSinkError {
      .frame(.unreadable(reason: "plane \(plane) has rows of \(stride) bytes, but needs \(needed)"))
    }
    #expect(try refusal([]) == .frame(.noSuchPlane(index: 0, count: 3)))
    #expect(try refusal(planes + planes) == .frame(.noSuchPlane(index: 6, count: 3)))
    for stride in [0, 34, -34] {
      let short = [UnsafeLentPlane(address: planes[0].address, bytesPerRow: stride), planes[1], planes[2]]
      #expect(try refusal(short) == unreadable(0, stride, 35))
    }
    for stride in [17, Int.max, Int.min] {
      let wrong = [planes[0], planes[1], UnsafeLentPlane(address: planes[2].address, bytesPerRow: stride)]
      #expect(try refusal(wrong) == unreadable(2, stride, 18))
    }
    for (width, height) in [(0, 21), (35, 0), (-35, 21), (Int.max, 21)] {
      #expect(
        try refusal(planes, .init(width: width, height: height)) == .frame(.invalidSize(width: width, height: height)))
    }
    for ratio in [(0, 1), (1, 0), (-1, 1), (Int.max, 1)] {
      guard case .frame(.invalidCaps) = try refusal(planes, ratio: ratio) else {
        Issue.record("\(ratio) was accepted")
        continue
      }
    }
    #expect(collector.sampleBuffers.isEmpty)
    #expect(pool.statistics.inUse == 0)
    try input.push(copying: planes, format: .i420, size: size)
    #expect(collector.sampleBuffers.map(\.sequenceNumber) == [1])
  }
}
