import CLibYUV

/// The elements of a plane, which determine the kernel that scales it.
enum PlaneElement {
  case byte, bytePair, word, wordPair
  /// A pixel of four bytes.
  case pixel

  var byteCount: Int32 {
    switch self {
    case .byte: 1
    case .bytePair, .word: 2
    case .wordPair, .pixel: 4
    }
  }
}

extension PixelFormat {
  /// The elements of a plane; nil for packed 4:2:2 and three-byte pixels, which are unpacked first.
  func element(ofPlane index: Int) -> PlaneElement? {
    switch self {
    case .p010: index == 0 ? .word : .wordPair
    case .i420Ten, .i422Ten: .word
    case .nv12, .nv21: index == 0 ? .byte : .bytePair
    case .yuy2, .uyvy, .y210, .rgb, .bgr: nil
    default: isRGB32 ? .pixel : .byte
    }
  }
}

/// Operations from one plane to another, by libyuv. Words must be at even addresses (``Picture/isAligned(for:)``).
extension Picture.Plane {
  func copy(into target: Picture.Plane, byteCount: Int) {
    CopyPlane(data, stride, target.data, target.stride, Int32(byteCount), height)
  }

  func fill(_ value: UInt8, byteCount: Int) {
    SetPlane(data, stride, Int32(byteCount), height, UInt32(value))
  }

  /// Scales a plane.
  ///
  /// - Parameters:
  ///   - target: the plane to write to.
  ///   - element: the elements of both planes.
  ///   - filter: libyuv's filter.
  ///   - spare: memory for ``spareByteCount(from:into:)`` bytes if the elements are pairs.
  /// - Returns: false when libyuv has no memory for its rows.
  func scale(
    into target: Picture.Plane, element: PlaneElement, filter: FilterModeEnum, spare: UnsafeMutablePointer<UInt8>
  ) -> Bool {
    if width == target.width, height == target.height {
      copy(into: target, byteCount: Int(width * element.byteCount))
      return true
    }
    if filter == kFilterBox, shrinkByBoxes(into: target, element: element) { return true }
    if filter == kFilterBox || filter == kFilterBilinear, shrinkWordsByThirds(into: target, element: element) {
      return true
    }
    if let kernel = TwoThirds(self, into: target, element: element, filter: filter) {
      kernel.scale()
      return true
    }
    if interpolateWords(into: target, element: element, filter: filter) { return true }
    switch element {
    case .byte:
      ScalePlane(data, stride, width, height, target.data, target.stride, target.width, target.height, filter)
    case .word:
      ScalePlane_16(
        words, stride / 2, width, height, target.words, target.stride / 2, target.width, target.height, filter)
    case .bytePair:
      let shrinksMuch = width >= target.width * 2 || height >= target.height * 2
      guard filter == kFilterBox, shrinksMuch else {
        return UVScale(data, stride, width, height, target.data, target.stride, target.width, target.height, filter)
          == 0
      }
      scaleBytePairsApart(into: target, filter: filter, spare: spare)
    case .wordPair:
      scaleWordPairsApart(into: target, filter: filter, spare: spare)
    case .pixel:
      return ARGBScale(data, stride, width, height, target.data, target.stride, target.width, target.height, filter)
        == 0
    }
    return true
  }

  /// Makes the plane half or a quarter as wide and high, where there is a kernel for that which reads the rows in the
  /// order in which they are in memory.
  ///
  /// - Returns: false where there is none.
  private func shrinkByBoxes(into target: Picture.Plane, element: PlaneElement) -> Bool {
    let factor: Int32 = width == target.width * 4 ? 4 : 2
    guard width == target.width * factor, height == target.height * factor else { return false }
    typealias Kernel = (UnsafePointer<UInt8>?, Int, UnsafeMutablePointer<UInt8>?, Int, Int32, Int32) -> Void
    let kernel: Kernel? =
      switch (element, factor) {
      case (.byte, 2): pipsink_halve_bytes
      case (.byte, _): pipsink_quarter_bytes
      case (.bytePair, 2): pipsink_halve_pairs
      case (.bytePair, _): pipsink_quarter_pairs
      case (.word, 2): pipsink_halve_words
      case (.word, _): pipsink_quarter_words
      case (.wordPair, 2): pipsink_halve_word_pairs
      case (.wordPair, _): pipsink_quarter_word_pairs
      case (.pixel, 2): pipsink_halve_pixels
      case (.pixel, _): nil
      }
    guard let kernel else { return false }
    kernel(data, Int(stride), target.data, Int(target.stride), target.width, target.height)
    return true
  }

  /// Makes two thirds of a plane of words, for which libyuv has only its filter for any ratio. For bytes there is
  /// ``TwoThirds``.
  ///
  /// - Returns: false for other elements and ratios.
  private func shrinkWordsByThirds(into target: Picture.Plane, element: PlaneElement) -> Bool {
    guard element == .word || element == .wordPair, width * 2 == target.width * 3, height * 2 == target.height * 3
    else { return false }
    let kernel = element == .word ? pipsink_two_thirds_of_words : pipsink_two_thirds_of_word_pairs
    kernel(data, Int(stride), target.data, Int(target.stride), target.width, target.height)
    return true
  }

  /// Scales a plane of words with the bilinear filter, where libyuv has no kernel with vectors for that.
  ///
  /// - Returns: false for other elements and filters, and for the ratios for which libyuv's kernels have other weights:
  ///   two, which has vectors, three quarters and three eighths.
  private func interpolateWords(into target: Picture.Plane, element: PlaneElement, filter: FilterModeEnum) -> Bool {
    guard element == .word || element == .wordPair else { return false }
    // Unless both sides become shorter than half, libyuv's box filter is the bilinear one.
    let isBox = filter == kFilterBox && width > target.width * 2 && height > target.height * 2
    guard filter == kFilterBilinear || filter == kFilterBox, !isBox else { return false }
    let isDoubled = width == (target.width + 1) / 2 && height == (target.height + 1) / 2
    let isEighths = [3, 6].contains { width * $0 == target.width * 8 && height * $0 == target.height * 8 }
    guard !isDoubled, !isEighths else { return false }
    let kernel = element == .word ? pipsink_scale_words : pipsink_scale_word_pairs
    let byteCount = pipsink_scale_byte_count(width, target.width, element.byteCount / 2)
    withUnsafeTemporaryAllocation(byteCount: byteCount, alignment: 64) { memory in
      guard let memory = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
      kernel(
        data, Int(stride), width, height, target.data, Int(target.stride), target.width, target.height, memory)
    }
    return true
  }

  /// The number of bytes that ``scale(into:element:filter:spare:)`` needs for pairs, which it splits into two planes.
  static func spareByteCount(from source: (width: Int32, height: Int32), into target: (width: Int32, height: Int32))
    -> Int
  {
    (Int(source.width) * Int(source.height) + Int(target.width) * Int(target.height)) * 4
  }

  /// Scales the two halves of pairs separately, since libyuv's filter for pairs leaves out some when it scales down to
  /// less than half.
  private func scaleBytePairsApart(
    into target: Picture.Plane, filter: FilterModeEnum, spare: UnsafeMutablePointer<UInt8>
  ) {
    let (count, targetCount) = (Int(width) * Int(height), Int(target.width) * Int(target.height))
    let (u, v) = (spare, spare + count)
    let (toU, toV) = (v + count, v + count + targetCount)
    SplitUVPlane(data, stride, u, width, v, width, width, height)
    ScalePlane(u, width, width, height, toU, target.width, target.width, target.height, filter)
    ScalePlane(v, width, width, height, toV, target.width, target.width, target.height, filter)
    MergeUVPlane(toU, target.width, toV, target.width, target.data, target.stride, target.width, target.height)
  }

  /// Scales the two halves of pairs of words separately, since libyuv scales such pairs only by few ratios.
  private func scaleWordPairsApart(
    into target: Picture.Plane, filter: FilterModeEnum, spare: UnsafeMutablePointer<UInt8>
  ) {
    let (count, targetCount) = (Int(width) * Int(height), Int(target.width) * Int(target.height))
    let u = UnsafeMutableRawPointer(spare).assumingMemoryBound(to: UInt16.self)
    let v = u + count
    let (toU, toV) = (v + count, v + count + targetCount)
    // A depth of 16 bits means that values are not shifted.
    SplitUVPlane_16(words, stride / 2, u, width, v, width, width, height, 16)
    ScalePlane_16(u, width, width, height, toU, target.width, target.width, target.height, filter)
    ScalePlane_16(v, width, width, height, toV, target.width, target.width, target.height, filter)
    MergeUVPlane_16(
      toU, target.width, toV, target.width, target.words, target.stride / 2, target.width, target.height, 16)
  }

  /// Exchanges left and right.
  func mirror(into target: Picture.Plane, element: PlaneElement) {
    switch element.byteCount {
    case 1: MirrorPlane(data, stride, target.data, target.stride, width, height)
    case 2: MirrorUVPlane(data, stride, target.data, target.stride, width, height)
    default: ARGBMirror(data, stride, target.data, target.stride, width, height)
    }
  }

  /// Transposes the plane: rows become columns, and the upper left corner stays where it is.
  func transpose(into target: Picture.Plane, element: PlaneElement) {
    // This goes by blocks of columns, so that the rows that they become stay in the cache until they are full.
    let blockWidth: Int32 = 256
    var start: Int32 = 0
    while start < width {
      let count = min(blockWidth, width - start)
      var block = self
      block.data += Int(start * element.byteCount)
      block.width = count
      block.transposeBlock(into: target.rows(start, count), element: element)
      start += count
    }
  }

  private func transposeBlock(into target: Picture.Plane, element: PlaneElement) {
    // libyuv's rotation by 90 degrees is the transposition of a plane with its rows from the last to the first.
    let source = upsideDown
    switch element.byteCount {
    case 1: RotatePlane(source.data, source.stride, target.data, target.stride, width, height, kRotate90)
    case 2:
      RotatePlane_16(
        source.words, source.stride / 2, target.words, target.stride / 2, width, height, kRotate90)
    default: ARGBRotate(source.data, source.stride, target.data, target.stride, width, height, kRotate90)
    }
  }

  /// The first row, for planes of 16-bit samples.
  var words: UnsafeMutablePointer<UInt16> {
    UnsafeMutableRawPointer(data).assumingMemoryBound(to: UInt16.self)
  }
}
