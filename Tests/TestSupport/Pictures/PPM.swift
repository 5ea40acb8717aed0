import CLibYUV
import Foundation
import Testing

@testable import PipSink

/// Reads screenshots. Tools write a PPM file in a tenth of the time of a PNG file, which they compress.
enum PPM {
  /// Reads a binary PPM file (P6) with 8 bits for each colour, and returns its pixels.
  static func read(_ path: String) throws -> BGRAImage {
    let file = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
    // The header is "P6", the width, the height and the highest value. One white-space byte ends each of them.
    let fields = file.prefix(64).split(maxSplits: 4, omittingEmptySubsequences: false) { $0 == 0x0A || $0 == 0x20 }
    try #require(fields.count == 5)
    let header = fields.prefix(4).map { String(decoding: $0, as: UTF8.self) }
    let (width, height) = (try #require(Int(header[1])), try #require(Int(header[2])))
    try #require(header[0] == "P6" && header[3] == "255" && file.count - fields[4].startIndex == width * height * 3)
    let bytes = [UInt8](unsafeUninitializedCapacity: width * height * 4) { pixels, count in
      file[fields[4].startIndex...].withUnsafeBufferPointer { colours in
        _ = RAWToARGB(
          colours.baseAddress, Int32(width * 3), pixels.baseAddress, Int32(width * 4), Int32(width), Int32(height))
      }
      count = width * height * 4
    }
    return BGRAImage(size: PictureSize(width: width, height: height), bytes: bytes)
  }
}
