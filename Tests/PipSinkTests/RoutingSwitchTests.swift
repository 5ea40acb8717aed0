import Testing

@testable import PipSink
@testable import TestSupport

/// What a switch does to the surfaces that it affects and in which order, and what is counted across switches, runs and
/// removals.
@Suite struct RoutingSwitchTests {
  /// The frames of the streams differ in their width, so that the events of a surface show to which stream they belong.
  private static let widths: [StreamID: Int] = ["a": 16, "b": 32, "c": 48]
  private let frames: [StreamID: PixelBuffer]

  init() throws {
    frames = try Self.widths.mapValues { try TestFrame.pixelBuffer(TestFrame.testSource(.i420, $0, 16)) }
  }

  private func frame(_ id: StreamID, _ sequence: UInt64) -> SampleBuffer {
    SampleBuffer(pixelBuffer: frames[id]!, sequenceNumber: sequence)
  }

  private func size(_ id: StreamID) -> PictureSize { PictureSize(width: Self.widths[id]!, height: 16) }

  /// Checks that no stream begins on a surface before the one that had it has left.
  private func expectOneOwnerAtATime(_ surface: RecordingDestination, _ comment: Comment) {
    var owner: PictureSize?
    for event in surface.events {
      switch event {
      case .begin(let size, _):
        #expect(owner == nil, comment)
        owner = size
      case .relinquish: owner = nil
      case .frame(let size, _): #expect(owner == size, comment)
      }
    }
  }

  // MARK: - The order of leaving and entering

  @Test(arguments: [["a", "b"], ["b", "a"]])
  func whoHadTheSurfaceLeavesItBeforeTheNextBeginsInWhicheverOrderTheyWereAdded(order: [StreamID]) throws {
    let pip = RecordingDestination()
    let router = FrameRouter(pictureInPicture: pip)
    for id in order { router.input(for: id).consume(frame(id, 1)) }
    try router.enterPictureInPicture("b")
    try router.enterPictureInPicture("a")
    #expect(
      pip.events == [
        .begin(size: size("b"), sequence: 1), .relinquish(removingImage: true), .begin(size: size("a"), sequence: 1),
      ])
  }

  @Test(arguments: [["a", "b", "c"], ["c", "b", "a"], ["b", "c", "a"]])
  func streamsThatChangePlacesInACircleLeaveBeforeTheyEnter(order: [StreamID]) throws {
    let surfaces = [RecordingDestination(), RecordingDestination(), RecordingDestination()]
    let router = FrameRouter(pictureInPicture: surfaces[0])
    let ids = [.primary] + surfaces.dropFirst().map { router.addPictureInPictureSurface($0) }
    let inApp = RecordingDestination()
    let consumers = Dictionary(uniqueKeysWithValues: order.map { ($0, router.addStream($0, inApp: inApp)) })
    for id in order { consumers[id]!.consume(frame(id, 1)) }
    let before: [StreamID] = ["a", "b", "c"]
    let after: [StreamID] = ["c", "a", "b"]
    var (first, second) = (RoutingTable(), RoutingTable())
    for (surface, id) in zip(ids, before) { first = first.showing(id, on: surface) }
    for (surface, id) in zip(ids, after) { second = second.showing(id, on: surface) }
    try router.switchTo(first)
    try router.switchTo(second)
    for id in order { consumers[id]!.consume(frame(id, 2)) }
    for (index, surface) in surfaces.enumerated() {
      expectOneOwnerAtATime(surface, "surface \(index)")
      #expect(surface.events.last == .frame(size: size(after[index]), sequence: 2))
      #expect(surface.sequences(of: size(before[index])).isEmpty)
    }
    for id in order { #expect(inApp.sequences(of: size(id)) == [1], "\(id) is in the app no longer") }
  }

  // MARK: - Mirroring

  @Test func mirroringOnAndOffOnOneSurfaceIsNoSwitch() throws {
    let (inApp, pip) = (RecordingDestination(), RecordingDestination())
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 1))
    try router.enterPictureInPicture("a", keepsShowingInApp: true)
    consumer.consume(frame("a", 2))
    try router.enterPictureInPicture("a", keepsShowingInApp: false)
    consumer.consume(frame("a", 3))
    #expect(router.changes.count == 1, "the stream entered picture-in-picture once")
    #expect(
      pip.events == [.begin(size: nil, sequence: nil)] + (1...3).map { .frame(size: size("a"), sequence: $0) },
      "the surface in picture-in-picture is not affected")
    #expect(
      inApp.events == [
        .relinquish(removingImage: false), .begin(size: size("a"), sequence: 1), .frame(size: size("a"), sequence: 2),
        .relinquish(removingImage: false),
      ])
  }

  @Test func aMirroredStreamThatGoesToAnotherSurfaceIsShownInTheAppThroughout() throws {
    let inApp = RecordingDestination()
    let surfaces = [RecordingDestination(), RecordingDestination()]
    let router = FrameRouter(pictureInPicture: surfaces[0])
    let second = router.addPictureInPictureSurface(surfaces[1])
    let consumer = router.addStream("a", inApp: inApp)
    try router.enterPictureInPicture("a", keepsShowingInApp: true)
    consumer.consume(frame("a", 1))
    let begun = inApp.events
    try router.enterPictureInPicture("a", on: second, keepsShowingInApp: true)
    consumer.consume(frame("a", 2))
    #expect(inApp.events == begun + [.frame(size: size("a"), sequence: 2)], "the surface in the app is not affected")
    #expect(surfaces[0].events.last == .relinquish(removingImage: true))
    #expect(surfaces[1].sequences(of: size("a")) == [2])
  }

  @Test func aStreamThatStopsBeingMirroredAsItChangesItsSurfaceLeavesTheApp() throws {
    let inApp = RecordingDestination()
    let surfaces = [RecordingDestination(), RecordingDestination()]
    let router = FrameRouter(pictureInPicture: surfaces[0])
    let second = router.addPictureInPictureSurface(surfaces[1])
    let consumer = router.addStream("a", inApp: inApp)
    try router.enterPictureInPicture("a", keepsShowingInApp: true)
    consumer.consume(frame("a", 1))
    try router.enterPictureInPicture("a", on: second, keepsShowingInApp: false)
    consumer.consume(frame("a", 2))
    #expect(inApp.events.last == .relinquish(removingImage: false))
    #expect(inApp.sequences(of: size("a")) == [1])
    try router.enterPictureInPicture("a", on: .primary, keepsShowingInApp: true)
    consumer.consume(frame("a", 3))
    #expect(inApp.sequences(of: size("a")) == [1, 3])
  }

  // MARK: - What is counted across runs and removals

  @Test func theFirstFrameOfANewRunIsNeitherLostNorRepeatedBySwitchesBeforeOrAfterItsBegin() throws {
    let router = FrameRouter(pictureInPicture: RecordingDestination())
    let consumer = router.input(for: "a")
    for sequence in 1...100 as ClosedRange<UInt64> { consumer.consume(frame("a", sequence)) }
    // The switch comes before the engine's next run.
    try router.enterPictureInPicture("a")
    router.input(for: "a")
    consumer.consume(frame("a", 1))
    consumer.consume(frame("a", 2))
    // The switch comes after the run has begun, and before its first frame.
    router.input(for: "a")
    router.leavePictureInPicture()
    consumer.consume(frame("a", 1))
    #expect(router.changes.map(\.framesLost) == [0, 0])
    #expect(router.changes.map(\.framesRepeated) == [0, 0])
    // Frames that a switch really loses are counted in the new run as well.
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 4))
    #expect(router.changes.map(\.framesLost) == [0, 0, 2])
  }

  @Test func aLateFrameOfARemovedStreamReachesNobodyIsNotCountedAndKeepsNoMemory() throws {
    let (inApp, pip) = (RecordingDestination(), RecordingDestination())
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.addStream("a", inApp: inApp)
    consumer.consume(frame("a", 1))
    try router.enterPictureInPicture("a")
    router.removeStream("a")
    let events = (inApp.events.count, pip.events.count)
    weak var late: PixelBuffer?
    do {
      let pixelBuffer = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 16, 16))
      late = pixelBuffer
      consumer.consume(SampleBuffer(pixelBuffer: pixelBuffer, sequenceNumber: 2))
    }
    #expect(late == nil, "nobody keeps the memory of the frame")
    #expect((inApp.events.count, pip.events.count) == events)
    #expect(router.statistics(of: "a") == nil)
    #expect(router.latestSampleBuffer(of: "a") == nil)
    // The ID may be used again while the old consumer still delivers frames.
    router.input(for: "a")
    consumer.consume(frame("a", 3))
    #expect(router.statistics(of: "a")?.received == 0)
    #expect(router.latestSampleBuffer(of: "a") == nil)
  }

  @Test func aRemovedStreamsLastFrameIsLetGo() throws {
    let router = FrameRouter()
    weak var last: PixelBuffer?
    let consumer = router.input(for: "a")
    do {
      let pixelBuffer = try TestFrame.pixelBuffer(TestFrame.testSource(.i420, 16, 16))
      last = pixelBuffer
      consumer.consume(SampleBuffer(pixelBuffer: pixelBuffer, sequenceNumber: 1))
    }
    #expect(last != nil, "this frame is the latest one of the stream")
    router.removeStream("a")
    #expect(last == nil)
  }

  @Test func aSurfaceThatComesAfterItsStreamWasSentThereCountsWhatItShows() throws {
    let renderer = TestRenderer()
    let layer = SampleBufferDisplayLayer(name: "pip", renderer: renderer)
    let router = FrameRouter()
    let consumer = router.input(for: "a")
    try router.enterPictureInPicture("a")
    #expect(router.addPictureInPictureSurface(layer) == .primary)
    for sequence in 1...3 as ClosedRange<UInt64> {
      consumer.consume(frame("a", sequence))
      #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    }
    #expect(renderer.shown == [1, 2, 3])
    #expect(router.renderStatistics(of: "a")?.shown == 3)
  }

  @Test func aSurfaceThatComesLateShowsTheLatestFrameWithoutCountingItAgain() throws {
    let pip = RecordingDestination()
    let router = FrameRouter()
    let consumer = router.input(for: "a")
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 1))
    _ = router.addPictureInPictureSurface(pip)
    #expect(pip.events == [.begin(size: size("a"), sequence: 1)])
    #expect(router.statistics(of: "a")?.received == 1)
    #expect(router.changes.count == 1)
  }

  @Test func anotherSurfaceIsUsedWhileTheFirstTableNamesAStreamThatIsStillToCome() throws {
    let table = RoutingTable(mode: .pictureInPicture, pictureInPictureStreamID: "late")
    let router = FrameRouter(table: table, pictureInPicture: RecordingDestination())
    let other = RecordingDestination()
    let surface = router.addPictureInPictureSurface(other)
    router.input(for: "a").consume(frame("a", 1))
    try router.enterPictureInPicture("a", on: surface)
    #expect(other.events == [.begin(size: size("a"), sequence: 1)])
    #expect(throws: PipSinkError.stream(.unknown("nobody", known: ["a"]))) {
      try router.enterPictureInPicture("nobody")
    }
    #expect(router.table.entries[.primary]?.streamID == "late")
  }

  @Test func aStreamThatEntersBeforeItsFirstFrameHasLostNothing() throws {
    let router = FrameRouter(pictureInPicture: RecordingDestination())
    let consumer = router.input(for: "a")
    try router.enterPictureInPicture("a")
    // A processor may have dropped the earlier frames.
    consumer.consume(frame("a", 5))
    #expect(router.changes.map(\.framesLost) == [0])
    #expect(router.changes.map(\.framesRepeated) == [0])
  }

  @Test func theTimeBetweenTwoRunsIsNoIntervalOfTheStream() throws {
    let router = FrameRouter()
    let consumer = router.input(for: "a")
    for sequence in 1...2 as ClosedRange<UInt64> { consumer.consume(frame("a", sequence)) }
    router.input(for: "a")
    for sequence in 1...2 as ClosedRange<UInt64> { consumer.consume(frame("a", sequence)) }
    #expect(router.statistics(of: "a")?.received == 4)
    #expect(router.statistics(of: "a")?.intervals.count == 2)
  }

  @Test func theLastThousandSwitchesOfAStreamAreKept() throws {
    let router = FrameRouter(pictureInPicture: RecordingDestination())
    router.input(for: "a")
    for number in 1...1005 {
      if number.isMultiple(of: 2) { router.leavePictureInPicture() } else { try router.enterPictureInPicture("a") }
    }
    #expect(router.changes.count == 1000)
    #expect(router.changes.last?.to == .pictureInPicture, "the newest switch is among those that are kept")
  }

  // MARK: - Another layer in the app

  @Test func aStreamsNewSurfaceInTheAppBeginsWithItsNewestFrameAndTheOldOneShowsNothing() throws {
    let (old, new) = (RecordingDestination(), RecordingDestination())
    let router = FrameRouter()
    let consumer = router.addStream("a", inApp: old)
    consumer.consume(frame("a", 1))
    router.setDestination(new, for: "a")
    router.setDestination(new, for: "a")
    consumer.consume(frame("a", 2))
    #expect(old.events.last == .relinquish(removingImage: true))
    #expect(new.events == [.begin(size: size("a"), sequence: 1), .frame(size: size("a"), sequence: 2)])
    router.setDestination(nil, for: "a")
    consumer.consume(frame("a", 3))
    #expect(new.events.last == .relinquish(removingImage: true))
    #expect(router.statistics(of: "a")?.received == 3, "frames without a surface are counted as well")
    #expect(router.changes.isEmpty, "the stream was in the app all the time")
  }

  @Test func aSurfaceInTheAppThatIsGivenDuringPictureInPictureShowsTheStreamWhenItComesBack() throws {
    let (inApp, pip) = (RecordingDestination(), RecordingDestination())
    let router = FrameRouter(pictureInPicture: pip)
    let consumer = router.input(for: "a")
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 1))
    router.setDestination(inApp, for: "a")
    consumer.consume(frame("a", 2))
    #expect(inApp.events.isEmpty)
    router.leavePictureInPicture()
    #expect(inApp.events == [.begin(size: size("a"), sequence: 2)])
    #expect(router.changes.map(\.framesLost) == [0, 0])
  }

  // MARK: - What stays, and what is taken away

  @Test func aMirroredStreamThatLeavesTakesItsPictureFromThePictureInPictureSurface() throws {
    let pip = RecordingDestination()
    let router = FrameRouter(pictureInPicture: pip)
    router.addStream("a", inApp: RecordingDestination()).consume(frame("a", 1))
    try router.enterPictureInPicture("a", keepsShowingInApp: true)
    router.leavePictureInPicture()
    #expect(pip.events.last == .relinquish(removingImage: true))
    #expect(router.table.pictureInPictureStreamID == "a", "the stream remains selected")
    #expect(router.table.mode == .normal)
  }

  // MARK: - Frames that wait while their stream moves

  @Test func aFrameThatWaitedAndHasNowhereToGoCountsAsReplaced() throws {
    let renderer = TestRenderer()
    let inApp = SampleBufferDisplayLayer(name: "in-app", renderer: renderer)
    let router = FrameRouter()
    let consumer = router.addStream("a", inApp: inApp)
    renderer.hold()
    consumer.consume(frame("a", 1))
    #expect(renderer.waitUntilRendering())
    consumer.consume(frame("a", 2))
    try router.enterPictureInPicture("a")
    #expect(router.statistics(of: "a")?.replaced == 1)
    renderer.release()
  }

  @Test func aFrameThatWaitedInALayerThatIsTakenAwayCountsAsReplaced() throws {
    let renderer = TestRenderer()
    let router = FrameRouter()
    // The app keeps the layer, because the end of a layer waits until its renderer has finished drawing.
    let inApp = SampleBufferDisplayLayer(name: "in-app", renderer: renderer)
    let consumer = router.addStream("a", inApp: inApp)
    renderer.hold()
    consumer.consume(frame("a", 1))
    #expect(renderer.waitUntilRendering())
    consumer.consume(frame("a", 2))
    router.setLayer(nil, for: "a")
    #expect(router.statistics(of: "a")?.replaced == 1)
    withExtendedLifetime(inApp) { renderer.release() }
  }

  @Test func aSurfaceThatIsAttachedTwiceGetsEachFrameOnceAndNoneAfterItWasDetached() {
    let surface = RecordingDestination()
    let router = FrameRouter()
    let consumer = router.input(for: "a")
    consumer.consume(frame("a", 1))
    for _ in 0..<2 { #expect(router.addDestination(surface, for: "a")) }
    consumer.consume(frame("a", 2))
    router.removeDestination(surface, for: "a")
    consumer.consume(frame("a", 3))
    #expect(
      surface.events == [
        .begin(size: size("a"), sequence: 1), .frame(size: size("a"), sequence: 2), .relinquish(removingImage: true),
      ])
  }

  @Test func theFirstPictureOfASwitchIsToldOfTheWayThereAndOfTheWayBack() async throws {
    let layers = ["in-app", "pip"].map { SampleBufferDisplayLayer(name: $0, renderer: TestRenderer()) }
    let router = FrameRouter(pictureInPicture: layers[1])
    let consumer = router.addStream("a", inApp: layers[0])
    consumer.consume(frame("a", 1))
    try router.enterPictureInPicture("a")
    consumer.consume(frame("a", 2))
    #expect(await eventually { router.changes.first?.firstPresentedAt != nil })
    router.leavePictureInPicture()
    consumer.consume(frame("a", 3))
    #expect(await eventually { router.changes.count == 2 && router.changes.last?.firstPresentedAt != nil })
  }

  /// - Parameter isFresh: whether the frame that moves along with its stream has not been shown yet.
  @Test(arguments: [true, false])
  func theFrameThatGoesAlongCountsAsReplacedOnlyWhereItHasNotBeenShownYet(isFresh: Bool) throws {
    let (appRenderer, pipRenderer) = (TestRenderer(), TestRenderer())
    let inApp = SampleBufferDisplayLayer(name: "in-app", renderer: appRenderer)
    let pip = SampleBufferDisplayLayer(name: "pip", renderer: pipRenderer)
    let router = FrameRouter(pictureInPicture: pip)
    let a = router.addStream("a", inApp: inApp)
    let b = router.input(for: "b")
    // Meanwhile, the surface to which the stream moves is busy with a frame of another stream.
    try router.enterPictureInPicture("b")
    pipRenderer.hold()
    b.consume(frame("b", 1))
    #expect(pipRenderer.waitUntilRendering())
    if isFresh {
      appRenderer.hold()
      a.consume(frame("a", 1))
      #expect(appRenderer.waitUntilRendering())
      a.consume(frame("a", 2))
    } else {
      a.consume(frame("a", 1))
      a.consume(frame("a", 2))
      #expect(inApp.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    }
    let before = try #require(router.statistics(of: "a")).replaced
    try router.enterPictureInPicture("a")
    a.consume(frame("a", 3))
    #expect(try #require(router.statistics(of: "a")).replaced - before == (isFresh ? 1 : 0))
    appRenderer.release()
    pipRenderer.release()
    #expect(pip.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(pipRenderer.shown.last == 3)
  }
}
