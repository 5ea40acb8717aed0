import CLibYUV
import Glibc

/// Converts pictures to another format, size and orientation, directly into the destination's memory and in as few
/// passes as possible.
///
/// Pictures that become smaller are scaled before their colours are converted. Steps that work by rows are performed in
/// strips that stay in the processor's cache, so that there is no intermediate frame between them. A converter keeps
/// its plan and its memory from frame to frame. One thread at a time may use it.
struct PictureConverter: ~Copyable {
  private var scratch = ScratchMemory()
  private var plan: ConversionPlan?
  private let bands: RowBands

  /// The number of rows in a strip: even because of chroma, and small enough for the cache at 4K.
  private static let stripHeight = 16
  /// The number of pixels from which on a second thread saves more time than waking it costs (measured: half of a 1080p
  /// frame).
  static let pixelsWorthABand = 1_000_000
  /// The same for the mapping of tones, which takes much longer for a pixel (measured: a picture of 640x360 that is
  /// shared so takes 15 % less time with a second thread).
  private static let mappedPixelsWorthABand = 65_000

  init(bands: RowBands = .shared) {
    self.bands = bands
  }

  /// Converts `source` so that it fills `target`.
  ///
  /// - Parameters:
  ///   - source: the picture to convert.
  ///   - target: the picture to write to.
  ///   - orientation: how to rotate and mirror the picture.
  ///   - filter: how to scale the picture.
  ///   - balance: how to adjust the colours; must be neutral unless the target is RGB.
  /// - Throws: ``PipSinkError/Frame/unsupportedPixelFormat(_:operation:)``,
  ///   ``PipSinkError/Frame/invalidSize(width:height:)`` when the target is empty or too large,
  ///   ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  mutating func convert(
    _ source: Picture, into target: Picture, orientation: VideoOrientation = .upright,
    filter: ScalingFilter = .automatic, balance: ColorBalance = .neutral
  ) throws(PipSinkError) {
    guard target.size.isValid else { throw .frame(.invalidSize(width: target.size.width, height: target.size.height)) }
    let plan = try plan(for: source, target, orientation, filter, balance)
    var memory = try Memory(beginning: &scratch, for: plan, source: source, bandLimit: bands.bandLimit)
    var current = source
    for run in plan.runs {
      let last = plan.steps[run.upperBound - 1]
      if case .dropChroma = last.operation {
        current = current.luma
        if run.upperBound == plan.steps.count { current.copy(into: target) }
        continue
      }
      let isLast = run.upperBound == plan.steps.count
      let result = isLast ? target : memory.picture(last.format, size: last.size, colorimetry: source.colorimetry)
      guard perform(plan.steps[run], from: current, into: result, memory) else {
        throw .frame(.outOfMemory(byteCount: Picture.scratchByteCount(last.format, size: last.size)))
      }
      current = result
    }
  }

  private mutating func plan(
    for source: Picture, _ target: Picture, _ orientation: VideoOrientation, _ filter: ScalingFilter,
    _ balance: ColorBalance
  ) throws(PipSinkError) -> ConversionPlan {
    let mapsTones = source.colorimetry.highDynamicRange != nil && source.format.isYUV && target.format.isRGB
    let kind = ConversionPlan.Kind(
      sourceFormat: source.format, sourceSize: source.size, targetFormat: target.format, targetSize: target.size,
      orientation: orientation, filter: filter, isSourceAligned: source.isAligned(for: orientation),
      isTargetAligned: target.isAligned(for: orientation), balance: balance,
      mappedColorimetry: mapsTones ? source.colorimetry : nil)
    if let plan, plan.kind == kind { return plan }
    guard let new = ConversionPlan(kind) else {
      throw .frame(.unsupportedPixelFormat(target.format, operation: "conversion of \(source.format.rawValue) frames"))
    }
    plan = new
    return new
  }

  private func perform(
    _ steps: ArraySlice<ConversionStep>, from source: Picture, into target: Picture, _ memory: Memory
  ) -> Bool {
    guard let first = steps.first else { return true }
    if first.isByRows {
      performByRows(steps, from: source, into: target, memory)
      return true
    }
    switch first.operation {
    case .resample(let filter): return source.resample(into: target, filter: filter, spare: memory.spare)
    case .orient(let orientation):
      orient(source, into: target, orientation)
      return true
    default: return true
    }
  }

  // MARK: - Bands

  /// The number of bands into which a picture is divided, and the number of rows in each. It is even, so that bands do
  /// not share chroma.
  private func bandLayout(
    of size: PictureSize, pixelsWorthABand: Int = Self.pixelsWorthABand
  ) -> (count: Int, height: Int) {
    let wanted = max(1, min(bands.bandLimit, size.width * size.height / pixelsWorthABand))
    let rows = (size.height + wanted - 1) / wanted
    let height = (rows + 1) / 2 * 2
    return ((size.height + height - 1) / height, height)
  }

  private func performByRows(
    _ steps: ArraySlice<ConversionStep>, from source: Picture, into target: Picture, _ memory: Memory
  ) {
    let height = source.size.height
    let mapsTones = steps.contains { $0.mapsTones }
    let (bandCount, bandHeight) = bandLayout(
      of: source.size, pixelsWorthABand: mapsTones ? Self.mappedPixelsWorthABand : Self.pixelsWorthABand)
    // A single step needs no strips, since it goes directly from the source to the target.
    let stripHeight = steps.count > 1 ? Self.stripHeight : height
    bands.forEachBand(bandCount) { band in
      let end = min(height, (band + 1) * bandHeight)
      var start = band * bandHeight
      while start < end {
        let count = min(stripHeight, end - start)
        var strips = memory.strips(band: band)
        var current = source.rows(start, count)
        for index in steps.indices {
          let isLast = index == steps.endIndex - 1
          let result =
            isLast
            ? target.rows(start, count)
            : strips.picture(
              steps[index].format, size: PictureSize(width: source.size.width, height: count),
              colorimetry: steps[index].colorimetry(from: current.colorimetry))
          ColorConversion.perform(steps[index].operation, from: current, into: result, firstRow: start)
          current = result
        }
        start += count
      }
    }
  }

  private func orient(_ source: Picture, into target: Picture, _ orientation: VideoOrientation) {
    let height = source.size.height
    let pass = OrientationPass(orientation)
    let from = pass.startsUpsideDown ? source.upsideDown : source
    let into = pass.endsUpsideDown ? target.upsideDown : target
    let (bandCount, bandHeight) = bandLayout(of: source.size)
    guard bandCount > 1, height % 2 == 0 else {
      pass.perform(from: from, into: into)
      return
    }
    bands.forEachBand(bandCount) { band in
      let start = band * bandHeight
      let count = min(bandHeight, height - start)
      pass.perform(
        from: from.rows(start, count), into: pass.isTransposed ? into.columns(start, count) : into.rows(start, count))
    }
  }

  // MARK: - Memory

  /// The scratch memory of one conversion: first the results of all runs but the last, then spare memory for scaling,
  /// then the strips of all bands.
  private struct Memory: @unchecked Sendable {
    // `@unchecked Sendable`: bands use parts of the memory that do not overlap.
    private var next: UnsafeMutablePointer<UInt8>
    let spare: UnsafeMutablePointer<UInt8>
    private let stripBase: UnsafeMutablePointer<UInt8>
    private let stripByteCount: Int

    init(
      beginning scratch: inout ScratchMemory, for plan: ConversionPlan, source: Picture, bandLimit: Int
    ) throws(PipSinkError) {
      var pictures = 0
      var strips = 0
      var spare = 0
      for run in plan.runs {
        let last = plan.steps[run.upperBound - 1]
        if run.upperBound < plan.steps.count { pictures += Picture.scratchByteCount(last.format, size: last.size) }
        strips = max(
          strips,
          plan.steps[run].dropLast().reduce(0) { sum, step in
            let size = PictureSize(width: step.size.width, height: PictureConverter.stripHeight)
            return sum + Picture.scratchByteCount(step.format, size: size)
          })
        if case .resample = last.operation {
          let before = run.lowerBound > 0 ? plan.steps[run.lowerBound - 1] : nil
          let from = (before?.format ?? source.format, before?.size ?? source.size)
          spare = max(spare, Picture.spareByteCount(from: from, to: last))
        }
      }
      spare = (spare + 63) / 64 * 64
      let total = pictures + spare + strips * bandLimit
      next = try scratch.begin(byteCount: total)
      self.spare = next + pictures
      stripBase = next + pictures + spare
      stripByteCount = strips
    }

    mutating func picture(_ format: PixelFormat, size: PictureSize, colorimetry: Colorimetry) -> Picture {
      defer { next += Picture.scratchByteCount(format, size: size) }
      return Picture(format, size: size, colorimetry: colorimetry, in: next)
    }

    func strips(band: Int) -> Memory {
      var result = self
      result.next = stripBase + band * stripByteCount
      return result
    }
  }
}

/// Memory for a converter's intermediate pixels, which is kept from frame to frame. It grows to the largest size
/// needed.
struct ScratchMemory: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0

  deinit {
    free(base)
  }

  /// Returns `byteCount` bytes, aligned for vector instructions. Memory that was returned before is no longer valid.
  ///
  /// - Throws: ``PipSinkError/Frame/outOfMemory(byteCount:)``.
  mutating func begin(byteCount: Int) throws(PipSinkError) -> UnsafeMutablePointer<UInt8> {
    if let base, byteCount <= capacity { return base.assumingMemoryBound(to: UInt8.self) }
    free(base)
    (base, capacity) = (nil, byteCount)
    guard posix_memalign(&base, 64, max(64, byteCount)) == 0, let base else {
      throw .frame(.outOfMemory(byteCount: byteCount))
    }
    return base.assumingMemoryBound(to: UInt8.self)
  }
}
