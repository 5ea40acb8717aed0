import CLibYUV

/// The steps that turn one kind of picture into another, in their order. Made when the kind changes, not per frame.
struct ConversionPlan {
  /// All that the steps depend on.
  struct Kind: Equatable {
    var sourceFormat: PixelFormat
    var sourceSize: PictureSize
    var targetFormat: PixelFormat
    var targetSize: PictureSize
    var orientation: VideoOrientation
    var filter: ScalingFilter
    /// Whether rows of 16-bit samples begin at even addresses, as the kernels for them need it.
    var isSourceAligned: Bool
    var isTargetAligned: Bool
    var balance = ColorBalance.neutral
  }

  let kind: Kind
  let steps: [ConversionStep]
  /// The steps in groups that are done together: those that go by rows and follow each other, in strips.
  let runs: [Range<Int>]

  /// - Returns: nil when the target's format cannot be made of the source's.
  init?(_ kind: Kind) {
    self.kind = kind
    guard kind.targetFormat == kind.sourceFormat || !kind.targetFormat.isTenBit else { return nil }
    // Colours are changed where pictures are shown, which is in RGB.
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

  /// Collects the steps; `format` and `size` are what the steps so far lead to.
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

    /// The target's size before it is turned.
    var unturned: PictureSize { kind.orientation.inverse.applied(to: kind.targetSize) }
    var changesSize: Bool { unturned != kind.sourceSize }
    var changesGeometry: Bool { changesSize || kind.orientation != .upright }

    mutating func build() {
      if format == target, !changesGeometry, kind.balance.isNeutral {
        add(.copy, format)
        return
      }
      if !kind.isSourceAligned { add(.copy, format) }
      takeApart()
      changeGeometry()
      balance()
      convert()
      if !kind.isTargetAligned { add(.copy, format) }
    }

    /// To a form whose planes can be scaled and turned, where that is needed, and to eight bits a sample, unless
    /// colours are made of the ten at the same size or they stay.
    private mutating func takeApart() {
      if format.isPackedYUV, changesGeometry || target != format { add(.unpack, .i422) }
      if format == .rgb || format == .bgr, changesGeometry { add(.unpack, .bgrx) }
      // Scaling words takes longer than making bytes of them and scaling those.
      if format.isTenBit, target != format, target.isYUV || changesSize {
        add(.unpack, format == .p010 ? .nv12 : .i420)
      }
      if target == .gray8, format.isYUV, format != .gray8 { add(.dropChroma, .gray8) }
    }

    private mutating func changeGeometry() {
      let shrinks = unturned.width * unturned.height < size.width * size.height
      if shrinks { resample() }
      turn()
      if !shrinks { resample() }
    }

    private mutating func resample() {
      let isUpright = kind.orientation == .upright || steps.contains { $0.turns }
      let wanted = isUpright ? kind.targetSize : unturned
      guard wanted != size else { return }
      // When nothing but the layout of the planes follows, this pass makes it, too.
      let next = isUpright && format.isPlanarEightBit && target.isPlanarEightBit ? target : format
      let filter = kind.filter.mode(from: size, to: wanted)
      if filter == kFilterBox, format.isRGB32 {
        halve(towards: wanted)
      } else if filter == kFilterBox {
        quarter(towards: wanted)
        halveOneSide(towards: wanted)
      }
      if wanted != size || next != format { add(.resample(filter), next, wanted) }
    }

    /// libyuv's box filter averages pixels two by two only, and leaves some out when it shrinks them more, so that is
    /// done by halves.
    private mutating func halve(towards wanted: PictureSize) {
      while size.width >= wanted.width * 2 || size.height >= wanted.height * 2 {
        let half = PictureSize(
          width: size.width >= wanted.width * 2 ? size.width / 2 : size.width,
          height: size.height >= wanted.height * 2 ? size.height / 2 : size.height)
        add(.resample(kFilterBox), format, half)
      }
    }

    /// Blocks of four by four samples have a vector kernel, boxes of other sizes have none: what is left to do after
    /// it costs less than half of the whole.
    private mutating func quarter(towards wanted: PictureSize) {
      guard !format.isTenBit else { return }
      // Every plane has to come out even.
      while size.width >= wanted.width * 4, size.height >= wanted.height * 4, size.width % 8 == 0,
        size.height % 8 == 0
      {
        add(.resample(kFilterBox), format, PictureSize(width: size.width / 4, height: size.height / 4))
      }
    }

    /// Where only one side gets shorter than half, libyuv takes its bilinear filter for the box, which leaves samples
    /// out in that direction.
    private mutating func halveOneSide(towards wanted: PictureSize) {
      while (size.width > wanted.width * 2) != (size.height > wanted.height * 2) {
        let half =
          size.width > wanted.width * 2
          ? PictureSize(width: (size.width + 1) / 2, height: size.height)
          : PictureSize(width: size.width, height: (size.height + 1) / 2)
        add(.resample(kFilterBox), format, half)
      }
    }

    private mutating func turn() {
      guard kind.orientation != .upright else { return }
      // A quarter turn of 4:2:2 would need 4:4:0, which no format has.
      if format == .i422, kind.orientation.swapsSides { add(.resample(kFilterBox), .i420) }
      add(.turn(kind.orientation), format, kind.orientation.applied(to: size))
    }

    /// Changes the colours, at the target's size and in planes of eight bits.
    private mutating func balance() {
      guard !kind.balance.isNeutral else { return }
      if format.isTenBit { add(.unpack, format == .p010 ? .nv12 : .i420) }
      if format.isRGB {
        if format != .bgra, format != .bgrx { add(.unpack, .bgra) }
        add(.fromRGB, .y444)
      }
      add(.balance(ColorBalancing(kind.balance)), format)
    }

    /// What is left: only formats differ.
    private mutating func convert() {
      guard format != target else { return }
      let unpacked = target.isPackedYUV ? .i422 : target
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
  enum Operation: Equatable {
    case copy
    /// Packed or 10-bit pixels to planes of bytes; RGB of any order to BGRA.
    case unpack
    /// Another size, or another layout of the planes, or both.
    case resample(FilterModeEnum)
    case turn(VideoOrientation)
    /// Luma is all that is wanted; costs nothing.
    case dropChroma
    /// YUV to BGRA.
    case toRGB
    /// BGRA to YUV.
    case fromRGB
    /// Other brightness, contrast, hue and saturation, in planes of eight bits.
    case balance(ColorBalancing)
    /// The four bytes of a pixel in another order.
    case shuffle
    /// Planes to packed 4:2:2; BGRA to pixels of three bytes.
    case pack
  }

  let operation: Operation
  /// What the step leads to.
  let format: PixelFormat
  let size: PictureSize

  var turns: Bool {
    if case .turn = operation { true } else { false }
  }

  /// Whether a row of the result comes from the same row of the source (from the same two where chroma is subsampled
  /// vertically), so that the picture can be worked on in strips.
  var isByRows: Bool {
    switch operation {
    case .copy, .unpack, .toRGB, .fromRGB, .balance, .shuffle, .pack: true
    case .resample, .turn, .dropChroma: false
    }
  }
}
