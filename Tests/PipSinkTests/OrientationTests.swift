import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

@Suite struct OrientationTests {
  /// The four corners. Each has its own colour.
  private static let corners = [(0, 0), (1, 0), (0, 1), (1, 1)]

  /// Makes a picture of 64x32 pixels whose quarters are white, red, green and blue.
  private func quarters(_ format: PixelFormat = .bgra) throws -> PixelBuffer {
    try TestFrame.keptPixelBuffer(
      "compositor name=m background=black sink_1::xpos=32 sink_2::ypos=16 sink_3::xpos=32 sink_3::ypos=16 "
        + "! videoconvert ! video/x-raw,format=\(format.rawValue),width=64,height=32 ! identity name=last eos-after=2 "
        + ["white", "red", "green", "blue"].enumerated().map { index, color in
          "videotestsrc num-buffers=1 pattern=\(color) ! video/x-raw,format=BGRA,width=32,height=16,framerate=30/1 "
            + "! m.sink_\(index)"
        }.joined(separator: " ") + " last.")
  }

  /// Returns the colours at the centres of the quarters: upper left, upper right, lower left, lower right.
  private func colors(_ image: BGRAImage) -> String {
    Self.corners.map { x, y in
      let pixel = image.pixel(
        image.size.width / 4 + x * image.size.width / 2, image.size.height / 4 + y * image.size.height / 2)
      switch (pixel[2] > 128, pixel[1] > 100, pixel[0] > 128) {
      case (true, true, true): return "W"
      case (true, false, false): return "R"
      case (false, true, false): return "G"
      case (false, false, true): return "B"
      default: return "?"
      }
    }.joined()
  }

  private static let expected: [(VideoOrientation, String)] = [
    (.upright, "WRGB"), (.init(rotation: .quarter), "GWBR"), (.init(rotation: .half), "BGRW"),
    (.init(rotation: .threeQuarters), "RBWG"), (.mirrored, "RWBG"), (.flippedVertically, "GBWR"),
    (.init(rotation: .threeQuarters, isMirrored: true), "WGRB"), (.init(rotation: .quarter, isMirrored: true), "BRGW"),
  ]

  @Test(arguments: expected)
  func aSurfaceTurnsWhatTheSampleSays(orientation: VideoOrientation, colors: String) throws {
    var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
    sampleBuffer.orientation = orientation
    let image = try rendered(sampleBuffer, size: orientation.applied(to: .init(width: 64, height: 32)))
    #expect(self.colors(image) == colors)
  }

  @Test func turnsFollowEachOtherAsSurfacesShowThem() throws {
    let converter = PixelConverter()
    let source = try quarters()
    for first in VideoOrientation.allCases {
      for second in VideoOrientation.allCases {
        let atOnce = try converter.convert(source, to: .init(orientation: first.followed(by: second)))
        let once = try converter.convert(source, to: .init(orientation: first))
        let twice = try converter.convert(once, to: .init(orientation: second))
        #expect(try Oracle.tightBytes(atOnce) == Oracle.tightBytes(twice), "\(first), then \(second)")
      }
      #expect(first.followed(by: first.inverse) == .upright)
      #expect(first.inverse.followed(by: first) == .upright)
    }
  }

  @Test func gravityLooksAtTheTurnedPicture() throws {
    var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
    sampleBuffer.orientation = .init(rotation: .quarter)
    let fitted = try rendered(sampleBuffer, size: .init(width: 64, height: 64), gravity: .resizeAspect)
    #expect(fitted.pixel(4, 32) == [0, 0, 0, 255])
    #expect(fitted.pixel(24, 16)[1] > 100)
    // The picture is cropped to a square: a quarter of its length is missing at either end.
    let filled = try rendered(sampleBuffer, size: .init(width: 64, height: 64), gravity: .resizeAspectFill)
    #expect(colors(filled) == "GWBR")
  }

  // MARK: From the stream

  @Test(
    arguments: [
      ("rotate-0", VideoOrientation.upright), ("rotate-90", .init(rotation: .quarter)),
      ("rotate-180", .init(rotation: .half)), ("rotate-270", .init(rotation: .threeQuarters)),
      ("flip-rotate-0", .mirrored), ("flip-rotate-180", .flippedVertically),
      ("flip-rotate-90", .init(rotation: .quarter, isMirrored: true)),
      ("flip-rotate-270", .init(rotation: .threeQuarters, isMirrored: true)),
    ])
  func theImageOrientationTagArrivesWithEveryFrame(tag: String, orientation: VideoOrientation) async throws {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      .text(
        "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=64,height=32 "
          + "! taginject tags=image-orientation=\(tag) ! appsink name=a sync=false"))
    _ = try await engine.runToEnd { _ in consumer }
    #expect(consumer.sampleBuffers.map(\.orientation) == [orientation, orientation, orientation])
  }

  /// Two streams follow each other, and only the first one has a tag.
  @Test func theStreamThatFollowsATaggedOneIsUprightAgain() async throws {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      .text(
        ["! taginject tags=image-orientation=rotate-90", ""].map { tag in
          "videotestsrc num-buffers=2 ! video/x-raw,format=I420,width=64,height=32,framerate=30/1 \(tag) ! c. "
        }.joined() + "concat name=c ! appsink name=a sync=false"))
    _ = try await engine.runToEnd { _ in consumer }
    let quarter = VideoOrientation(rotation: .quarter)
    #expect(consumer.sampleBuffers.map(\.orientation) == [quarter, quarter, .upright, .upright])
  }

  @Test func aMirroringMetaAndARotatingTagAreShownOneAfterTheOther() async throws {
    let source = try quarters()
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      .text(
        "appsrc name=src format=time do-timestamp=true caps=\"\(source.formatDescription.capsDescription)\""
          + " ! taginject tags=image-orientation=rotate-90 ! appsink name=a sync=false"))
    try await engine.start { _ in consumer }
    let buffer = try source.withUnsafeGstSample { try #require(gst_buffer_copy(gst_sample_get_buffer($0))) }
    gst_video_affine_transformation_meta_apply_matrix(
      gst_buffer_add_video_affine_transformation_meta(buffer), [-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 1])
    engine.withUnsafeElement(named: "src") { source in
      source.withMemoryRebound(to: GstAppSrc.self, capacity: 1) { _ = gst_app_src_push_buffer($0, buffer) }
    }
    #expect(await eventually { !consumer.sampleBuffers.isEmpty })
    let image = try rendered(try #require(consumer.sampleBuffers.first), size: .init(width: 32, height: 64))
    await engine.stop()
    // The mirrored picture is RWBG, which gives BRGW after a rotation clockwise. In the opposite order, the result
    // would be WGRB.
    #expect(colors(image) == "BRGW")
  }

  @Test(arguments: ["rotate-90", "rotate-180", "rotate-270", "flip-rotate-0", "flip-rotate-90", "flip-rotate-270"])
  func aTaggedStreamIsShownAsVideoflipShowsIt(tag: String) async throws {
    let consumer = CountingConsumer()
    let source =
      "videotestsrc num-buffers=1 pattern=smpte ! video/x-raw,format=BGRA,width=64,height=32,framerate=30/1 "
      + "! taginject tags=image-orientation=\(tag)"
    let engine = try VideoEngine(.text("\(source) ! appsink name=a sync=false"))
    _ = try await engine.runToEnd { _ in consumer }
    let expected = try TestFrame.pixelBuffer("\(source) ! videoflip video-direction=auto")
    let image = try rendered(try #require(consumer.sampleBuffers.first), size: expected.size)
    #expect(image.bytes == (try Oracle.tightBytes(expected)))
  }

  @Test func theAffineMetaComesBeforeTheTag() throws {
    let source = try quarters()
    let buffer = try source.withUnsafeGstSample { try #require(gst_buffer_copy(gst_sample_get_buffer($0))) }
    defer { gst_buffer_unref(buffer) }
    #expect(VideoOrientation(affineMetaOf: buffer) == nil)
    let meta = try #require(gst_buffer_add_video_affine_transformation_meta(buffer))
    #expect(VideoOrientation(affineMetaOf: buffer) == .upright)
    // A rotation by 90 degrees clockwise around the centre in OpenGL's notation: right becomes down, and up becomes
    // right.
    let turn: [Float] = [0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1]
    gst_video_affine_transformation_meta_apply_matrix(meta, turn)
    #expect(VideoOrientation(affineMetaOf: buffer) == .init(rotation: .quarter))
    gst_video_affine_transformation_meta_apply_matrix(meta, turn)
    #expect(VideoOrientation(affineMetaOf: buffer) == .init(rotation: .half))
    let skewed: [Float] = [1, 0.3, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1]
    gst_video_affine_transformation_meta_apply_matrix(meta, skewed)
    #expect(VideoOrientation(affineMetaOf: buffer) == nil)
  }

  @Test(arguments: VideoOrientation.allCases)
  func theAffineMetaSaysWhereTheDirectionsOfThePictureGo(orientation: VideoOrientation) throws {
    // The expected matrix mirrors the picture first and then rotates it clockwise. The y axis points upwards.
    let angle = Double(orientation.rotation.rawValue) * .pi / 180
    let right = orientation.isMirrored ? -1.0 : 1.0
    let directions = [right * cos(angle), -right * sin(angle), sin(angle), cos(angle)].map { Float($0) }
    #expect(
      VideoOrientation(xToX: directions[0], xToY: directions[1], yToX: directions[2], yToY: directions[3])
        == orientation)
    let half = directions.map { $0 / 2 }
    #expect(
      VideoOrientation(xToX: half[0], xToY: half[1], yToX: half[2], yToY: half[3]) == nil,
      "this matrix also makes the picture smaller")
  }

  // MARK: From the app

  @Test func theLayersOrientationComesAfterTheFrames() throws {
    let renderer = try OffscreenRenderer(size: .init(width: 64, height: 32))
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer, videoGravity: .resize)
    layer.orientation = .mirrored
    var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
    sampleBuffer.orientation = .init(rotation: .half)
    layer.enqueue(sampleBuffer)
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(colors(try #require(renderer.image())) == "GBWR")
  }

  /// Returns the four corners after a change of orientation. The table gives the result for the upright picture.
  private func turned(_ corners: String, by orientation: VideoOrientation) throws -> String {
    let (_, places) = try #require(Self.expected.first { $0.0 == orientation })
    return String(places.map { place in Array(corners)[Array("WRGB").firstIndex(of: place)!] })
  }

  @Test(arguments: VideoOrientation.allCases)
  func theFramesOrientationAndTheLayersDoNotChangePlaces(ofFrame: VideoOrientation) throws {
    let renderer = try OffscreenRenderer(size: .init(width: 64, height: 32))
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer, videoGravity: .resize)
    for ofLayer in VideoOrientation.allCases {
      layer.orientation = ofLayer
      var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
      sampleBuffer.orientation = ofFrame
      layer.enqueue(sampleBuffer)
      #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
      let expected = try turned(turned("WRGB", by: ofFrame), by: ofLayer)
      #expect(colors(try #require(renderer.image())) == expected, "\(ofFrame), then \(ofLayer)")
    }
  }

  @Test func theLayersOrientationTakesEffectFromTheNextFrame() throws {
    let renderer = try OffscreenRenderer(size: .init(width: 64, height: 32))
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer, videoGravity: .resize)
    for (orientation, colors) in Self.expected {
      layer.orientation = orientation
      layer.enqueue(SampleBuffer(pixelBuffer: try quarters()))
      #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
      #expect(self.colors(try #require(renderer.image())) == colors)
    }
  }

  // MARK: Processors

  @Test(arguments: expected.prefix(4))
  func theRotationProcessorTurnsPixels(orientation: VideoOrientation, colors: String) throws {
    let processor = RotationProcessor(.fixed(orientation.rotation))
    let result = try #require(try processor.process(SampleBuffer(pixelBuffer: quarters(), sequenceNumber: 7)))
    #expect(result.orientation == .upright)
    #expect(result.sequenceNumber == 7)
    #expect(self.colors(try rendered(result, size: result.pixelBuffer.size)) == colors)
  }

  @Test(arguments: expected)
  func theAutomaticRotationCarriesOutWhatTheFrameSays(orientation: VideoOrientation, colors: String) throws {
    var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
    sampleBuffer.orientation = orientation
    let result = try #require(try RotationProcessor(.automatic).process(sampleBuffer))
    #expect(result.orientation == .upright)
    #expect(result.pixelBuffer.size == orientation.applied(to: .init(width: 64, height: 32)))
    #expect(self.colors(try rendered(result, size: result.pixelBuffer.size)) == colors)
  }

  @Test(arguments: VideoOrientation.Rotation.allCases)
  func theRotationProcessorTurnsWhatIsSeenWhateverTheFrameSays(rotation: VideoOrientation.Rotation) throws {
    let turn = VideoOrientation(rotation: rotation)
    for orientation in VideoOrientation.allCases {
      var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
      sampleBuffer.orientation = orientation
      let result = try #require(try RotationProcessor(.fixed(rotation)).process(sampleBuffer))
      let expected = try turned(turned("WRGB", by: orientation), by: turn)
      #expect(colors(try rendered(result, size: .init(width: 32, height: 32))) == expected, "\(orientation)")
    }
  }

  @Test func theConverterTurnsAsTheFrameSaysAndThenAsTheOutputDoes() throws {
    let converter = PixelConverter()
    for ofFrame in VideoOrientation.allCases {
      for ofOutput in VideoOrientation.allCases {
        var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
        sampleBuffer.orientation = ofFrame
        let result = try converter.convert(sampleBuffer, to: .init(orientation: ofOutput))
        let expected = try turned(turned("WRGB", by: ofFrame), by: ofOutput)
        #expect(colors(try rendered(result, size: .init(width: 32, height: 32))) == expected, "\(ofFrame), \(ofOutput)")
      }
    }
  }

  @Test func theVerticalMirrorExchangesTopAndBottom() throws {
    let result = try #require(try MirrorProcessor(.vertical).process(SampleBuffer(pixelBuffer: quarters())))
    #expect(colors(try rendered(result, size: .init(width: 64, height: 32))) == "GBWR")
  }

  @Test func mirroringIsWhatIsSeenWhateverTheFrameSays() throws {
    for orientation in VideoOrientation.allCases {
      var sampleBuffer = SampleBuffer(pixelBuffer: try quarters())
      sampleBuffer.orientation = orientation
      let result = try #require(try MirrorProcessor(.horizontal).process(sampleBuffer))
      let size = orientation.applied(to: PictureSize(width: 64, height: 32))
      let plain = colors(try rendered(sampleBuffer, size: size)).map(String.init)
      #expect(colors(try rendered(result, size: size)) == [plain[1], plain[0], plain[3], plain[2]].joined())
    }
  }

  @Test func theNV12ProcessorFollowsTheStreamsSizeFromItsPool() throws {
    let pool = PixelBufferPool()
    let processor = PixelFormatProcessor(.nv12, pool: pool)
    for (format, width) in [(PixelFormat.i420, 64), (.yv12, 64), (.i420, 128), (.bgra, 128)] {
      let source = try TestFrame.sampleBuffer(TestFrame.testSource(format, width, 48))
      for _ in 0..<3 {
        let result = try #require(try processor.process(source))
        #expect(result.pixelBuffer.pixelFormat == .nv12)
        #expect(result.pixelBuffer.size == source.pixelBuffer.size)
      }
    }
    #expect(pool.statistics.taken == 12)
    #expect(pool.statistics.inUse == 0)
    let nv12 = try TestFrame.sampleBuffer(TestFrame.testSource(.nv12, 64, 48))
    #expect(try processor.process(nv12)?.pixelBuffer === nv12.pixelBuffer)
  }
}
