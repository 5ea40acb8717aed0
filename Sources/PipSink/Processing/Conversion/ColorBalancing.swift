import CLibYUV
import Glibc

/// Applies a ``ColorBalance`` to YUV pictures with eight bits per sample, as GStreamer's `videobalance` does.
///
/// Luma is looked up in a table. So is chroma, unless the hue changes: then both samples of a pair are combined.
final class ColorBalancing: Sendable {
  let balance: ColorBalance
  private let luma: [UInt8]
  private let chroma: [UInt8]
  /// The rotation of a pair of chroma samples, multiplied by the saturation, as fixed-point numbers in units of
  /// 1/65,536.
  private let (cosine, sine): (Int32, Int32)

  private static let unit = 65536.0

  init(_ balance: ColorBalance) {
    self.balance = balance
    let brightness = Double(balance.brightness) / 1000 * 255
    let contrast = Double(balance.contrast) / 1000 + 1
    let saturation = Double(balance.saturation) / 1000 + 1
    let hue = Double(balance.hue) / 1000 * .pi
    let table = { (value: (Double) -> Double) in
      (0..<256).map { UInt8(max(0, min(255, value(Double($0)).rounded(.toNearestOrEven)))) }
    }
    // As in videobalance, black is 16 for every range of the picture's values.
    luma = table { 16 + (($0 - 16) * contrast + brightness) }
    chroma = table { 128 + ($0 - 128) * saturation }
    cosine = Int32((cos(hue) * saturation * Self.unit).rounded())
    sine = Int32((sin(hue) * saturation * Self.unit).rounded())
  }

  /// Writes the adjusted picture to `target`.
  ///
  /// - Parameter source: has planar or semi-planar YUV with eight bits per sample.
  func perform(from source: Picture, into target: Picture) {
    Self.look(up: luma, from: source.planes[0], into: target.planes[0], byteCount: source.size.width)
    guard source.planeCount > 1 else { return }
    if balance.hue == 0 {
      let samples = source.format.isSemiPlanar ? 2 : 1
      for index in 1..<source.planeCount {
        Self.look(
          up: chroma, from: source.planes[index], into: target.planes[index],
          byteCount: Int(source.planes[index].width) * samples)
      }
    } else if source.format.isSemiPlanar {
      // In NV21, V comes before U.
      let isSwapped = source.format == .nv21
      rotateHue(
        from: source.planes[1], source.planes[1], into: target.planes[1], target.planes[1], step: 2,
        offsets: isSwapped ? (1, 0) : (0, 1))
    } else {
      rotateHue(
        from: source.planes[1], source.planes[2], into: target.planes[1], target.planes[2], step: 1, offsets: (0, 0))
    }
  }

  private static func look(up table: [UInt8], from: Picture.Plane, into: Picture.Plane, byteCount: Int) {
    table.withUnsafeBufferPointer { table in
      for row in 0..<from.height {
        let (source, target) = (from.row(row), into.row(row))
        for column in 0..<byteCount { target[column] = table[Int(source[column])] }
      }
    }
  }

  /// Rotates and scales pairs of chroma samples.
  ///
  /// - Parameters:
  ///   - step: the number of bytes from one sample to the next.
  ///   - offsets: the offsets of the first U and V sample in their rows.
  private func rotateHue(
    from blue: Picture.Plane, _ red: Picture.Plane, into blueTarget: Picture.Plane, _ redTarget: Picture.Plane,
    step: Int, offsets: (Int, Int)
  ) {
    let (cosine, sine) = (cosine, sine)
    for row in 0..<blue.height {
      let (u, v) = (blue.row(row) + offsets.0, red.row(row) + offsets.1)
      let (newU, newV) = (blueTarget.row(row) + offsets.0, redTarget.row(row) + offsets.1)
      for column in 0..<Int(blue.width) {
        let at = column * step
        let (x, y) = (Int32(u[at]) - 128, Int32(v[at]) - 128)
        newU[at] = Self.sample(x &* cosine &+ y &* sine)
        newV[at] = Self.sample(y &* cosine &- x &* sine)
      }
    }
  }

  @inline(__always)
  private static func sample(_ value: Int32) -> UInt8 {
    UInt8(truncatingIfNeeded: max(0, min(255, ((value &+ 32768) >> 16) &+ 128)))
  }
}

extension ColorBalancing: Equatable {
  static func == (left: ColorBalancing, right: ColorBalancing) -> Bool { left.balance == right.balance }
}
