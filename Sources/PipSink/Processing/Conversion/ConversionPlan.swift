import CLibYUV

/// The steps that convert one kind of picture to another, in order. A plan is made when the kind changes, not per
/// frame.
struct ConversionPlan {
  /// Everything that the steps depend on.
  struct Kind: Equatable {
    var sourceFormat: PixelFormat
    var sourceSize: PictureSize
    var targetFormat: PixelFormat
    var targetSize: PictureSize
    var orientation: VideoOrientation
    var filter: ScalingFilter
    /// Whether rows of 16-bit samples begin at even addresses in the source, as the kernels for them need.
    var isSourceAligned: Bool
    /// Whether they do in the target.
    var isTargetAligned: Bool
    var balance = ColorBalance.neutral
    /// The colorimetry of a source with a high dynamic range, if its light is mapped to the standard dynamic range.
    var mappedColorimetry: Colorimetry?
  }

  let kind: Kind
  let steps: [ConversionStep]
  /// The steps in groups that are performed together: successive steps that work by rows, in strips.
  let runs: [Range<Int>]

  /// Plans a conversion; nil if the source's format cannot be converted to the target's.
  init?(_ kind: Kind) {
    self.kind = kind
    guard kind.targetFormat == kind.sourceFormat || !kind.targetFormat.isTenBit else { return nil }
    // Colours are adjusted only for showing pictures, which happens in RGB.
    guard kind.balance.isNeutral || kind.targetFormat.isRGB else { return nil }
    var builder = Builder(kind)
    builder.build()
    steps = builder.steps
    runs = Self.runs(of: steps)
  }

  private static func runs(of steps: [ConversionStep]) -> [Range<Int>] {
    var runs: [Range<Int>] = []
    for (index, step) in steps.enumerated() {
      if step.isByRows, let last = runs.last, steps[last.lowerBound].isByRows {
        runs[runs.count - 1] = last.lowerBound..<index + 1
      } else {
        runs.append(index..<index + 1)
      }
    }
    return runs
  }

  /// Collects the steps. `format` and `size` are the result of the steps so far.
  private struct Builder {
    let kind: Kind
    let target: PixelFormat
    var steps: [ConversionStep] = []
    var format: PixelFormat
    var size: PictureSize

    init(_ kind: Kind) {
      self.kind = kind
      target = kind.targetFormat.withChromaInOrder
      format = kind.sourceFormat.withChromaInOrder
      size = kind.sourceSize
    }

    /// The target's size before the rotation.
    var sizeBeforeOrientation: PictureSize { kind.orientation.inverse.applied(to: kind.targetSize) }
    var changesSize: Bool { sizeBeforeOrientation != kind.sourceSize }
    var changesGeometry: Bool { changesSize || kind.orientation != .upright }

    mutating func build() {
      if format == target, !changesGeometry, kind.balance.isNeutral {
        add(.copy, format)
        return
      }
      if !kind.isSourceAligned { add(.copy, format) }
      takeApart()
      changeGeometry()
      mapTones()
      reduce()
      balance()
      convert()
      if !kind.isTargetAligned { add(.copy, format) }
    }

    /// Unpacks pixels into planes that can be scaled and rotated, if that is needed.
    private mutating func takeApart() {
      if format.isPackedYUV, changesGeometry || target != format { add(.unpack, format.isTenBit ? .i422Ten : .i422) }
      if format == .rgb || format == .bgr, changesGeometry { add(.unpack, .bgrx) }
      if target == .gray8, format.isYUV, format != .gray8, !format.isTenBit { add(.dropChroma, .gray8) }
    }

    /// Scales and rotates the picture. The one that leaves fewer pixels for the other comes first.
    private mutating func changeGeometry() {
      let shrinks = sizeBeforeOrientation.width * sizeBeforeOrientation.height < size.width * size.height
      if shrinks { resample() }
      orient()
      if !shrinks { resample() }
    }

    private mutating func resample() {
      let isUpright = kind.orientation == .upright || steps.contains { $0.changesOrientation }
      let wanted = isUpright ? kind.targetSize : sizeBeforeOrientation
      guard wanted != size else { return }
      // If only the layout of the planes differs after that, this pass changes it as well.
      let next = isUpright && format.isPlanarEightBit && target.isPlanarEightBit ? target : format
      let filter = kind.filter.mode(from: size, to: wanted)
      if filter == kFilterBox, format.isRGB32 {
        halve(towards: wanted)
      } else if filter == kFilterBox {
        shrink(towards: wanted)
        halveOneSide(towards: wanted)
      }
      if wanted != size || next != format { add(.resample(filter), next, wanted) }
    }

    /// Halves the size several times. For 32-bit pixels, libyuv's box filter averages only two by two pixels, and
    /// leaves out some when it scales down further.
    private mutating func halve(towards wanted: PictureSize) {
      while size.width >= wanted.width * 2 || size.height >= wanted.height * 2 {
        let half = PictureSize(
          width: size.width >= wanted.width * 2 ? size.width / 2 : size.width,
          height: size.height >= wanted.height * 2 ? size.height / 2 : size.height)
        add(.resample(kFilterBox), format, half)
      }
    }

    /// Scales to quarters, and then to a half. These ratios have kernels of their own; for other boxes libyuv has no
    /// vector kernel. So the two steps together take less than half of the time of one.
    private mutating func shrink(towards wanted: PictureSize) {
      for factor in [4, 2] {
        // The sizes of all planes have to be even afterwards.
        while size.width >= wanted.width * factor, size.height >= wanted.height * factor,
          size.width % (2 * factor) == 0, size.height % (2 * factor) == 0
        {
          let smaller = PictureSize(width: size.width / factor, height: size.height / factor)
          add(.resample(kFilterBox), format, smaller)
        }
      }
    }

    /// Halves one side several times. If only one side becomes shorter than half, libyuv uses its bilinear filter
    /// instead of the box filter, and so leaves out samples in that direction.
    private mutating func halveOneSide(towards wanted: PictureSize) {
      while (size.width > wanted.width * 2) != (size.height > wanted.height * 2) {
        let half =
          size.width > wanted.width * 2
          ? PictureSize(width: (size.width + 1) / 2, height: size.height)
          : PictureSize(width: size.width, height: (size.height + 1) / 2)
        add(.resample(kFilterBox), format, half)
      }
    }

    private mutating func orient() {
      guard kind.orientation != .upright else { return }
      // Rotating 4:2:2 by 90 degrees would give 4:4:0, which is not a supported format.
      if format == .i422, kind.orientation.swapsSides { add(.resample(kFilterBox), .i420) }
      if format == .i422Ten, kind.orientation.swapsSides { add(.resample(kFilterBox), .i420Ten) }
      add(.orient(kind.orientation), format, kind.orientation.applied(to: size))
    }

    /// Maps a high dynamic range to the standard one, at the target's size.
    private mutating func mapTones() {
      guard let colorimetry = kind.mappedColorimetry else { return }
      add(.mapTones(.of(colorimetry)), target == .bgrx ? .bgrx : .bgra)
    }

    /// Reduces ten bits to eight, at the target's size. Scaling afterwards would average the pattern of the dither.
    private mutating func reduce() {
      guard format.isTenBit, !target.isTenBit else { return }
      add(.reduce, target == .gray8 ? .gray8 : format.withEightBits)
    }

    /// Adjusts the colours, at the target's size and in planes with eight bits per sample.
    private mutating func balance() {
      guard !kind.balance.isNeutral else { return }
      if format.isRGB {
        if format != .bgra, format != .bgrx { add(.unpack, .bgra) }
        add(.fromRGB, .y444)
      }
      add(.balance(ColorBalancing(kind.balance)), format)
    }

    /// Converts the format, when everything else is as it should be.
    private mutating func convert() {
      guard format != target else { return }
      let unpacked: PixelFormat = !target.isPackedYUV ? target : target.isTenBit ? .i422Ten : .i422
      if target.isRGB {
        if format.isYUV { add(.toRGB, target == .bgrx ? .bgrx : .bgra) }
        convertRGB()
      } else if format.isRGB {
        if format != .bgra, format != .bgrx { add(.unpack, .bgra) }
        add(.fromRGB, unpacked)
      } else if format != unpacked {
        add(.resample(kFilterBilinear), unpacked)
      }
      if target.isPackedYUV { add(.pack, target) }
    }

    private mutating func convertRGB() {
      guard format != target else { return }
      if format.isRGB32, target.isRGB32 { return add(.shuffle, target) }
      if format != .bgra, format != .bgrx { add(.unpack, .bgra) }
      if format != target { add(target.isRGB32 ? .shuffle : .pack, target) }
    }

    private mutating func add(
      _ operation: ConversionStep.Operation, _ next: PixelFormat, _ nextSize: PictureSize? = nil
    ) {
      steps.append(ConversionStep(operation: operation, format: next, size: nextSize ?? size))
      format = next
      size = nextSize ?? size
    }
  }
}

/// One pass over a picture.
struct ConversionStep: Equatable {
  /// What a step does.
  enum Operation: Equatable {
    /// Copies all planes.
    case copy
    /// Unpacks packed pixels into planes, or converts RGB with another byte order to BGRA.
    case unpack
    /// Reduces ten bits per sample to eight.
    case reduce
    /// Changes the size, the layout of the planes, or both.
    case resample(FilterModeEnum)
    /// Rotates and mirrors.
    case orient(VideoOrientation)
    /// Keeps only luma, which costs nothing.
    case dropChroma
    /// Converts YUV to BGRA.
    case toRGB
    /// Converts YUV with a high dynamic range to BGRA with the standard one.
    case mapTones(ToneMapping)
    /// Converts BGRA to YUV.
    case fromRGB
    /// Adjusts brightness, contrast, hue and saturation, in planes with eight bits per sample.
    case balance(ColorBalancing)
    /// Reorders the four bytes of each pixel.
    case shuffle
    /// Packs planes into 4:2:2, or BGRA into pixels of three bytes.
    case pack
  }

  let operation: Operation
  /// The format of the result.
  let format: PixelFormat
  /// The size of the result.
  let size: PictureSize

  var changesOrientation: Bool {
    if case .orient = operation { true } else { false }
  }

  var mapsTones: Bool {
    if case .mapTones = operation { true } else { false }
  }

  /// The colorimetry of the result.
  ///
  /// - Parameter source: the colorimetry of the step's source.
  func colorimetry(from source: Colorimetry) -> Colorimetry {
    switch operation {
    case .fromRGB: .madeFromRGB(format)
    case .mapTones: .rgb
    default: source
    }
  }

  /// Whether each row of the result depends only on the same row of the source (or on the same pair of rows, if chroma
  /// is subsampled vertically), so that the picture can be processed in strips.
  var isByRows: Bool {
    switch operation {
    case .copy, .unpack, .reduce, .toRGB, .mapTones, .fromRGB, .balance, .shuffle, .pack: true
    case .resample, .orient, .dropChroma: false
    }
  }
}
