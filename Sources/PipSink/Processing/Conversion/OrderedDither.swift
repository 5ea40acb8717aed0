import CLibYUV

/// Shows values between two values of eight bits by a pattern of both, whose average is the value. The pattern is fixed,
/// so that a picture that stands still does not flicker.
///
/// It is a matrix of Bayer with eight rows and columns. Of the four values between two, which ten bits have, it makes
/// the finest pattern that there is. Averages of ten-bit samples may have more, which it needs its size for.
enum OrderedDither {
  /// The thresholds of a row of a picture, in units of 1/256 of a value: eight bytes for the columns from the lowest one
  /// on, and again for each eight after them.
  static func thresholds(ofRow row: Int) -> UInt64 { rows[row & 7] }

  private static let rows: InlineArray<8, UInt64> = {
    var rows = InlineArray<8, UInt64>(repeating: 0)
    for row in 0..<8 {
      for column in 0..<8 {
        var threshold: UInt64 = 0
        for bit in 0..<3 {
          let (x, y) = (column >> bit & 1, row >> bit & 1)
          threshold |= UInt64((x ^ y) << 1 | y) << UInt64(2 * (2 - bit))
        }
        rows[row] |= (threshold * 4 + 2) << UInt64(8 * column)
      }
    }
    return rows
  }()

  /// Reduces ten bits per sample to eight, for all planes that the target has. A value with two zeros at its end, such
  /// as black and white, stays as it is.
  ///
  /// - Parameters:
  ///   - source: has planes with ten bits per sample.
  ///   - target: has the same planes with eight bits per sample, or only luma.
  ///   - firstRow: the row of the whole picture that is the first one here.
  static func reduce(_ source: Picture, into target: Picture, firstRow: Int) {
    let shift = Int32(6 - (source.format.tenBitShift ?? 0))
    withUnsafePointer(to: rows) { rows in
      rows.withMemoryRebound(to: UInt64.self, capacity: 8) { thresholds in
        for index in 0..<target.planeCount {
          let (from, to) = (source.planes[index], target.planes[index])
          let isInPairs = source.format.isSemiPlanar && index == 1
          let first = index == 0 ? firstRow : firstRow >> source.format.chromaShift.y
          pipsink_dither_plane(
            from.data, Int(from.stride), to.data, Int(to.stride), isInPairs ? from.width * 2 : from.width, from.height,
            shift, thresholds, Int32(first), isInPairs)
        }
      }
    }
  }
}
