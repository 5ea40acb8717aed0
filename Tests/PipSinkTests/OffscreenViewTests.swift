import Testing

@testable import PipSink
@testable import TestSupport

/// Pictures in memory: the local picture beside the remote one, and the sizes of pictures.
@Suite struct OffscreenViewTests {
  private func frame(_ pattern: String) throws -> SampleBuffer {
    try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 64, 36, pattern: pattern))
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  @Test(arguments: [PictureSize(width: 64, height: 36), PictureSize(width: 65, height: 33)])
  func theLocalPictureHasTheWholeWidthUnlessTheRemoteOneIsShown(size: PictureSize) throws {
    let split = try OffscreenTiles(size: size, count: 2)
    let layers = split.renderers.map {
      SampleBufferDisplayLayer(name: "split", renderer: $0, videoGravity: .resize)
    }
    layers[0].enqueue(try frame("white"))
    layers[1].enqueue(try frame("red"))
    let whiteThenRed = { (column: Int) -> Bool in
      let image = split.image()
      return image.size == size
        && (0..<size.width).allSatisfy { x in
          let pixel = image.pixel(x, size.height / 2)
          return x < column ? pixel[0] > 240 && pixel[1] > 240 : pixel[0] < 30 && pixel[2] > 200
        }
    }
    for showsRemote in [false, true, false, true, true] {
      let places = SplitLayout.rectangles(in: size, showsRemote: showsRemote)
      split.rectangles = [places.local, places.remote]
      for layer in layers { #expect(layer.waitUntilPresented(by: soon)) }
      #expect(whiteThenRed(showsRemote ? size.width / 2 : size.width), "the remote picture is shown: \(showsRemote)")
    }
    // A picture that is not visible is not rendered. This is the first frame of the remote picture, which came before
    // the remote picture was shown for the first time.
    #expect(layers[1].statistics.hidden == 1)
  }

  @Test func aRectangleWithoutPixelsShowsNothing() throws {
    let tiles = try OffscreenTiles(size: .init(width: 1, height: 5), count: 2)
    let places = SplitLayout.rectangles(in: tiles.size, showsRemote: true)
    tiles.rectangles = [places.local, places.remote]
    #expect(tiles.rectangles == [nil, PictureRect(x: 0, y: 0, width: 1, height: 5)])
    #expect(tiles.renderers.map(\.isVisible) == [false, true])
  }

  @Test func anOffscreenSurfaceTakesAnotherSizeAndAsksForItsPicture() throws {
    let renderer = try OffscreenRenderer(size: .init(width: 8, height: 8))
    let layer = SampleBufferDisplayLayer(name: "test", renderer: renderer, videoGravity: .resize)
    layer.enqueue(try frame("white"))
    #expect(layer.waitUntilPresented(by: soon))
    try renderer.resize(to: .init(width: 20, height: 10))
    #expect(layer.waitUntilPresented(by: soon))
    #expect(renderer.image()?.size == PictureSize(width: 20, height: 10))
    #expect(throws: PipSinkError.frame(.invalidSize(width: 0, height: 10))) {
      try renderer.resize(to: .init(width: 0, height: 10))
    }
    #expect(layer.bounds == PictureSize(width: 20, height: 10))
  }

  @Test func anOffscreenSurfaceAsksForItsPictureOnlyWhenSomethingHasChanged() throws {
    let renderer = try OffscreenRenderer(size: .init(width: 8, height: 8))
    let asked = Locked(0)
    renderer.setNeedsDisplayHandler { asked.withLock { $0 += 1 } }
    try renderer.render(try frame("white"), gravity: .resize)
    try renderer.resize(to: .init(width: 8, height: 8))
    #expect(renderer.hasImage && asked.withLock { $0 } == 0, "the surface already has this size")
    renderer.isVisible = true
    #expect(asked.withLock { $0 } == 0, "the surface is already visible")
    renderer.isVisible = false
    #expect(asked.withLock { $0 } == 0)
    renderer.isVisible = true
    #expect(asked.withLock { $0 } == 1)
    try renderer.resize(to: .init(width: 9, height: 8))
    #expect(!renderer.hasImage && asked.withLock { $0 } == 2)
    renderer.setNeedsDisplayHandler(nil)
    try renderer.resize(to: .init(width: 10, height: 8))
    #expect(asked.withLock { $0 } == 2)
  }
}
