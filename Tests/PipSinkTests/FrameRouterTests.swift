import Testing

@testable import PipSink
@testable import TestSupport

@Suite(.timeLimit(.minutes(5))) struct FrameRouterTests {
  /// A frame of each stream. Frames of stream "a" are 16 pixels wide, and frames of stream "b" are 32 pixels wide.
  let frames: [StreamID: PixelBuffer]
  let sizes: [StreamID: PictureSize] = ["a": .init(width: 16, height: 16), "b": .init(width: 32, height: 16)]

  init() throws {
    frames = [
      "a": try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 16, 16)),
      "b": try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 32, 16)),
    ]
  }

  private func frame(_ id: StreamID, _ sequence: UInt64) -> SampleBuffer {
    SampleBuffer(pixelBuffer: frames[id]!, sequenceNumber: sequence)
  }

  @Test func pipFramesGoToThePipSurfaceOnlyWhileModeAndIDMatch() {
    for mode in [RoutingMode.normal, .pictureInPicture] {
      for chosen in [nil, "a", "b"] as [StreamID?] {
        let table = RoutingTable(mode: mode, pictureInPictureStreamID: chosen)
        let isPip = mode == .pictureInPicture && chosen == "a"
        #expect(table.surface(for: "a") == (isPip ? .pictureInPicture : .inApp))
      }
    }
  }

  @Test func aFrameGoesToExactlyOneSurface() throws {
    let inApp = RecordingDestination()
    let pip = RecordingDestination()
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    consumer.consume(frame("a", 1))
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 2))
    router.leavePictureInPicture()
    consumer.consume(frame("a", 3))
    let size = sizes["a"]!
    #expect(inApp.sequences(of: size) == [1, 3])
    #expect(pip.sequences(of: size) == [2])
    let statistics = try #require(router.statistics(of: "a"))
    #expect(statistics.received == 3)
    #expect(statistics.inApp == 2)
    #expect(statistics.pictureInPicture == 1)
  }

  /// Upstream may have two buffers only, as some cameras and decoders do.
  @Test func aLayerThatItsStreamHasLeftKeepsThePictureAndNotTheBuffer() async throws {
    let renderer = try OffscreenRenderer(size: .init(width: 8, height: 8))
    let layer = SampleBufferDisplayLayer(name: "in app", renderer: renderer, videoGravity: .resize)
    let pictureInPicture = SampleBufferDisplayLayer(name: "pip")
    let router = FrameRouter(pictureInPicture: pictureInPicture)
    let consumer = router.addStream("a", inApp: layer)
    weak var buffer: PixelBuffer?
    func showRed() throws {
      let red = try PlainFrame.make([0, 0, 255])
      buffer = red.pixelBuffer
      consumer.consume(red)
    }
    try showRed()
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    try router.enterPictureInPicture("a")
    consumer.consume(try PlainFrame.make([255, 0, 0]))
    #expect(await eventually { buffer == nil })
    renderer.removeImage()
    layer.redraw()
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    let pixel = try #require(renderer.image()?.pixel(4, 4))
    #expect(pixel[0] < 5 && pixel[1] < 5 && pixel[2] > 250)
  }

  @Test func aRemovedStreamLeavesItsSurfacesAndMayComeBack() throws {
    let (inApp, pip) = (RecordingDestination(), RecordingDestination())
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 1))
    router.removeStream("a")
    router.removeStream("a")
    #expect(pip.events.contains(.relinquish(removingImage: true)))
    #expect(router.streamIDs.isEmpty && router.table.mode == .normal)
    let count = (inApp.events.count, pip.events.count)
    consumer.consume(frame("a", 2))
    #expect((inApp.events.count, pip.events.count) == count)
    router.addStream("a", inApp: inApp).consume(frame("a", 1))
    #expect(router.statistics(of: "a")?.received == 1)
  }

  @Test func theNewSurfaceShowsTheLatestFrameAtOnce() throws {
    let inApp = RecordingDestination()
    let pip = RecordingDestination()
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    consumer.consume(frame("a", 7))
    try router.enterPictureInPicture("a")
    #expect(pip.events == [.begin(size: sizes["a"], sequence: 7)])
    router.leavePictureInPicture()
    #expect(pip.events.last == .relinquish(removingImage: true))
    #expect(inApp.events.last == .begin(size: sizes["a"], sequence: 7))
    #expect(inApp.events.contains(.relinquish(removingImage: false)), "the in-app surface keeps its last picture")
  }

  @Test func anotherStreamTakesThePipSurfaceOver() throws {
    let pip = RecordingDestination()
    let inAppA = RecordingDestination()
    let router = FrameRouter(
      table: .init(mode: .pictureInPicture, pictureInPictureStreamID: "a"), pictureInPicture: pip)
    let a = router.addStream("a", inApp: inAppA)
    let b = router.input(for: "b")
    a.consume(frame("a", 1))
    b.consume(frame("b", 1))
    try router.enterPictureInPicture("b")
    a.consume(frame("a", 2))
    b.consume(frame("b", 2))
    #expect(pip.sequences(of: sizes["a"]!) == [1])
    #expect(pip.sequences(of: sizes["b"]!) == [2])
    #expect(inAppA.sequences(of: sizes["a"]!) == [2])
    #expect(router.changes.map(\.streamID) == ["a", "b"])
  }

  @Test func aDestinationThatWaitsForAStreamIsForgottenWithIt() throws {
    let router = FrameRouter(destination: nil)
    let destination = RecordingDestination()
    #expect(!router.addDestination(destination, for: "a"))
    router.removeStream("a")
    #expect(router.addedDestinations(for: "a").isEmpty)
    router.addStream("a", inApp: nil).consume(frame("a", 1))
    #expect(destination.events.isEmpty)
  }

  @Test(arguments: 0..<3) func theLargestSurfaceOfAStreamIsTheOneWithTheMostPixels(place: Int) throws {
    let router = FrameRouter(destination: nil)
    var sizes = [(100, 4), (4, 100)]
    sizes.insert((40, 40), at: place)
    let layers = try sizes.map { width, height in
      SampleBufferDisplayLayer(
        name: "test", renderer: try OffscreenRenderer(size: PictureSize(width: width, height: height)))
    }
    for layer in layers.dropFirst() { router.attach(layer, toStream: "a") }
    router.setLayer(layers[0], for: "a")
    #expect(router.surfaceSize(of: "a") == PictureSize(width: 40, height: 40))
    if place == 0 { router.setLayer(nil, for: "a") } else { router.removeDestination(layers[place], for: "a") }
    #expect(router.surfaceSize(of: "a").map { $0.width * $0.height } == 400)
  }

  @Test func aStreamThatIsRemovedLeavesItsSurfacesAndComesBackAsANewOne() throws {
    let (inApp, pip) = (RecordingDestination(), RecordingDestination())
    let router = FrameRouter(pictureInPicture: pip)
    let old = router.addStream("a", inApp: inApp)
    old.consume(frame("a", 1))
    try router.enterPictureInPicture("a")
    router.removeStream("a")
    router.removeStream("nobody")
    #expect(pip.events.last == .relinquish(removingImage: true))
    #expect(inApp.events.last == .relinquish(removingImage: true))
    #expect(router.streamIDs.isEmpty && router.table == RoutingTable())
    old.consume(frame("a", 2))
    #expect(inApp.sequences(of: sizes["a"]!) == [1] && pip.sequences(of: sizes["a"]!).isEmpty)
    router.input(for: "b")
    try router.enterPictureInPicture("b")
    router.addStream("a", inApp: inApp).consume(frame("a", 3))
    #expect(inApp.sequences(of: sizes["a"]!) == [1, 3])
    #expect(router.statistics(of: "a")?.received == 1)
  }

  @Test func severalPictureInPictureSurfacesShowAStreamEach() throws {
    let surfaces = [RecordingDestination(), RecordingDestination()]
    let router = FrameRouter(pictureInPicture: surfaces[0])
    let second = router.addPictureInPictureSurface(surfaces[1])
    let (a, b) = (router.input(for: "a"), router.input(for: "b"))
    try router.enterPictureInPicture("a")
    try router.enterPictureInPicture("b", on: second)
    a.consume(frame("a", 1))
    b.consume(frame("b", 1))
    // The two streams swap their surfaces, and no surface ever shows both.
    try router.switchTo(
      router.table.clearing().clearing(second).showing("b").showing("a", on: second))
    a.consume(frame("a", 2))
    b.consume(frame("b", 2))
    #expect(surfaces[0].sequences(of: sizes["a"]!) == [1])
    #expect(surfaces[0].sequences(of: sizes["b"]!) == [2])
    #expect(surfaces[1].sequences(of: sizes["b"]!) == [1])
    #expect(surfaces[1].sequences(of: sizes["a"]!) == [2])
    // A stream that moves to another surface leaves its previous one.
    try router.enterPictureInPicture("b", on: second)
    #expect(router.table.entries == RoutingTable().showing("b", on: second).entries)
    router.removePictureInPictureSurface(second)
    #expect(router.table.entries.isEmpty)
  }

  @Test func aMirroredStreamIsShownInBothPlaces() throws {
    let (inApp, pip) = (RecordingDestination(), RecordingDestination())
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    consumer.consume(frame("a", 1))
    try router.enterPictureInPicture("a", keepsShowingInApp: true)
    consumer.consume(frame("a", 2))
    router.leavePictureInPicture()
    consumer.consume(frame("a", 3))
    #expect(inApp.sequences(of: sizes["a"]!) == [1, 2, 3])
    #expect(pip.sequences(of: sizes["a"]!) == [2])
    let statistics = try #require(router.statistics(of: "a"))
    #expect(statistics.received == 3)
    #expect(router.changes.map(\.framesLost) == [0, 0])
  }

  @Test func aSwitchIsAnnouncedWhenItsFirstPictureIsShown() async throws {
    let layer = SampleBufferDisplayLayer(name: "pip", renderer: TestRenderer())
    let router = FrameRouter(pictureInPicture: layer)
    router.input(for: "a").consume(frame("a", 1))
    let changes = router.presentedChanges()
    try router.enterPictureInPicture("a")
    for await change in changes {
      #expect(change.streamID == "a" && change.to == .pictureInPicture)
      #expect(change.firstFrameLatency != nil)
      break
    }
  }

  @Test func aStreamWithoutAFrameYetLeavesNobodyElsesPictureThere() throws {
    let pip = RecordingDestination()
    let router = FrameRouter(
      table: .init(mode: .pictureInPicture, pictureInPictureStreamID: "a"), pictureInPicture: pip)
    router.input(for: "a").consume(frame("a", 1))
    router.input(for: "b")
    try router.enterPictureInPicture("b")
    #expect(pip.events.last == .begin(size: nil, sequence: nil))
  }

  @Test func aStreamThatDoesNotExistIsRefusedAndNothingChanges() {
    let router = FrameRouter()
    router.input(for: "a")
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a"]))) { try router.enterPictureInPicture("c") }
    #expect(router.table == RoutingTable())
    #expect(router.changes.isEmpty)
  }

  @Test func asMuchAsIsLostOrRepeatedIsCounted() throws {
    let router = FrameRouter()
    let consumer = router.input(for: "a")
    consumer.consume(frame("a", 1))
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 4))
    router.leavePictureInPicture()
    consumer.consume(frame("a", 4))
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 5))
    #expect(router.changes.map(\.framesLost) == [2, 0, 0])
    #expect(router.changes.map(\.framesRepeated) == [0, 1, 0])
  }

  @Test func aFrameThatWaitedForTheOldSurfaceIsShownOnTheNewOne() throws {
    let renderer = TestRenderer()
    let pipRenderer = TestRenderer()
    let inApp = SampleBufferDisplayLayer(name: "in-app", renderer: renderer)
    let pip = SampleBufferDisplayLayer(name: "pip", renderer: pipRenderer)
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    renderer.hold()
    consumer.consume(frame("a", 1))
    #expect(renderer.waitUntilRendering())
    consumer.consume(frame("a", 2))
    try router.enterPictureInPicture("a")
    #expect(pip.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    renderer.release()
    #expect(inApp.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(renderer.shown == [1])
    #expect(pipRenderer.shown == [2])
    #expect(router.statistics(of: "a")?.replaced == 0)
    #expect(router.changes.first?.firstFrameLatency != nil)
  }

  @Test(arguments: [1, 2, 3] as [UInt64])
  func switchesAtRandomMomentsUnderLoadLoseAndRepeatNothing(seed: UInt64) async throws {
    let frameCount: UInt64 = 3000
    let ids: [StreamID] = ["a", "b", "c", "d"]
    let widths = [64, 66, 68, 70]
    let description = zip(ids, widths).map { id, width in
      "videotestsrc num-buffers=\(frameCount) pattern=black ! video/x-raw,format=I420,width=\(width),height=64 "
        + "! appsink name=\(id) sync=false"
    }
    let pip = RecordingDestination()
    let router = FrameRouter(pictureInPicture: pip)
    let inApp = Dictionary(uniqueKeysWithValues: ids.map { ($0, RecordingDestination()) })
    for id in ids { router.addStream(id, inApp: inApp[id]) }
    let engine = try VideoEngine(.text(description.joined(separator: " ")))

    async let events = engine.runToEnd { router.input(for: $0) }
    var random = SeededGenerator(seed: seed)
    var moments = (0..<10).map { _ in UInt64.random(in: 1..<frameCount, using: &random) }.sorted()
    while let moment = moments.first {
      moments.removeFirst()
      #expect(await eventually { router.statistics(of: "a")!.received >= moment })
      if Bool.random(using: &random) {
        try router.enterPictureInPicture(ids.randomElement(using: &random)!)
      } else {
        router.leavePictureInPicture()
      }
    }
    _ = try await events

    for (id, width) in zip(ids, widths) {
      let size = PictureSize(width: width, height: 64)
      let shownInApp = inApp[id]!.sequences(of: size)
      let shownInPip = pip.sequences(of: size)
      #expect((shownInApp + shownInPip).sorted() == Array(1...frameCount), "each frame of \(id) is shown once")
      let statistics = try #require(router.statistics(of: id))
      #expect(statistics.received == frameCount)
      #expect(statistics.inApp == UInt64(shownInApp.count))
      #expect(statistics.pictureInPicture == UInt64(shownInPip.count))
      #expect(inApp.filter { $0.key != id }.allSatisfy { $0.value.sequences(of: size).isEmpty })
    }
    // From one begin to the next, the surface shows only one stream.
    var owner: PictureSize?
    for event in pip.events {
      switch event {
      case .begin(let size, _): owner = size
      case .relinquish: owner = nil
      case .frame(let size, _):
        if let owner { #expect(owner == size) }
        owner = size
      }
    }
    #expect(router.changes.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }
}
