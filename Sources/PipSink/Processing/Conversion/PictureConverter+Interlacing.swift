extension PictureConverter {
  /// Converts a part of a frame's visible picture so that it fills `target`.
  ///
  /// The rows and the chroma of an interlaced frame belong to two times. If the number of rows stays the same, the two
  /// fields are converted separately. Otherwise only the earlier field is used, since an average of rows of two times
  /// would belong to neither.
  ///
  /// - Parameters:
  ///   - frame: a mapped frame.
  ///   - crop: the part, in pixels of the visible picture before the rotation. If chroma is subsampled, its origin is
  ///     moved to the edge of its chroma sample.
  ///   - target: the picture to write to.
  ///   - orientation: how to rotate and mirror the picture.
  ///   - filter: how to scale the picture.
  ///   - balance: how to adjust the colours; must be neutral unless the target is RGB.
  /// - Throws: the errors of ``convert(_:into:orientation:filter:balance:)``.
  mutating func convert(
    _ frame: MappedFrame, crop: PictureRect, into target: Picture, orientation: VideoOrientation = .upright,
    filter: ScalingFilter = .automatic, balance: ColorBalance = .neutral
  ) throws(PipSinkError) {
    let source = Picture(frame, crop: crop)
    guard frame.isInterlaced, Self.canBeSplit(source, firstRow: frame.visible.y + crop.y) else {
      return try convert(source, into: target, orientation: orientation, filter: filter, balance: balance)
    }
    let keepsRows = !orientation.swapsSides && target.size.height == source.size.height
    guard keepsRows else {
      return try convert(
        source.field(isTop: frame.isTopFieldFirst), into: target, orientation: orientation, filter: filter,
        balance: balance)
    }
    for field in 0..<2 {
      let isTop = field == 0
      // In an upside-down picture, each field takes the rows of the other one.
      let isTopInTarget = orientation.rotation == .half ? !isTop : isTop
      try convert(
        source.field(isTop: isTop), into: target.field(isTop: isTopInTarget), orientation: orientation, filter: filter,
        balance: balance)
    }
  }

  /// Whether every other row of luma and chroma is a whole field that begins with an even row.
  private static func canBeSplit(_ source: Picture, firstRow: Int) -> Bool {
    source.size.height % 4 == 0 && firstRow % 4 == 0
  }
}
