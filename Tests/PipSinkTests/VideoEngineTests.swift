import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

@Suite(.timeLimit(.minutes(5))) struct VideoEngineTests {
  private func stream(_ id: StreamID, frames: Int = 10, caps: String = "format=I420,width=32,height=32") -> String {
    "videotestsrc num-buffers=\(frames) ! video/x-raw,\(caps) ! appsink name=\(id) sync=false"
  }

  // MARK: Streams

  @Test func everyAppsinkIsAStreamAndEveryFrameArrivesInOrder() async throws {
    let engine = try VideoEngine(.text("\(stream("one")) \(stream("two", frames: 20))"))
    #expect(engine.streamIDs == ["one", "two"])
    let consumers: [StreamID: CountingConsumer] = ["one": CountingConsumer(), "two": CountingConsumer()]
    let events = try await engine.runToEnd { consumers[$0]! }
    #expect(consumers["one"]!.sampleBuffers.map(\.sequenceNumber) == Array(1...10))
    #expect(consumers["two"]!.sampleBuffers.map(\.sequenceNumber) == Array(1...20))
    #expect(Set(events.endedStreams) == ["one", "two"])
    #expect(engine.state == .stopped)
  }

  @Test func aRunThatIsRefusedForWantOfFilesLeavesNoneOpen() async {
    await #expect(processExitsWith: .success) {
      // The first engine also opens what stays open, and what libraries open for a moment.
      _ = try VideoEngine("videotestsrc ! appsink name=a")
      let count = { ResourceUsage.current.openFileCount }
      let before = count()
      var limit = rlimit()
      getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
      let old = limit.rlim_cur
      for room in [1, 8, 12] {
        // The limit is for the numbers of files, which have gaps.
        let files = (0..<room).map { _ in open("/dev/null", O_RDONLY) }
        let highest = try #require(files.max())
        for file in files { close(file) }
        limit.rlim_cur = rlim_t(highest + 1)
        try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
        for _ in 0..<3 {
          let error = #expect(throws: PipSinkError.self) { try VideoEngine("videotestsrc ! appsink name=a") }
          guard case .system(.resourceExhausted(.files, _, Int(highest) + 1)) = error else {
            Issue.record("\(String(describing: error))")
            continue
          }
        }
        #expect(await eventually { count() == before })
      }
      limit.rlim_cur = old
      try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      _ = try VideoEngine("videotestsrc ! appsink name=a")
    }
  }

  @Test func framesCarryTheTimesOfTheirBuffers() async throws {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(.text(stream("a", frames: 3, caps: "framerate=25/1,width=32,height=32")))
    _ = try await engine.runToEnd { _ in consumer }
    let times = consumer.sampleBuffers.map(\.timing.presentationTimeStamp)
    #expect(times == [0, 40, 80].map { MediaTime(value: $0, timescale: 1000) })
    #expect(consumer.sampleBuffers.allSatisfy { $0.timing.duration == MediaTime(value: 40, timescale: 1000) })
  }

  @Test func argumentsAreTakenAsGstLaunchTakesThem() throws {
    let engine = try VideoEngine(
      .arguments(["videotestsrc", "num-buffers=1", "!", "video/x-raw, width=64", "!", "appsink", "name=a"]))
    #expect(engine.streamIDs == ["a"])
  }

  @Test func capsMayChangeInMidStream() async throws {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      """
      concat name=c ! appsink name=a sync=false
      videotestsrc num-buffers=5 pattern=white ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 ! c.
      videotestsrc num-buffers=5 pattern=white ! video/x-raw,format=NV12,width=641,height=361,framerate=30/1 ! c.
      videotestsrc num-buffers=5 pattern=white ! video/x-raw,format=RGB,width=1,height=1,framerate=30/1 ! c.
      """)
    let events = try await engine.runToEnd { _ in consumer }
    let formats = events.compactMap { event in
      if case .formatChanged("a", let format) = event { "\(format.pixelFormat.rawValue) \(format.size)" } else { nil }
    }
    #expect(formats == ["I420 320x240", "NV12 641x361", "RGB 1x1"])
    #expect(consumer.sampleBuffers.count == 15)
    #expect(Set(consumer.sampleBuffers.map { ObjectIdentifier($0.formatDescription) }).count == 3)
    let renderer = try OffscreenRenderer(size: .init(width: 40, height: 30))
    for sampleBuffer in consumer.sampleBuffers {
      try renderer.render(sampleBuffer, gravity: .resize)
      // When a picture is enlarged, bilinear filtering makes 252 of 255.
      let pixel = renderer.image()!.pixel(20, 15)
      #expect(pixel.allSatisfy { $0 >= 250 }, "\(pixel) of \(sampleBuffer.formatDescription)")
    }
  }

  @Test func elementsNeedNotCopyFramesToCropOrToUnpadThem() async throws {
    // videocrop sends the whole frame with a crop meta, but only to a sink that reads such metas.
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      """
      videotestsrc num-buffers=2 pattern=smpte100 ! video/x-raw,format=I420,width=640,height=360
        ! videocrop left=560 bottom=260 ! appsink name=a sync=false
      """)
    _ = try await engine.runToEnd { _ in consumer }
    let sampleBuffer = try #require(consumer.sampleBuffers.first)
    #expect(gst_buffer_get_size(sampleBuffer.pixelBuffer.buffer) >= 640 * 360 * 3 / 2)
    #expect(sampleBuffer.pixelBuffer.size == PictureSize(width: 80, height: 100))
    let image = try rendered(sampleBuffer, size: sampleBuffer.pixelBuffer.size)
    for point in [(0, 0), (79, 99)] {
      let pixel = image.pixel(point.0, point.1)
      #expect(pixel[0] > 240 && pixel[1] < 15 && pixel[2] < 15, "the pixel should be blue and is \(pixel)")
    }
  }

  @Test func theEndOfOneStreamDoesNotEndTheOthers() async throws {
    let engine = try VideoEngine(.text("\(stream("short", frames: 1)) \(stream("long", frames: 500))"))
    let hasEnded = Locked(false)
    let long = WaitingConsumer(until: hasEnded)
    let watcher = Task { [events = engine.events()] in
      for await case .streamStateChanged("short", .ended) in events {
        hasEnded.withLock { $0 = true }
        hasEnded.wakeAll()
      }
    }
    let events = try await engine.runToEnd { $0 == "long" ? long as any SampleBufferConsumer : CountingConsumer() }
    watcher.cancel()
    #expect(events.endedStreams == ["short", "long"])
    #expect(long.count == 500)
  }

  // MARK: Start and stop

  @Test func theEngineCanBeStartedAgain() async throws {
    let engine = try VideoEngine(.text(stream("a")))
    for _ in 0..<5 {
      let consumer = CountingConsumer()
      _ = try await engine.runToEnd { _ in consumer }
      #expect(consumer.sampleBuffers.map(\.sequenceNumber) == Array(1...10))
    }
  }

  @Test func startingTwiceIsRefused() async throws {
    let engine = try VideoEngine(.text(stream("a", frames: -1)))
    try await engine.start { _ in CountingConsumer() }
    await #expect(throws: PipSinkError.pipeline(.alreadyRunning)) { try await engine.start { _ in CountingConsumer() } }
    await engine.stop()
    await engine.stop()
  }

  @Test func noFrameArrivesAfterStop() async throws {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(.text(stream("a", frames: -1)))
    try await engine.start { _ in consumer }
    #expect(await eventually { consumer.sampleBuffers.count > 3 })
    await engine.stop()
    let count = consumer.sampleBuffers.count
    #expect(engine.state == .stopped)
    #expect(consumer.sampleBuffers.count == count)
  }

  @Test func statesArriveInOrder() async throws {
    let engine = try VideoEngine(.text(stream("a", frames: 50).replacing("sync=false", with: "")))
    let states = try await engine.runToEnd { _ in CountingConsumer() }.compactMap { event in
      if case .stateChanged(let state) = event { state } else { nil }
    }
    #expect(states == [.starting, .running])
  }

  @Test func anEngineThatIsDroppedStopsItsPipeline() async throws {
    let consumer = CountingConsumer()
    weak var weakEngine: VideoEngine?
    do {
      let engine = try VideoEngine(.text(stream("a", frames: -1)))
      weakEngine = engine
      try await engine.start { _ in consumer }
      #expect(await eventually { consumer.sampleBuffers.count > 3 })
    }
    #expect(await eventually { weakEngine == nil })
  }

  // MARK: Bad pipelines

  @Test(arguments: ["", "   ", "\n"])
  func anEmptyPipelineIsATypedError(text: String) {
    #expect(throws: PipSinkError.pipeline(.empty)) { try VideoEngine(.text(text)) }
  }

  @Test func aMissingElementIsNamed() {
    #expect(throws: PipSinkError.pipeline(.missingElements(["nosuchelement"]))) {
      try VideoEngine("videotestsrc ! nosuchelement ! appsink name=a")
    }
    #expect(throws: PipSinkError.pipeline(.missingElements(["nosuchelement", "another"]))) {
      try VideoEngine("nosuchelement ! nosuchelement ! another ! nosuchelement ! appsink name=a")
    }
  }

  @Test func aPropertyThatDoesNotExistIsNamed() {
    expectError("videotestsrc nosuchproperty=1 ! appsink name=a") {
      if case .pipeline(.invalid(let reason)) = $0 { reason.contains("nosuchproperty") } else { false }
    }
  }

  @Test(arguments: ["videotestsrc ! (", "! appsink name=a", "videotestsrc ! ! appsink name=a"])
  func brokenSyntaxIsATypedError(text: String) {
    expectError(text) { if case .pipeline(.invalid) = $0 { true } else { false } }
  }

  @Test func capsThatCannotBeLinkedAreNamed() {
    expectError("videotestsrc ! audio/x-raw ! appsink name=a") {
      if case .pipeline(.linkFailed(let reason)) = $0 { reason.contains("audio/x-raw") } else { false }
    }
  }

  @Test func aPipelineWithoutAppsinkIsATypedError() {
    #expect(throws: PipSinkError.pipeline(.noStreams)) { try VideoEngine("videotestsrc ! fakesink") }
  }

  @Test func anUnnamedAppsinkAmongSeveralIsATypedError() {
    expectError("videotestsrc ! appsink videotestsrc ! appsink name=a") {
      if case .pipeline(.unnamedStream(let element)) = $0 { element.hasPrefix("appsink") } else { false }
    }
  }

  @Test func anAppsinkThatIsAloneNeedsNoName() async throws {
    let source = "videotestsrc num-buffers=2 ! appsink sync=false"
    let engine = try VideoEngine(.text(source))
    #expect(engine.streamIDs == ["stream"])
    let frames = CountingConsumer()
    try engine.startPlayingStream("asked", from: .text(source)) { _ in frames }
    #expect(await eventually { engine.playState(of: "asked") == .ended })
    #expect(frames.sampleBuffers.count == 2)
    // A sink that has its name from the description keeps this name.
    #expect(try VideoEngine("videotestsrc ! appsink name=appsink7").streamIDs == ["appsink7"])
  }

  @Test(arguments: [
    "videotestsrc ! appsink name=a videotestsrc ! appsink name=a", "appsink name=a appsink name=a",
    "( videotestsrc ! appsink name=a ) ( videotestsrc ! appsink name=a )",
  ])
  func aNameThatIsUsedTwiceIsATypedError(text: String) {
    #expect(throws: PipSinkError.stream(.duplicate("a"))) { try VideoEngine(.text(text)) }
  }

  @Test(arguments: [
    "appsink name=a", "videoconvert ! appsink name=a", "videotestsrc ! fakesink queue ! appsink name=a",
  ])
  func anAppsinkThatNothingFeedsIsATypedError(text: String) {
    #expect(throws: PipSinkError.pipeline(.unlinkedStream("a"))) { try VideoEngine(.text(text)) }
  }

  @Test(arguments: [
    "audiotestsrc ! appsink name=a", "videotestsrc ! x264enc ! appsink name=a",
    "videotestsrc ! appsink name=a caps=video/x-raw,format=NV12_64Z32",
  ])
  func capsThatAreNoVideoOfOursAreATypedError(text: String) {
    expectError(text) { if case .stream(.unsupportedCaps("a", _)) = $0 { true } else { false } }
  }

  private func expectError(
    _ text: String, location: SourceLocation = #_sourceLocation, matches: (PipSinkError) -> Bool
  ) {
    do throws(PipSinkError) {
      _ = try VideoEngine(.text(text))
      Issue.record("no error was thrown", sourceLocation: location)
    } catch {
      #expect(matches(error), "\(error)", sourceLocation: location)
    }
  }

  // MARK: Failures while running

  @Test func aFileThatIsMissingIsNamedByTheElementThatMissesIt() async throws {
    let engine = try VideoEngine("filesrc name=file location=/nowhere/a.mkv ! decodebin ! appsink name=a")
    do throws(PipSinkError) {
      try await engine.start { _ in CountingConsumer() }
      Issue.record("no error was thrown")
    } catch {
      guard case .pipeline(.elementFailed("file", _, let detail?, .notFound)) = error else { throw error }
      #expect(detail.contains("/nowhere/a.mkv"))
    }
    #expect(engine.state == .stopped)
  }

  @Test(arguments: [
    "filesrc location=/nowhere/a.mkv ! decodebin ! videoconvert ! appsink name=bad",
    "filesrc location=/etc/passwd ! decodebin ! videoconvert ! appsink name=bad",
    "audiotestsrc num-buffers=10 ! decodebin ! videoconvert ! appsink name=bad",
    "videotestsrc ! identity error-after=3 ! appsink name=bad sync=false",
  ])
  func aStreamThatFailsLeavesTheOthersAlone(bad: String) async throws {
    for description in ["\(bad) \(stream("good", frames: 100))", "\(stream("good", frames: 100)) \(bad)"] {
      let good = CountingConsumer()
      let engine = try VideoEngine(.text(description))
      let events = try await engine.runToEnd { $0 == "good" ? good : CountingConsumer() }
      #expect(good.sampleBuffers.count == 100)
      #expect(events.failedStreams == ["bad"])
      #expect(events.endedStreams == ["good"])
    }
  }

  @Test func anElementThatNoStreamDependsOnFailsNoStream() async throws {
    let engine = try VideoEngine(
      .text("\(stream("a", frames: -1)) videotestsrc ! identity error-after=3 name=other ! fakesink"))
    let events = engine.events()
    try await engine.start { _ in CountingConsumer() }
    for await event in events {
      if case .warning("other", _, _) = event { break }
      if case .streamStateChanged(_, .failed) = event {
        Issue.record("stream a does not depend on this element")
        break
      }
    }
    #expect(engine.state != .stopped)
    await engine.stop()
  }

  @Test func aConsumerThatStopsTheEngineFromElsewhereDoesNotHang() async throws {
    let engine = try VideoEngine(.text((0..<8).map { stream("s\($0)", frames: -1) }.joined(separator: " ")))
    for _ in 0..<10 {
      let consumer = CountingConsumer()
      try await engine.start { _ in consumer }
      #expect(await eventually { !consumer.sampleBuffers.isEmpty })
      await withTaskGroup(of: Void.self) { group in
        for _ in 0..<3 { group.addTask { await engine.stop() } }
      }
      #expect(engine.state == .stopped)
    }
  }
}

/// Blocks on its first frame until a condition holds.
private final class WaitingConsumer: SampleBufferConsumer {
  private let condition: Locked<Bool>
  private let frames = Locked(0)

  init(until condition: Locked<Bool>) {
    self.condition = condition
  }

  var count: Int { frames.withLock { $0 } }

  func consume(_ sampleBuffer: SampleBuffer) {
    // The pipeline plays only when each stream has shown its first frame.
    if count > 0 { _ = condition.wait(until: .now.advanced(by: .seconds(60))) { $0 ? true : nil } }
    frames.withLock { $0 += 1 }
  }
}
