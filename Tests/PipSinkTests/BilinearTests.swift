import CLibYUV
import Testing

@testable import PipSink
@testable import TestSupport

/// Planes of words that are scaled with the bilinear filter.
@Suite struct BilinearTests {
  private static let elements = [PlaneElement.word, .wordPair]
  /// The sides of the target and of the source, in the same unit.
  private static let ratios = [(3, 2), (2, 1), (3, 1), (11, 10), (5, 6), (3, 4), (1, 1), (1, 2), (2, 7)]
  /// These leave every remainder of a vector.
  private static let widths = Array(1...24) + [37, 320]
  private static let heights = [1, 2, 12]

  private let memory = KernelMemory()

  @Test(arguments: elements, ratios)
  func wordsAreBlendsOfTheirNeighbours(element: PlaneElement, ratio: (Int, Int)) {
    for width in Self.widths {
      // Sides may become longer, shorter, both or neither.
      for (height, other) in Self.heights.flatMap({ height in [ratio, (3, 2), (5, 6), (1, 1)].map { (height, $0) } }) {
        for isUpsideDown in [false, true] {
          var source = WordPlane(element, width: width, height: height)
          source.fill { _, _, _ in Int.random(in: 0...65535) }
          let newHeight = side(height, other)
          // One column fills a vector only if it becomes much wider.
          for newWidth in [side(width, ratio)] + (width == 1 ? [8, 21] : []) {
            let target = source.scaled(newWidth, newHeight, in: memory, isUpsideDown: isUpsideDown)
            let isRight = target.allSatisfy { component, x, y, value in
              value == blend(source, component, x, y, newWidth, newHeight, isUpsideDown)
            }
            #expect(isRight, "\(width)x\(height) to \(newWidth)x\(newHeight), upside down: \(isUpsideDown)")
          }
        }
      }
    }
  }

  @Test(arguments: elements, ratios)
  func aPlaneWithOneValueKeepsIt(element: PlaneElement, ratio: (Int, Int)) {
    for value in [0, 1, 64, 127, 128, 255, 256, 511, 1023, 32767, 32768, 65472, 65535] {
      var source = WordPlane(element, width: 29, height: 12)
      source.fill { component, _, _ in component == 0 ? value : 65535 - value }
      let target = source.scaled(side(29, ratio), side(12, ratio), in: memory)
      let isRight = target.allSatisfy { component, _, _, word in word == (component == 0 ? value : 65535 - value) }
      #expect(isRight, "\(value)")
    }
  }

  @Test(arguments: elements, ratios)
  func aRampNeverGoesBack(element: PlaneElement, ratio: (Int, Int)) {
    // Steps of one, across the middle of all words, between ten-bit values in the upper bits, and large ones.
    for (step, start) in [(1, 500), (1, 32760), (64, 64 << 6), (1637, 0)] {
      var source = WordPlane(element, width: 37, height: 4)
      source.fill { component, x, y in start + step * (x + y) + component }
      let target = source.scaled(side(37, ratio), side(4, ratio), in: memory)
      let isIncreasing = target.allSatisfy { component, x, y, value in
        value >= target.value(component, max(0, x - 1), y) && value >= target.value(component, x, max(0, y - 1))
      }
      #expect(isIncreasing, "\(start) by \(step)")
    }
  }

  /// libyuv blends in the same order, with finer weights in a row.
  @Test(arguments: elements, [kFilterBilinear, kFilterBox])
  func tenBitsAreThoseOfLibyuvOrTheNextValue(element: PlaneElement, filter: FilterModeEnum) {
    for width in Self.widths.dropFirst() {
      for ratio in Self.ratios {
        for isUpsideDown in [false, true] {
          var source = WordPlane(element, width: width, height: 12)
          source.fill { _, _, _ in Int.random(in: 0...1023) }
          let (newWidth, newHeight) = (side(width, ratio), side(12, ratio))
          let ours = source.scaled(newWidth, newHeight, in: memory, isUpsideDown: isUpsideDown, through: filter)
          let theirs = source.components.map {
            $0.scaledByLibyuv(newWidth, newHeight, in: memory, isUpsideDown: isUpsideDown, filter: filter)
          }
          let isRight = ours.allSatisfy { component, x, y, value in
            abs(value - theirs[component].value(0, x, y)) <= 1
          }
          #expect(isRight, "\(width)x12 to \(newWidth)x\(newHeight), upside down: \(isUpsideDown)")
        }
      }
    }
  }

  private func side(_ side: Int, _ ratio: (Int, Int)) -> Int { max(1, side * ratio.0 / ratio.1) }

  // MARK: The reference

  /// Returns the place of a sample of the target in a source, in units of 1/65536.
  private func place(_ index: Int, _ target: Int, of source: Int) -> Int {
    if target <= source { return (source << 16) / target / 2 - 32768 + index * ((source << 16) / target) }
    return source == 1 ? 0 : index * (((source << 16) - 65537) / (target - 1))
  }

  /// Blends rows with weights of 8 bits and columns with weights of 14. If the height grows, columns are blended first.
  private func blend(
    _ source: WordPlane, _ component: Int, _ x: Int, _ y: Int, _ width: Int, _ height: Int, _ isUpsideDown: Bool
  ) -> Int {
    let (column, row) = (place(x, width, of: source.width), place(y, height, of: source.height))
    let (left, top) = (column >> 16, row >> 16)
    let (right, bottom) = (min(left + 1, source.width - 1), min(top + 1, source.height - 1))
    func sample(_ x: Int, _ y: Int) -> Int { source.value(component, x, isUpsideDown ? source.height - 1 - y : y) }
    func inRow(_ first: Int, _ second: Int) -> Int {
      let weight = ((column & 65535) + 2) / 4
      return (first * (16384 - weight) + second * weight + 8192) / 16384
    }
    func ofRows(_ first: Int, _ second: Int) -> Int {
      let weight = (row & 65535) / 256
      return (first * (256 - weight) + second * weight + 128) / 256
    }
    if height > source.height, width != source.width {
      return ofRows(inRow(sample(left, top), sample(right, top)), inRow(sample(left, bottom), sample(right, bottom)))
    }
    return inRow(ofRows(sample(left, top), sample(left, bottom)), ofRows(sample(right, top), sample(right, bottom)))
  }
}

/// A plane of words or of pairs of words, with padding behind its rows.
private struct WordPlane {
  let element: PlaneElement
  let (width, height): (Int, Int)
  private(set) var words: [UInt16]

  /// What is in the padding of a target, and must stay there.
  private static let canary: UInt16 = 0xabcd
  private static let padding = 9

  init(_ element: PlaneElement, width: Int, height: Int) {
    (self.element, self.width, self.height) = (element, width, height)
    words = []
    words = Array(repeating: Self.canary, count: stride * height)
  }

  private var componentCount: Int { Int(element.byteCount) / 2 }
  private var stride: Int { width * componentCount + Self.padding }

  func value(_ component: Int, _ x: Int, _ y: Int) -> Int { Int(words[y * stride + x * componentCount + component]) }

  mutating func fill(_ value: (_ component: Int, _ x: Int, _ y: Int) -> Int) {
    forEach { component, x, y, index in words[index] = UInt16(value(component, x, y)) }
  }

  func allSatisfy(_ isRight: (_ component: Int, _ x: Int, _ y: Int, _ value: Int) -> Bool) -> Bool {
    var areRight = true
    forEach { component, x, y, index in
      areRight = areRight && isRight(component, x, y, Int(words[index]))
    }
    return areRight
  }

  private func forEach(_ body: (_ component: Int, _ x: Int, _ y: Int, _ index: Int) -> Void) {
    for y in 0..<height {
      for x in 0..<width {
        for component in 0..<componentCount { body(component, x, y, y * stride + x * componentCount + component) }
      }
    }
  }

  /// The components of pairs in planes of their own.
  var components: [WordPlane] {
    (0..<componentCount).map { component in
      var plane = WordPlane(.word, width: width, height: height)
      plane.fill { _, x, y in value(component, x, y) }
      return plane
    }
  }

  /// Scales the plane, whose rows may be read from the last to the first, by the kernel or, with a filter, by the
  /// function that chooses one.
  func scaled(
    _ width: Int, _ height: Int, in memory: KernelMemory, isUpsideDown: Bool = false,
    through filter: FilterModeEnum? = nil
  ) -> WordPlane {
    var result = WordPlane(element, width: width, height: height)
    let kernel = element == .word ? pipsink_scale_words : pipsink_scale_word_pairs
    // Nothing may be read in front of the first row in memory, or behind the last one.
    let source = memory.placeSource(words.dropLast(Self.padding), isAtStart: isUpsideDown)
    result.withTarget { into in
      let plane = self.plane(source, isUpsideDown: isUpsideDown)
      if let filter {
        var spare = [UInt8](repeating: 0, count: 16 * (words.count + self.width + width * height))
        #expect(plane.scale(into: into, element: element, filter: filter, spare: &spare))
      } else {
        let byteCount = pipsink_scale_byte_count(plane.width, into.width, element.byteCount / 2)
        kernel(
          plane.data, Int(plane.stride), plane.width, plane.height, into.data, Int(into.stride), into.width,
          into.height, memory.placeSpare(byteCount: byteCount))
      }
    }
    return result
  }

  func scaledByLibyuv(
    _ width: Int, _ height: Int, in memory: KernelMemory, isUpsideDown: Bool, filter: FilterModeEnum
  ) -> WordPlane {
    var result = WordPlane(element, width: width, height: height)
    let source = memory.placeSource(words[...], isAtStart: true)
    result.withTarget { into in
      let plane = self.plane(source, isUpsideDown: isUpsideDown)
      ScalePlane_16(
        plane.words, plane.stride / 2, plane.width, plane.height, into.words, into.stride / 2, into.width, into.height,
        filter)
    }
    return result
  }

  private func plane(_ bytes: UnsafeMutablePointer<UInt8>, isUpsideDown: Bool) -> Picture.Plane {
    let plane = Picture.Plane(data: bytes, stride: Int32(2 * stride), width: Int32(width), height: Int32(height))
    return isUpsideDown ? plane.upsideDown : plane
  }

  /// Calls a function that writes the plane, and expects the padding as it was, in front of the plane as well.
  private mutating func withTarget(_ body: (Picture.Plane) -> Void) {
    var memory = Array(repeating: Self.canary, count: Self.padding) + words
    memory.withUnsafeMutableBytes { memory in
      guard let bytes = memory.baseAddress?.assumingMemoryBound(to: UInt8.self) else { return }
      body(plane(bytes + 2 * Self.padding, isUpsideDown: false))
    }
    words = Array(memory.dropFirst(Self.padding))
    let isUntouched = (0...height).allSatisfy { row in
      memory[row * stride..<row * stride + Self.padding].allSatisfy { $0 == Self.canary }
    }
    #expect(isUntouched, "wrote outside of the rows of \(width)x\(height)")
  }
}

/// The memory of a source and of a kernel, each beside pages that may not be accessed.
private struct KernelMemory {
  private let source = GuardedMemory(byteCount: 1 << 18)
  private let spare = GuardedMemory(byteCount: 1 << 18)

  /// Copies words to the start or to the end of the source's memory.
  func placeSource(_ words: ArraySlice<UInt16>, isAtStart: Bool) -> UnsafeMutablePointer<UInt8> {
    let byteCount = 2 * words.count
    let place = isAtStart ? source.placeAtStart(byteCount: byteCount) : source.place(byteCount: byteCount)
    words.withUnsafeBytes { UnsafeMutableRawBufferPointer(start: place, count: byteCount).copyMemory(from: $0) }
    return place.assumingMemoryBound(to: UInt8.self)
  }

  func placeSpare(byteCount: Int) -> UnsafeMutablePointer<UInt8> {
    spare.place(byteCount: byteCount).assumingMemoryBound(to: UInt8.self)
  }
}
