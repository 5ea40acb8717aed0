import PipSink

/// How the samples of a picture's planes become those of a picture with another size and orientation, as
/// ``FrameCanvas`` scales: bilinearly, after blocks of samples were averaged where the picture becomes much smaller.
struct GLSampling {
  /// How the shader takes samples.
  enum Mode: String {
    /// The only sample at a place, since the size stays the same.
    case nearest
    /// Four samples are interpolated by the texture unit.
    case linear
    /// Four blocks of samples are interpolated by the shader.
    case blocks
    /// All blocks of samples that a pixel covers are averaged.
    case box
  }

  /// Where the samples of a plane are, in blocks. A pixel's place is its number times the scale, plus the offset.
  struct Places {
    var scale: (x: Float, y: Float)
    var offset: (x: Float, y: Float)
  }

  let mode: Mode
  /// The number of samples in a block.
  let block: (x: Int, y: Int)
  /// The places of luma or RGB, and those of chroma.
  let luma, chroma: Places
  /// By how many bits a pixel's place is shifted right for that of its chroma.
  let chromaShift: (x: Int, y: Int)
  /// Whether the chroma of each two rows is averaged, because 4:2:2 that is rotated by 90 degrees becomes 4:2:0.
  let joinsRows: Bool

  /// - Parameters:
  ///   - picture: the picture to draw.
  ///   - target: the size of what is drawn, after the rotation.
  init(_ picture: Picture, into target: PictureSize, _ orientation: VideoOrientation) {
    let (source, format) = (picture.size, picture.format)
    let wanted = orientation.applied(to: target)
    let (block, rest) = Self.blocks(in: source, towards: wanted)
    let isSmall = rest.width > wanted.width * 2 && rest.height > wanted.height * 2
    let mode: Mode =
      if rest == wanted {
        block == (1, 1) ? .nearest : .box
      } else if isSmall {
        .box
      } else {
        block == (1, 1) && !format.isTenBit ? .linear : .blocks
      }
    let axes = orientation.inverse.reversesAxes
    let places = { (plane: Int) in
      let (size, target) = (format.planeSize(plane, of: source), format.planeSize(plane, of: wanted))
      // libyuv has kernels for this ratio, in which a pixel is a quarter of a sample beside the nearest one.
      let isDoubled =
        !format.isRGB && block == (1, 1) && size.width == (target.width + 1) / 2
        && size.height == (target.height + 1) / 2
      let x = Self.axis(Double(size.width) / Double(block.x), target.width, mode, isDoubled, axes.x)
      let y = Self.axis(Double(size.height) / Double(block.y), target.height, mode, isDoubled, axes.y)
      return Places(scale: (Float(x.scale), Float(y.scale)), offset: (Float(x.offset), Float(y.offset)))
    }
    luma = places(0)
    var chroma = places(1)
    joinsRows = format.chromaShift == (1, 0) && orientation.swapsSides
    if joinsRows {
      // The first of the two rows. The shader finds the second one.
      if chroma.scale.y < 0, wanted.height % 2 == 0 { chroma.offset.y += chroma.scale.y }
      chroma.scale.y *= 2
    }
    chromaShift = joinsRows ? (1, 1) : format.chromaShift
    (self.mode, self.block, self.chroma) = (mode, block, chroma)
  }

  /// The size of the blocks that ``FrameCanvas`` averages first, and the size of the picture afterwards.
  private static func blocks(
    in source: PictureSize, towards wanted: PictureSize
  ) -> (block: (x: Int, y: Int), rest: PictureSize) {
    var (block, size) = ((x: 1, y: 1), source)
    while size.width >= wanted.width * 2, size.height >= wanted.height * 2, size.width % 4 == 0, size.height % 4 == 0 {
      block = (block.x * 2, block.y * 2)
      size = PictureSize(width: size.width / 2, height: size.height / 2)
    }
    while (size.width > wanted.width * 2) != (size.height > wanted.height * 2) {
      if size.width > wanted.width * 2 {
        (block.x, size.width) = (block.x * 2, (size.width + 1) / 2)
      } else {
        (block.y, size.height) = (block.y * 2, (size.height + 1) / 2)
      }
    }
    return (block, size)
  }

  /// Returns libyuv's places: a side that becomes longer begins and ends with the first and last sample, and one that
  /// becomes shorter has its samples in the middle of what they cover.
  private static func axis(
    _ source: Double, _ target: Int32, _ mode: Mode, _ isDoubled: Bool, _ isReversed: Bool
  ) -> (scale: Double, offset: Double) {
    var (step, first) = (source / Double(target), 0.0)
    if isDoubled {
      (step, first) = (0.5, -0.25)
    } else if mode != .box, Double(target) <= source {
      first = step / 2 - 0.5
    } else if mode != .box {
      step = (source - 1) / Double(target - 1)
    }
    return isReversed ? (-step, first + Double(target - 1) * step) : (step, first)
  }
}

extension VideoOrientation {
  /// Whether the axes of the result, which are exchanged first where ``swapsSides`` is set, run the other way.
  fileprivate var reversesAxes: (x: Bool, y: Bool) {
    switch rotation {
    case .none: (isMirrored, false)
    case .quarter: (true, isMirrored)
    case .half: (!isMirrored, true)
    case .threeQuarters: (false, !isMirrored)
    }
  }
}
