extension PixelFormat {
  /// How far chroma is subsampled, as shifts of the luma coordinates.
  var chromaShift: (x: Int, y: Int) {
    switch self {
    case .i420, .yv12, .nv12, .nv21, .p010, .i420Ten: (1, 1)
    case .i422, .yuy2, .uyvy: (1, 0)
    default: (0, 0)
    }
  }

  var planeCount: Int {
    switch self {
    case .i420, .yv12, .i422, .y444, .i420Ten: 3
    case .nv12, .nv21, .p010: 2
    default: 1
    }
  }

  /// Whether the second plane holds pairs of chroma samples.
  var isSemiPlanar: Bool { planeCount == 2 }

  /// Whether it can be scaled plane by plane, eight bits a sample.
  var isPlanarEightBit: Bool {
    switch self {
    case .i420, .yv12, .i422, .y444, .nv12, .nv21, .gray8: true
    default: false
    }
  }

  /// Samples in a row and rows of one plane of a picture of `size`.
  func planeSize(_ index: Int, of size: PictureSize) -> (width: Int32, height: Int32) {
    guard index > 0 else { return (Int32(size.width), Int32(size.height)) }
    let shift = chromaShift
    return (Int32((size.width + (1 << shift.x) - 1) >> shift.x), Int32((size.height + (1 << shift.y) - 1) >> shift.y))
  }

  /// Bytes that `width` samples of a plane take without padding.
  func rowByteCount(_ index: Int, width: Int) -> Int {
    switch self {
    case .yuy2, .uyvy: (width + 1) / 2 * 4
    case .bgra, .bgrx, .rgba, .rgbx, .argb, .xrgb: width * 4
    case .rgb, .bgr: width * 3
    case .i420Ten: width * 2
    case .p010: width * (index == 0 ? 2 : 4)
    case .nv12, .nv21: width * (index == 0 ? 1 : 2)
    case .i420, .yv12, .i422, .y444, .gray8: width
    }
  }

  /// Bytes from a plane's row's first sample to its sample `column`, which is even in the packed 4:2:2 formats.
  func byteOffset(_ index: Int, column: Int) -> Int {
    switch self {
    case .yuy2, .uyvy: column * 2
    default: rowByteCount(index, width: column)
    }
  }

  package var isTenBit: Bool { self == .p010 || self == .i420Ten }
  var isPackedYUV: Bool { self == .yuy2 || self == .uyvy }
  var isYUV: Bool { !isRGB }

  var isRGB: Bool { isRGB32 || self == .rgb || self == .bgr }

  /// Whether a pixel is four bytes.
  var isRGB32: Bool {
    switch self {
    case .bgra, .bgrx, .rgba, .rgbx, .argb, .xrgb: true
    default: false
    }
  }

  package var hasAlpha: Bool { self == .bgra || self == .rgba || self == .argb }

  /// YV12 is I420 with its chroma planes exchanged.
  var withChromaInOrder: PixelFormat { self == .yv12 ? .i420 : self }
}

extension Int {
  /// To a multiple of two to the power of `shift`.
  func roundedDown(toPower shift: Int) -> Int { (self >> shift) << shift }

  func roundedUp(toPower shift: Int) -> Int { (self + (1 << shift) - 1).roundedDown(toPower: shift) }
}
