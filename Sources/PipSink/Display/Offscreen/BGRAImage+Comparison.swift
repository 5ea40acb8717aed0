import CLibYUV
import Glibc

extension BGRAImage {
  /// How much alike another picture is: the peak signal-to-noise ratio of the colour channels, in decibels. It is infinite
  /// for the same picture, and 0 for one of another size. The alpha of both must be the same.
  package func psnr(to other: BGRAImage) -> Double {
    guard size == other.size else { return 0 }
    // libyuv computes the sum, because without optimization a loop over a screen's bytes takes a second.
    let sum = ComputeSumSquareErrorPlane(
      bytes, Int32(bytes.count), other.bytes, Int32(bytes.count), Int32(bytes.count), 1)
    guard sum > 0 else { return .infinity }
    return 10 * log10(255 * 255 / (Double(sum) / Double(bytes.count / 4 * 3)))
  }
}
