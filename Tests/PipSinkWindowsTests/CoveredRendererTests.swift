import Testing

@testable import PipSink
@testable import PipSinkWindows
@testable import TestSupport

/// Tests of texts that cover the pictures in windows of other programs.
struct CoveredRendererTests {
  private let base: OffscreenRenderer
  private let renderer: CoveredRenderer
  private let layer: SampleBufferDisplayLayer

  init() throws {
    base = try OffscreenRenderer(size: PictureSize(width: 320, height: 180))
    renderer = CoveredRenderer(base) { _ in 1 }
    layer = SampleBufferDisplayLayer(name: "a", renderer: renderer)
  }

  /// Whether all four corners have this colour, which is given as blue, green and red.
  private func shows(_ color: [UInt8]) async throws -> Bool {
    await eventually {
      guard let image = base.image(), image.size == base.size else { return false }
      let (right, bottom) = (image.size.width - 1, image.size.height - 1)
      return [(0, 0), (right, 0), (0, bottom), (right, bottom)].allSatisfy { x, y in
        zip(image.pixel(x, y), color).allSatisfy { abs(Int($0) - Int($1)) <= 2 }
      }
    }
  }

  private let red: [UInt8] = [0, 0, 255]
  private let gray: [UInt8] = [28, 28, 28]

  @Test func aSurfaceOfSomebodyElsesShowsATextInsteadOfThePicture() async throws {
    layer.enqueue(try PlainFrame.make(red))
    #expect(try await shows(red))
    renderer.text = "Camera is off"
    #expect(try await shows(gray))
    let text = try #require(base.image())
    #expect(text.bytes.contains { $0 > 200 }, "the text has a light colour")
    // Frames that arrive while the text is shown do not change the image.
    layer.enqueue(try PlainFrame.make(red))
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(base.image()?.bytes == text.bytes)
    renderer.text = nil
    #expect(try await shows(red))
  }

  @Test func itIsShownWithoutAFrameAndFollowsTheSurfacesSize() async throws {
    renderer.text = "In picture-in-picture"
    #expect(try await shows(gray))
    layer.enqueue(try PlainFrame.make(red))
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    layer.flushAndRemoveImage()
    #expect(try await shows(gray))
    try base.resize(to: PictureSize(width: 200, height: 300))
    #expect(try await shows(gray))
    renderer.text = "Camera is off"
    #expect(try await shows(gray))
  }
}
