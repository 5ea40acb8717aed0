import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Converters and processors that get frames of one kind after another. They must not keep anything of the previous
/// kind.
@Suite struct ConversionStateTests {
  private let converter = PixelConverter()

  /// Makes a frame that shows another part of the same memory.
  private func cropped(_ source: PixelBuffer, _ rect: PictureRect) throws -> PixelBuffer {
    let buffer = try source.withUnsafeGstSample { try #require(gst_buffer_copy(gst_sample_get_buffer($0))) }
    defer { gst_buffer_unref(buffer) }
    let meta = try #require(gst_buffer_add_meta(buffer, gst_video_crop_meta_get_info(), nil))
    let crop = UnsafeMutableRawPointer(meta).assumingMemoryBound(to: GstVideoCropMeta.self)
    (crop.pointee.x, crop.pointee.y) = (guint(rect.x), guint(rect.y))
    (crop.pointee.width, crop.pointee.height) = (guint(rect.width), guint(rect.height))
    return try TestFrame.pixelBuffer(owning: #require(gst_sample_new(buffer, source.formatDescription.caps, nil, nil)))
  }

  @Test func everyFrameIsConvertedForItself() throws {
    let i420 = try TestFrame.keptPixelBuffer(TestFrame.naturalSource(.i420, 128, 96))
    let bgra = try TestFrame.keptPixelBuffer(TestFrame.naturalSource(.bgra, 128, 96))
    let sources = [
      i420, try cropped(i420, .init(x: 0, y: 0, width: 64, height: 48)),
      try cropped(i420, .init(x: 32, y: 20, width: 64, height: 48)),
      try cropped(i420, .init(x: 0, y: 0, width: 48, height: 64)), bgra,
      try TestFrame.keptPixelBuffer(TestFrame.naturalSource(.i420, 64, 48)),
      try TestFrame.keptPixelBuffer(TestFrame.naturalSource(.p010, 128, 96)),
    ]
    let outputs: [PixelConverter.Output] = [
      .init(pixelFormat: .nv12), .init(pixelFormat: .bgra),
      .init(pixelFormat: .bgra, size: .init(width: 40, height: 40)),
      .init(pixelFormat: .bgra, size: .init(width: 40, height: 40), gravity: .resizeAspect),
      .init(pixelFormat: .bgra, orientation: .init(rotation: .quarter)),
      .init(pixelFormat: .bgra, orientation: .mirrored),
      .init(pixelFormat: .bgra, size: .init(width: 200, height: 150), scalingFilter: .none),
      .init(pixelFormat: .bgra, size: .init(width: 200, height: 150), scalingFilter: .bilinear),
    ]
    // Each kind follows each other kind, in both orders.
    var jobs: [(PixelBuffer, PixelConverter.Output)] = []
    for output in outputs { jobs += sources.map { ($0, output) } }
    for source in sources { jobs += outputs.reversed().map { (source, $0) } }
    for (source, output) in jobs {
      let result = try converter.convert(source, to: output)
      let expected = try PixelConverter().convert(source, to: output)
      #expect(result.formatDescription === expected.formatDescription)
      #expect(try PixelComparison.areEqual(result, expected), "\(source.formatDescription), \(output)")
    }
  }

  @Test func theColoursAreThoseOfEachFrameThoughItsSizeStays() throws {
    var reds: [Int] = []
    for colorimetry in ["bt601", "bt709", "bt2020", "1:4:0:0", "1:3:5:1", "1:6:0:0"] {
      let format = try VideoFormatDescription.make(.i420, size: .init(width: 16, height: 16), colorimetry: colorimetry)
      #expect(format.colorimetry.isFullRange == colorimetry.hasPrefix("1:"))
      var frame = try converter.pool.makePixelBuffer(format)
      for (plane, value) in [(0, UInt8(100)), (1, 128), (2, 200)] {
        try frame.withMutablePlane(plane) { bytes, _ in
          for offset in 0..<bytes.byteCount { bytes.storeBytes(of: value, toByteOffset: offset, as: UInt8.self) }
        }
      }
      let result = try converter.convert(frame.finish(), to: .init(pixelFormat: .bgra))
      reds.append(try result.withPlane(0) { bytes, _ in Int(bytes.unsafeLoad(fromByteOffset: 2, as: UInt8.self)) })
    }
    // The expected values are Y' + 2 (1 - Kr) Cr, as the standards define them.
    for (red, expected) in zip(reds, [212.7, 226.9, 218.7, 200.9, 213.4, 206.2]) {
      #expect(abs(Double(red) - expected) <= 2, "\(reds)")
    }
  }

  // MARK: Fields

  /// Alternating rows of two kinds, each of which becomes brighter downwards and to the right. The values of the first
  /// kind are below 110, those of the second kind are 150 and more.
  private func interlaced(_ order: String?) throws -> PixelBuffer {
    try PipSink.initialize()
    let caps = try #require(
      gst_caps_from_string(
        "video/x-raw,format=I420,width=32,height=16,framerate=25/1"
          + (order.map { ",interlace-mode=interleaved,field-order=\($0)" } ?? "")))
    defer { gst_caps_unref(caps) }
    var frame = try converter.pool.makePixelBuffer(.shared(for: caps))
    for plane in 0..<3 {
      try frame.withMutablePlane(plane) { bytes, layout in
        for row in 0..<layout.height {
          for column in 0..<layout.width {
            let value = UInt8((row % 2 == 0 ? 48 : 150) + row * 2 + column)
            bytes.storeBytes(of: value, toByteOffset: row * layout.bytesPerRow + column, as: UInt8.self)
          }
        }
      }
    }
    return frame.finish()
  }

  @Test(arguments: [("top-field-first", true), ("bottom-field-first", false)])
  func whichFieldIsTheEarlierOneIsKnownAfterAConversionToo(order: String, isDark: Bool) throws {
    let nv12 = try converter.convert(interlaced(order), to: .init(pixelFormat: .nv12))
    #expect(nv12.formatDescription.isInterlaced)
    for source in [try interlaced(order), nv12] {
      let small = try converter.convert(source, to: .init(size: .init(width: 32, height: 12)))
      #expect(try Oracle.tightBytes(small).allSatisfy { ($0 < 120) == isDark })
    }
  }

  @Test(arguments: [VideoOrientation.flippedVertically, .init(rotation: .half), .mirrored])
  func theFieldsOfATurnedFrameChangePlacesAsItsRowsDo(orientation: VideoOrientation) throws {
    let source = try interlaced("top-field-first")
    let turned = try converter.convert(source, to: .init(pixelFormat: .bgra, orientation: orientation))
    #expect(turned.formatDescription.isInterlaced)
    let upright = try converter.convert(source, to: .init(pixelFormat: .bgra))
    let expected = try Oracle.flipped(
      upright, method: orientation == .mirrored ? "horiz" : orientation == .flippedVertically ? "vert" : "180")
    #expect(try PixelComparison.areEqual(Oracle.tightBytes(turned), Oracle.tightBytes(expected)))
    let quarter = try converter.convert(source, to: .init(size: source.size, orientation: .init(rotation: .quarter)))
    #expect(!quarter.formatDescription.isInterlaced, "the columns of the picture are not fields")
  }

  /// If a crop starts at a row whose chroma belongs to the other field, the picture cannot be split into complete
  /// fields.
  @Test func aCropThatBeginsWithinAPairOfFieldsIsTakenAsItIs() throws {
    let rect = PictureRect(x: 0, y: 2, width: 32, height: 12)
    let (fields, whole) = try (cropped(interlaced("top-field-first"), rect), cropped(interlaced(nil), rect))
    let results = try [fields, whole].map {
      try Oracle.tightBytes(converter.convert($0, to: .init(pixelFormat: .bgra)))
    }
    #expect(PixelComparison.areEqual(results[0], results[1]))
  }

  // MARK: Shapes and bars

  @Test(arguments: [PixelFormat.bgrx, .rgbx, .xrgb], [PixelFormat.bgra, .rgba, .argb])
  func whateverThePaddingByteHoldsThePictureIsOpaque(format: PixelFormat, target: PixelFormat) throws {
    try PipSink.initialize()
    var frame = try converter.pool.makePixelBuffer(.make(format, size: .init(width: 17, height: 4)))
    try frame.withMutablePlane(0) { bytes, _ in
      for offset in 0..<bytes.byteCount { bytes.storeBytes(of: 7, toByteOffset: offset, as: UInt8.self) }
    }
    let bytes = try Oracle.tightBytes(converter.convert(frame.finish(), to: .init(pixelFormat: target)))
    let alpha = target == .argb ? 0 : 3
    #expect(bytes.enumerated().allSatisfy { $1 == ($0 % 4 == alpha ? 255 : 7) })
  }

  @Test func aWantedSizeIsInSquarePixelsThoughTheFrameHasItAlready() throws {
    let source = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 64, 48, pixelAspectRatio: "4/3"))
    let result = try converter.convert(source, to: .init(size: source.size))
    #expect(result.formatDescription.pixelAspectRatio == (1, 1))
    #expect(try converter.convert(source, to: .init(pixelFormat: .nv12)).formatDescription.pixelAspectRatio == (4, 3))
  }

  @Test(
    arguments: [
      (PixelFormat.i420, [16, 16, 16, 16]), (.nv12, [16, 16, 16, 16]), (.y444, [16, 16, 16, 16]),
      (.yuy2, [16, 128, 16, 128]), (.uyvy, [128, 16, 128, 16]), (.p010, [0, 16, 0, 16]), (.i420Ten, [64, 0, 64, 0]),
      (.i422Ten, [64, 0, 64, 0]), (.y210, [0, 16, 0, 128]),
      (.bgra, [0, 0, 0, 255]), (.argb, [255, 0, 0, 0]), (.rgb, [0, 0, 0, 0]),
    ] as [(PixelFormat, [UInt8])])
  func barsAreBlackAsTheFormatWritesIt(format: PixelFormat, black: [UInt8]) throws {
    let source = try TestFrame.pixelBuffer(TestFrame.testSource(format, 64, 16, pattern: "white"))
    let boxed = try converter.convert(source, to: .init(size: .init(width: 64, height: 64), gravity: .resizeAspect))
    let bytes = try Oracle.tightBytes(boxed)
    #expect(Array(bytes.prefix(4)) == black && Array(bytes.suffix(4)) == black)
  }

  // MARK: Grayscale

  /// Chroma planes that have the same number of bytes in two formats. Neutral chroma is 128 in 8 bits, and 512 in 10
  /// bits, which are stored at the upper or at the lower end of 16 bits.
  @Test func theNeutralChromaIsThatOfEachFramesFormatAndSize() throws {
    let processor = GrayscaleProcessor()
    let kinds: [(PixelFormat, Int, Int, [UInt8])] = [
      (.nv12, 64, 32, [128, 128]), (.p010, 32, 32, [0, 128]), (.nv12, 64, 32, [128, 128]), (.nv12, 32, 16, [128, 128]),
      (.i420, 64, 32, [128, 128]), (.i420Ten, 32, 32, [0, 2]), (.i420, 64, 32, [128, 128]),
      (.i420, 640, 32, [128, 128]), (.i422Ten, 32, 32, [0, 2]),
    ]
    for (format, width, height, neutral) in kinds {
      let source = try TestFrame.sampleBuffer(TestFrame.testSource(format, width, height))
      let gray = try #require(try processor.process(source)).pixelBuffer
      #expect(try Oracle.tightBytes(gray) == Oracle.tightBytes(source.pixelBuffer))
      for plane in 1..<gray.planeCount {
        let bytes = try Oracle.tightBytes(gray, plane: plane)
        let isNeutral = bytes.enumerated().allSatisfy { $1 == neutral[$0 % 2] }
        #expect(isNeutral, "\(format) \(width)x\(height), plane \(plane)")
      }
    }
  }

  @Test func aCroppedFrameThatHasToBeMadeAnewBecomesAsLargeAsItsCrop() throws {
    let source = try TestFrame.pixelBuffer(TestFrame.testSource(.bgra, 64, 48))
    let processor = GrayscaleProcessor()
    for rect in [PictureRect(x: 8, y: 4, width: 20, height: 10), .init(x: 0, y: 0, width: 64, height: 48)] {
      let gray = try #require(try processor.process(SampleBuffer(pixelBuffer: cropped(source, rect)))).pixelBuffer
      #expect(gray.size == rect.size && gray.pixelFormat == .bgra)
    }
  }
}
