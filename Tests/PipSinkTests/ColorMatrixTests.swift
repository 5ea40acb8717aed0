import CLibYUV
import Logging
import Testing

@testable import PipSink

/// Copies of libyuv's matrices with a different weight of blue. libyuv does not document where this weight is stored.
@Suite struct ColorMatrixTests {
  private static var matrices: [(Colorimetry.Matrix, OpaquePointer, UInt8)] {
    [
      (.bt601, pipsink_kYuvI601Constants()!, 129), (.bt709, pipsink_kYuvH709Constants()!, 136),
      (.bt2020, pipsink_kYuv2020Constants()!, 137),
    ]
  }

  #if arch(x86_64)
    @Test func blueIsCorrectedOnThisMachine() {
      for (matrix, original, weight) in Self.matrices {
        let log = RecordedLog()
        let result = ColorMatrix(original, matrix, blueWeight: weight, logger: log.makeLogger("pixels", level: .trace))
        #expect(result.isCorrected && result.pointer != original, "\(matrix)")
        #expect(log.entries.isEmpty)
      }
    }
  #endif

  typealias Change = @Sendable (UnsafeMutableRawBufferPointer, UInt8) -> Bool

  /// The effects that the change would have with other layouts of libyuv's structure: other colours, a different blue,
  /// or no effect.
  @Test(
    arguments: [
      ("nothing", { @Sendable _, _ in true }),
      ("it does not know how", { _, _ in false }),
      (
        "another colour",
        { matrix, weight in
          for index in 32..<64 { matrix[index] = weight }
          return true
        }
      ),
      (
        "the middle",
        { matrix, weight in
          matrix[matrix.count / 2] = weight
          return true
        }
      ),
      (
        "half of the bytes",
        { matrix, weight in
          for index in 0..<8 { matrix[index * 2] = weight }
          return true
        }
      ),
      (
        "the bytes between",
        { matrix, weight in
          for index in 0..<16 { matrix[index * 2 + 1] = weight }
          return true
        }
      ),
      (
        "too much",
        { matrix, _ in
          for index in 0..<16 { matrix[index * 2] = 200 }
          return true
        }
      ),
      (
        "everything",
        { matrix, weight in
          for index in matrix.indices { matrix[index] = weight }
          return true
        }
      ),
    ] as [(String, Change)])
  func aLayoutThatIsNotAsExpectedLeavesLibYUVsOwnMatrix(what: String, change: @escaping Change) {
    for (matrix, original, weight) in Self.matrices {
      let log = RecordedLog()
      let result = ColorMatrix(
        original, matrix, blueWeight: weight, logger: log.makeLogger("pixels", level: .trace), setBlueWeight: change)
      #expect(!result.isCorrected && result.pointer == original, "\(what), \(matrix)")
      #expect(log.entries.count == 1)
      #expect(log.entries.first?.message.contains("blue") == true)
    }
  }

  @Test func otherBytesThanThoseExpectedAreNotWrittenTo() {
    for bytes in [[UInt8](repeating: 128, count: 160), [UInt8](repeating: 0, count: 160), [128, 0, 128, 0]] {
      var bytes = bytes
      let before = bytes
      let isSet = bytes.withUnsafeMutableBytes { ColorMatrix.setBlueWeight($0, 136) }
      #expect(!isSet && bytes == before)
    }
  }
}
