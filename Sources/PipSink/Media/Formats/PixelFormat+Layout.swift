/// The planes of each pixel format, and the sizes of their rows and samples.
extension PixelFormat {
  /// The subsampling of chroma: luma coordinates shifted right by this many bits are chroma coordinates.
  package var chromaShift: (x: Int, y: Int) {
    switch self {
    case .i420, .yv12, .nv12, .nv21, .p010, .i420Ten: (1, 1)
    case .i422, .yuy2, .uyvy, .i422Ten, .y210: (1, 0)
    default: (0, 0)
    }
  }

  /// The number of planes.
  var planeCount: Int {
    switch self {
    case .i420, .yv12, .i422, .y444, .i420Ten, .i422Ten: 3
    case .nv12, .nv21, .p010: 2
    default: 1
    }
  }

  /// Whether the second plane has interleaved pairs of chroma samples.
  var isSemiPlanar: Bool { planeCount == 2 }

  /// Whether luma and chroma are in separate planes, with eight bits per sample, so that planes can be scaled one by
  /// one.
  var isPlanarEightBit: Bool {
    switch self {
    case .i420, .yv12, .i422, .y444, .nv12, .nv21, .gray8: true
    default: false
    }
  }

  /// The number of samples in a row, and of rows, in one plane of a picture of `size`.
  package func planeSize(_ index: Int, of size: PictureSize) -> (width: Int32, height: Int32) {
    guard index > 0 else { return (Int32(size.width), Int32(size.height)) }
    let shift = chromaShift
    return (Int32((size.width + (1 << shift.x) - 1) >> shift.x), Int32((size.height + (1 << shift.y) - 1) >> shift.y))
  }

  /// The number of bytes that `width` samples in a row of a plane take, without padding.
  func rowByteCount(_ index: Int, width: Int) -> Int {
    switch self {
    case .yuy2, .uyvy: (width + 1) / 2 * 4
    case .y210: (width + 1) / 2 * 8
    case .bgra, .bgrx, .rgba, .rgbx, .argb, .xrgb: width * 4
    case .rgb, .bgr: width * 3
    case .i420Ten, .i422Ten: width * 2
    case .p010: width * (index == 0 ? 2 : 4)
    case .nv12, .nv21: width * (index == 0 ? 1 : 2)
    case .i420, .yv12, .i422, .y444, .gray8: width
    }
  }

  /// The number of bytes from the first sample in a row of a plane to sample `column`, which must be even in packed
  /// 4:2:2 formats.
  func byteOffset(_ index: Int, column: Int) -> Int {
    switch self {
    case .yuy2, .uyvy: column * 2
    case .y210: column * 4
    default: rowByteCount(index, width: column)
    }
  }

  /// Whether samples have ten bits, in words of 16.
  package var isTenBit: Bool { tenBitShift != nil }

  /// By how many bits the ten bits of a sample are above the lowest ones of its word; nil for formats with eight bits.
  package var tenBitShift: Int? {
    switch self {
    case .p010, .y210: 6
    case .i420Ten, .i422Ten: 0
    default: nil
    }
  }

  /// The format with the same planes and eight bits per sample, for a format with ten; every other format itself.
  var withEightBits: PixelFormat {
    switch self {
    case .p010: .nv12
    case .i420Ten: .i420
    case .i422Ten: .i422
    case .y210: .yuy2
    default: self
    }
  }

  /// Whether luma and chroma are in one plane.
  var isPackedYUV: Bool { self == .yuy2 || self == .uyvy || self == .y210 }
  package var isYUV: Bool { !isRGB }

  package var isRGB: Bool { isRGB32 || self == .rgb || self == .bgr }

  /// Whether the format is RGB with four bytes per pixel.
  var isRGB32: Bool {
    switch self {
    case .bgra, .bgrx, .rgba, .rgbx, .argb, .xrgb: true
    default: false
    }
  }

  /// Whether pixels have an alpha value.
  package var hasAlpha: Bool { self == .bgra || self == .rgba || self == .argb }

  /// I420 for YV12, which differs only in the order of the chroma planes; every other format itself.
  var withChromaInOrder: PixelFormat { self == .yv12 ? .i420 : self }
}

extension Int {
  /// The next lower multiple of two to the power of `shift`.
  func roundedDown(toPower shift: Int) -> Int { (self >> shift) << shift }

  /// The next higher multiple of two to the power of `shift`.
  func roundedUp(toPower shift: Int) -> Int { (self + (1 << shift) - 1).roundedDown(toPower: shift) }
}
