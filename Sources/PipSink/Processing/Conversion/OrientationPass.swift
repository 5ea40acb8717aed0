/// A rotation or mirroring in one pass of libyuv, which may read the source's rows and write the target's rows from the
/// last to the first. That order of the rows costs nothing.
struct OrientationPass {
  /// The operation of libyuv.
  private enum Kernel { case copy, mirror, transpose }

  /// Whether the source's rows are read from the last to the first.
  let startsUpsideDown: Bool
  /// Whether the target's rows are written from the last to the first.
  let endsUpsideDown: Bool
  private let kernel: Kernel

  init(_ orientation: VideoOrientation) {
    switch (orientation.rotation, orientation.isMirrored) {
    case (.none, false): (startsUpsideDown, kernel, endsUpsideDown) = (false, .copy, false)
    case (.none, true): (startsUpsideDown, kernel, endsUpsideDown) = (false, .mirror, false)
    case (.half, false): (startsUpsideDown, kernel, endsUpsideDown) = (true, .mirror, false)
    case (.half, true): (startsUpsideDown, kernel, endsUpsideDown) = (true, .copy, false)
    case (.quarter, false): (startsUpsideDown, kernel, endsUpsideDown) = (true, .transpose, false)
    case (.threeQuarters, false): (startsUpsideDown, kernel, endsUpsideDown) = (false, .transpose, true)
    case (.quarter, true): (startsUpsideDown, kernel, endsUpsideDown) = (true, .transpose, true)
    case (.threeQuarters, true): (startsUpsideDown, kernel, endsUpsideDown) = (false, .transpose, false)
    }
  }

  /// Whether rows become columns.
  var isTransposed: Bool { kernel == .transpose }

  /// Performs the pass between two pictures, which the caller has already put upside down where that is needed.
  func perform(from source: Picture, into target: Picture) {
    for index in 0..<source.planeCount {
      let (from, to) = (source.planes[index], target.planes[index])
      guard let element = source.format.element(ofPlane: index) else { continue }
      switch kernel {
      case .copy: from.copy(into: to, byteCount: Int(from.width * element.byteCount))
      case .mirror: from.mirror(into: to, element: element)
      case .transpose: from.transpose(into: to, element: element)
      }
    }
  }
}
