import CLibYUV
import Glibc

/// Turns pictures into others: format, size, orientation, in the destination's memory, in as few passes as there can
/// be.
///
/// Where it shrinks, sizes come before colours. Steps that work row by row are done in strips that stay in the
/// processor's cache, so that what is between them is no frame. One converter serves one thread at a time; it keeps its
/// plan and its memory from frame to frame.
struct PictureConverter: ~Copyable {
  private var scratch = ScratchMemory()
  private var plan: ConversionPlan?
  private let bands: RowBands

  /// Rows of a strip: even, for chroma, and few enough for the cache at 4K.
  private static let stripHeight = 16
  /// Pixels from which on a second thread gains more than its waking up costs (measured: half a 1080p frame).
  static let pixelsWorthABand = 1_000_000

  init(bands: RowBands = .shared) {
    self.bands = bands
  }

  /// Converts `source` to fill `target`, turned by `orientation`.
  ///
  /// - Parameter balance: how the colours are changed, where the target is RGB.
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
    let kind = ConversionPlan.Kind(
      sourceFormat: source.format, sourceSize: source.size, targetFormat: target.format, targetSize: target.size,
      orientation: orientation, filter: filter, isSourceAligned: source.isAligned(for: orientation),
      isTargetAligned: target.isAligned(for: orientation), balance: balance)
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
    case .turn(let orientation):
      turn(source, into: target, orientation)
      return true
    default: return true
    }
  }

  // MARK: - Bands

  /// How many bands a picture is worked on in, and the rows of each: an even number, so that none shares its chroma.
  private func bandLayout(of size: PictureSize) -> (count: Int, height: Int) {
    let wanted = max(1, min(bands.bandLimit, size.width * size.height / Self.pixelsWorthABand))
    let rows = (size.height + wanted - 1) / wanted
    let height = (rows + 1) / 2 * 2
    return ((size.height + height - 1) / height, height)
  }

  private func performByRows(
    _ steps: ArraySlice<ConversionStep>, from source: Picture, into target: Picture, _ memory: Memory
  ) {
    let height = source.size.height
    let (bandCount, bandHeight) = bandLayout(of: source.size)
    // One step needs no strips: it goes from the source to the target as it is.
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
              colorimetry: steps[index].operation == .fromRGB
                ? .madeFromRGB(steps[index].format) : current.colorimetry)
          ColorConversion.perform(steps[index].operation, from: current, into: result)
          current = result
        }
        start += count
      }
    }
  }

  private func turn(_ source: Picture, into target: Picture, _ orientation: VideoOrientation) {
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

  /// The scratch memory of one conversion: first what every run but the last leads to, then a plane for chroma on its
  /// way from one layout to another, then strips for every band.
  private struct Memory: @unchecked Sendable {
    // `@unchecked Sendable`: bands use parts of it that do not overlap.
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

/// Memory for a converter's intermediate pixels, kept from frame to frame. It grows to the largest frame seen.
struct ScratchMemory: ~Copyable {
  private var base: UnsafeMutableRawPointer?
  private var capacity = 0

  deinit {
    free(base)
  }

  /// `byteCount` bytes, aligned for vector instructions; what was begun before is no longer valid.
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
