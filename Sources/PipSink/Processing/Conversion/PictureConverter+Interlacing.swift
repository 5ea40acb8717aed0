extension PictureConverter {
  /// Converts the part `crop` of a frame's visible picture to fill `target`.
  ///
  /// The rows of an interlaced frame are of two times, and so is its chroma: while no row changes its height the two
  /// fields are converted each for itself, and otherwise the earlier one is all that is taken, since rows of two times
  /// averaged would be neither.
  ///
  /// - Parameter crop: in pixels of the visible part, before it is turned; where chroma is subsampled its origin goes
  ///   to the chroma sample that it lies in.
  /// - Throws: as ``convert(_:into:orientation:filter:balance:)``.
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
      // Upside down the rows of one field lie where the other one's were.
      let isTopInTarget = orientation.rotation == .half ? !isTop : isTop
      try convert(
        source.field(isTop: isTop), into: target.field(isTop: isTopInTarget), orientation: orientation, filter: filter,
        balance: balance)
    }
  }

  /// Whether every other row, and every other row of chroma, makes a whole field that begins with an even row.
  private static func canBeSplit(_ source: Picture, firstRow: Int) -> Bool {
    source.size.height % 4 == 0 && firstRow % 4 == 0
  }
}
