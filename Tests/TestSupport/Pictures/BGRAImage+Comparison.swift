import CLibYUV
import Foundation

@testable import PipSink

extension BGRAImage {
  /// The peak signal-to-noise ratio of the colour channels, in dB.
  func psnr(to other: BGRAImage) -> Double {
    guard size == other.size else { return 0 }
    // libyuv computes the sum, because without optimization a loop over a screen's bytes takes a second.
    let sum = ComputeSumSquareErrorPlane(
      bytes, Int32(bytes.count), other.bytes, Int32(bytes.count), Int32(bytes.count), 1)
    guard sum > 0 else { return .infinity }
    return 10 * log10(255 * 255 / (Double(sum) / Double(bytes.count / 4 * 3)))
  }

  func cropped(x: Int, y: Int, width: Int, height: Int) -> BGRAImage {
    let part = [UInt8](unsafeUninitializedCapacity: width * height * 4) { part, count in
      bytes.withUnsafeBytes { all in
        for row in 0..<height {
          memcpy(part.baseAddress! + row * width * 4, all.baseAddress! + ((y + row) * size.width + x) * 4, width * 4)
        }
      }
      count = width * height * 4
    }
    return BGRAImage(size: PictureSize(width: width, height: height), bytes: part)
  }
}
