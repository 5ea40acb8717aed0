import CLibYUV

/// Turns a frame into BGRA pixels of a given size, in the destination's memory.
///
/// When the size changes it is the source's planes that are scaled, before the colours are converted, so that the
/// expensive step runs on the smaller picture. One converter serves one thread at a time; it keeps its intermediate
/// memory between frames.
struct PixelConverter: ~Copyable {
  /// Where the pixels go: BGRA rows, `stride` bytes apart.
  struct Destination {
    let data: UnsafeMutablePointer<UInt8>
    let stride: Int32
    let size: PictureSize
  }

  private var scratch = ScratchMemory()

  /// Converts the part `crop` of `frame`, scaled to fill `destination`: an average of the source's pixels when it
  /// shrinks, bilinear when it grows.
  ///
  /// - Parameter crop: in pixels of the frame's visible part; where chroma is subsampled its origin goes to the chroma
  ///   sample that it lies in.
  /// - Throws: ``PipSinkError/invalidSize(width:height:)`` when the destination is empty or too large.
  mutating func convert(
    _ frame: MappedFrame, crop: PictureRect, into destination: Destination
  ) throws(PipSinkError) {
    guard destination.size.isValid else {
      throw .invalidSize(width: destination.size.width, height: destination.size.height)
    }
    let source = Picture(frame, crop: crop)
    scratch.begin(byteCount: Self.scratchByteCount(source, target: destination.size))
    guard let planar = unpacked(source),
      let scaled = scaled(planar, to: destination.size),
      write(scaled, into: destination)
    else { throw .unreadableFrame(reason: "libyuv refused to convert \(frame.formatDescription)") }
  }

  // MARK: The steps. Each returns its argument where there is nothing to do, and nil only on a mistake in the sizes.

  /// To a form that libyuv scales by plane: eight bits a sample, chroma apart from luma. RGB stays as it is.
  private mutating func unpacked(_ source: Picture) -> Picture? {
    guard let format = source.format.unpackedFormat else { return source }
    guard let result = picture(format, size: source.size, like: source) else { return nil }
    let from = source.planes[0]
    let to = result.planes
    switch source.format {
    case .yuy2, .uyvy:
      let convert = source.format == .yuy2 ? YUY2ToI422 : UYVYToI422
      let failure = convert(
        from.data, from.stride, to[0].writable, to[0].stride, to[1].writable, to[1].stride, to[2].writable,
        to[2].stride,
        Int32(source.size.width), Int32(source.size.height))
      return failure == 0 ? result : nil
    default:
      // P010 has its ten bits at the top of sixteen, I420_10LE at the bottom; the scale is in 1/65536.
      let scale: Int32 = source.format == .p010 ? 256 : 16384
      for index in 0..<source.planeCount {
        let from = source.planes[index]
        let components: Int32 = source.format.isSemiPlanar && index == 1 ? 2 : 1
        from.data.withMemoryRebound(to: UInt16.self, capacity: 1) { words in
          Convert16To8Plane(
            words, from.stride / 2, to[index].writable, to[index].stride, scale, from.width * components, from.height)
        }
      }
      return result
    }
  }

  private mutating func scaled(_ source: Picture, to size: PictureSize) -> Picture? {
    guard source.size != size, source.format.isPlanarEightBit else { return source }
    guard let result = picture(source.format, size: size, like: source) else { return nil }
    let filter = Self.filter(from: source.size, to: size)
    for index in 0..<source.planeCount {
      let from = source.planes[index]
      let to = result.planes[index]
      if source.format.isSemiPlanar && index == 1 {
        let failure = UVScale(
          from.data, from.stride, from.width, from.height, to.writable, to.stride, to.width, to.height, filter)
        guard failure == 0 else { return nil }
      } else {
        ScalePlane(from.data, from.stride, from.width, from.height, to.writable, to.stride, to.width, to.height, filter)
      }
    }
    return result
  }

  private mutating func write(_ source: Picture, into destination: Destination) -> Bool {
    if source.size == destination.size { return ColorConversion.convert(source, into: destination) }
    // Only packed RGB comes here with its own size: to BGRA first, unless it has that order already, then scaled into
    // place.
    var rgb = source
    if source.format != .bgra {
      guard let converted = picture(.bgra, size: source.size, like: source) else { return false }
      let plane = converted.planes[0]
      let whole = Destination(data: plane.writable, stride: plane.stride, size: source.size)
      guard ColorConversion.convert(source, into: whole) else { return false }
      rgb = converted
    }
    let plane = rgb.planes[0]
    let failure = ARGBScale(
      plane.data, plane.stride, plane.width, plane.height, destination.data, destination.stride,
      Int32(destination.size.width), Int32(destination.size.height),
      Self.filter(from: source.size, to: destination.size))
    // libyuv's bilinear filter makes 253 of 255.
    if !source.format.hasAlpha { ColorConversion.makeOpaque(destination) }
    return failure == 0
  }

  private mutating func picture(_ format: PixelFormat, size: PictureSize, like source: Picture) -> Picture? {
    Picture(format, size: size, colorimetry: source.colorimetry, in: &scratch)
  }

  private static func scratchByteCount(_ source: Picture, target: PictureSize) -> Int {
    let planar = source.format.unpackedFormat ?? source.format
    var sum = planar == source.format ? 0 : Picture.scratchByteCount(planar, size: source.size)
    guard source.size != target else { return sum }
    if planar.isPlanarEightBit {
      sum += Picture.scratchByteCount(planar, size: target)
    } else if planar != .bgra {
      sum += Picture.scratchByteCount(.bgra, size: source.size)
    }
    return sum
  }

  private static func filter(from source: PictureSize, to target: PictureSize) -> FilterModeEnum {
    target.width < source.width || target.height < source.height ? kFilterBox : kFilterBilinear
  }
}

extension PixelFormat {
  fileprivate var hasAlpha: Bool { [.bgra, .rgba, .argb].contains(self) }

  /// What the format is taken apart to before it is scaled or converted; nil where it needs no such step.
  fileprivate var unpackedFormat: PixelFormat? {
    switch self {
    case .yuy2, .uyvy: .i422
    case .p010: .nv12
    case .i420Ten: .i420
    default: nil
    }
  }
}
