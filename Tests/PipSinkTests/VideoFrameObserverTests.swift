import CGStreamer
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Records the frames that it gets.
private final class RecordingObserver: VideoFrameObserver, RawVideoFrameObserver {
  struct Record: Sendable {
    let parameters: VideoFrameParameters
    let streamID: StreamID
    let pixelBuffer: PixelBuffer?
    /// The number of bytes in each plane of a raw frame.
    var planes: [Int] = []
    var error: PipSinkError?
  }

  private let state = Locked<[Record]>([])
  var records: [Record] { state.withLock { $0 } }

  func streamDidDeliver(_ pixelBuffer: PixelBuffer, parameters: VideoFrameParameters, streamID: StreamID) {
    state.withLock {
      $0.append(Record(parameters: parameters, streamID: streamID, pixelBuffer: pixelBuffer))
    }
  }

  func streamDidDeliver(_ rawFrame: borrowing RawVideoFrame, parameters: VideoFrameParameters, streamID: StreamID) {
    var record = Record(parameters: parameters, streamID: streamID, pixelBuffer: nil)
    do throws(PipSinkError) {
      for plane in 0..<rawFrame.planeCount {
        record.planes.append(try rawFrame.withPlane(plane) { bytes, _ in bytes.byteCount })
      }
      try rawFrame.withPlane(rawFrame.planeCount) { _, _ in }
    } catch {
      record.error = error
    }
    state.withLock { $0.append(record) }
  }
}

@Suite(.timeLimit(.minutes(5))) struct VideoFrameObserverTests {
  private func observe(
    _ pipeline: String, _ formatSeries: FrameFormatSeries = .any, isRaw: Bool = false
  ) async throws -> (records: [RecordingObserver.Record], observation: VideoFrameObservation) {
    let observer = RecordingObserver()
    let observation = VideoFrameObservation(
      of: "a", by: isRaw ? .rawData(observer) : .pixelBuffers(observer), formatSeries: formatSeries)
    let engine = try VideoEngine(.text("\(pipeline) ! appsink name=a sync=false"))
    _ = try await engine.runToEnd { _ in observation }
    return (observer.records, observation)
  }

  // MARK: Custom rendering

  @Test func customRenderingIsSwitchedWhileTheEngineStandsStill() async throws {
    let observer = RecordingObserver()
    let engine = try VideoEngine(.text("\(source) ! appsink name=a sync=false"))
    #expect(engine.setCustomVideoRender(.pixelBuffers(observer), formatSeries: .rgb) == .applied)
    #expect(engine.isCustomVideoRenderEnabled)
    let router = FrameRouter()
    _ = try await engine.runToEnd { router.input(for: $0) }
    #expect(observer.records.count == 3)
    #expect(observer.records.allSatisfy { $0.parameters.pixelFormat.isRGB && $0.streamID == "a" })
    #expect(router.statistics(of: "a")?.received == 3, "the surfaces get the frames as well")
    #expect(engine.setCustomVideoRender(nil) == .applied)
    _ = try await engine.runToEnd { router.input(for: $0) }
    #expect(observer.records.count == 3)
  }

  @Test func whileTheEngineRunsItIsRefusedByItsCodeAndDoneAfterTheStop() async throws {
    let observer = RecordingObserver()
    let router = FrameRouter()
    let engine = try VideoEngine("videotestsrc is-live=true ! video/x-raw,framerate=60/1 ! appsink name=a")
    let events = engine.events()
    let isRunning = { router.statistics(of: "a").map { $0.received > 3 } ?? false }
    try await engine.start { router.input(for: $0) }
    #expect(await eventually { isRunning() })
    // Custom rendering is requested twice at once and by several threads. The last request counts, and here all
    // requests are the same.
    await withTaskGroup(of: Int?.self) { group in
      for _ in 0..<4 {
        group.addTask { engine.setCustomVideoRender(.pixelBuffers(observer)).code }
      }
      for await code in group { #expect(code == 1_011_003) }
    }
    #expect(observer.records.isEmpty && !engine.isCustomVideoRenderEnabled)
    await engine.stop()
    #expect(engine.isCustomVideoRenderEnabled)
    for await event in events {
      if case .customVideoRenderChanged(let isEnabled) = event {
        #expect(isEnabled)
        break
      }
    }
    try await engine.start { router.input(for: $0) }
    #expect(await eventually { observer.records.count > 3 })
    // Custom rendering is switched on and off again while the engine runs. The result is off.
    #expect(engine.setCustomVideoRender(.pixelBuffers(observer)) == .afterStop)
    #expect(engine.setCustomVideoRender(nil) == .afterStop)
    await engine.stop()
    #expect(!engine.isCustomVideoRenderEnabled)
  }

  @Test func aStreamWithAPipelineOfItsOwnKeepsItAsItIsUntilTheLastHasStopped() async throws {
    let observer = RecordingObserver()
    let router = FrameRouter()
    let engine = try VideoEngine()
    let live = PipelineDescription("videotestsrc is-live=true ! video/x-raw,framerate=60/1 ! appsink name=a")
    for id in ["a", "b"] as [StreamID] {
      try engine.startPlayingStream(id, from: live) { router.input(for: $0) }
      #expect(await eventually { router.statistics(of: id).map { $0.received > 3 } ?? false })
    }
    #expect(engine.setCustomVideoRender(.pixelBuffers(observer)).code == 1_011_003)
    // A stream that starts in the meantime behaves like the streams that are already playing.
    try engine.startPlayingStream("c", from: live) { router.input(for: $0) }
    #expect(await eventually { router.statistics(of: "c").map { $0.received > 3 } ?? false })
    try await engine.stopPlayingStream("a")
    _ = try await engine.stopPlayingStream("b", within: nil)
    #expect(!engine.isCustomVideoRenderEnabled && observer.records.isEmpty)
    #expect(engine.setCustomVideoRender(.pixelBuffers(observer)) == .afterStop)
    await engine.stop()
    #expect(engine.isCustomVideoRenderEnabled)
    try engine.startPlayingStream("a", from: live) { router.input(for: $0) }
    #expect(await eventually { observer.records.count > 3 })
    #expect(observer.records.allSatisfy { $0.streamID == "a" })
    #expect(engine.setCustomVideoRender(nil) == .afterStop)
    await engine.stop(within: .seconds(5))
    #expect(engine.setCustomVideoRender(.pixelBuffers(observer)) == .applied)
  }

  @Test func aStartThatFailsLeavesItFreeToBeSwitched() async throws {
    let engine = try VideoEngine("filesrc location=/nonexistent ! decodebin ! appsink name=a")
    await #expect(throws: PipSinkError.self) { try await engine.start { _ in FrameRouter().input(for: "a") } }
    #expect(engine.setCustomVideoRender(.pixelBuffers(RecordingObserver())) == .applied)
    #expect(engine.isCustomVideoRenderEnabled)
  }

  private let source = "videotestsrc num-buffers=3 ! video/x-raw,format=I420,width=66,height=34,framerate=30/1"

  @Test func framesComeWithTheirParametersAndStreamID() async throws {
    let records = try await observe("\(source) ! taginject tags=image-orientation=rotate-90").records
    #expect(records.count == 3)
    let last = try #require(records.last)
    #expect(last.streamID == "a")
    #expect(last.pixelBuffer?.pixelFormat == .i420)
    #expect(last.parameters.pixelFormat == .i420)
    #expect(last.parameters.size == PictureSize(width: 66, height: 34))
    #expect(last.parameters.orientation == VideoOrientation(rotation: .quarter))
    #expect(last.parameters.strides == [68, 36, 36])
    #expect(last.parameters.timing.presentationTimeStamp == MediaTime(value: 66_666_666, timescale: 1_000_000_000))
  }

  @Test func rawDataAreTheBytesOfEveryPlane() async throws {
    let records = try await observe(source, isRaw: true).records
    #expect(records.map(\.planes) == Array(repeating: [68 * 33 + 66, 36 * 16 + 33, 36 * 16 + 33], count: 3))
    #expect(records.allSatisfy { $0.pixelBuffer == nil && $0.error == .frame(.noSuchPlane(index: 3, count: 3)) })
  }

  @Test(arguments: [FrameFormatSeries.rgb, .yuv])
  func theSeriesIsNegotiatedWhereUpstreamCanDeliverIt(series: FrameFormatSeries) async throws {
    let other = series == .rgb ? "I420" : "RGBA"
    let pipelines = [
      "videotestsrc num-buffers=2", "videotestsrc num-buffers=2 ! video/x-raw,format=\(other) ! videoconvert",
      "videotestsrc num-buffers=2 ! video/x-raw,format=\(other) ! videoconvert ! queue ! identity",
    ]
    for pipeline in pipelines {
      let (records, observation) = try await observe(pipeline, series)
      #expect(records.count == 2)
      #expect(records.allSatisfy { series.contains($0.parameters.pixelFormat) })
      #expect(observation.statistics == .init(delivered: 2, converted: 0, skipped: 0))
    }
  }

  @Test func oneFormatIsNegotiatedAsWell() async throws {
    let (records, observation) = try await observe(
      "videotestsrc num-buffers=2 ! video/x-raw,format=I420 ! videoconvert", .exactly(.nv12))
    #expect(records.map(\.parameters.pixelFormat) == [.nv12, .nv12])
    #expect(observation.statistics == .init(delivered: 2, converted: 0, skipped: 0))
  }

  @Test(arguments: [
    (FrameFormatSeries.rgb, "NV12", PixelFormat.bgra), (.yuv, "RGB", .i420), (.exactly(.nv12), "BGRA", .nv12),
    (.exactly(.rgba), "I420", .rgba),
  ])
  func whereUpstreamCannotDeliverTheSeriesFramesAreConverted(
    series: FrameFormatSeries, upstream: String, format: PixelFormat
  ) async throws {
    let (records, observation) = try await observe(
      "videotestsrc num-buffers=2 ! video/x-raw,format=\(upstream)", series)
    #expect(records.map(\.parameters.pixelFormat) == [format, format])
    #expect(observation.statistics == .init(delivered: 2, converted: 2, skipped: 0))
  }

  @Test func theAppsinksOwnCapsBoundTheChoice() async throws {
    let observer = RecordingObserver()
    let observation = VideoFrameObservation(of: "a", by: .pixelBuffers(observer), formatSeries: .rgb)
    let engine = try VideoEngine(
      "videotestsrc num-buffers=1 ! videoconvert ! appsink name=a sync=false caps=\"video/x-raw,format=(string){NV12,RGBx}\""
    )
    _ = try await engine.runToEnd { _ in observation }
    #expect(observer.records.map(\.parameters.pixelFormat) == [.rgbx])
  }

  @Test func aStreamBehindADecoderIsNegotiatedWhenItsPadAppears() async throws {
    let path = "/tmp/pipsink-test-\(UInt64.random(in: 0 ... .max)).avi"
    defer { unlink(path) }
    try TestFrame.run(
      "videotestsrc num-buffers=5 ! video/x-raw,format=I420,width=64,height=48,framerate=30/1 ! jpegenc ! avimux "
        + "! filesink location=\(path)")
    let (records, observation) = try await observe(
      "filesrc location=\(path) ! decodebin ! videoconvert", .rgb)
    #expect(records.count == 5)
    #expect(observation.statistics.converted == 0)
  }

  @Test func theNextConsumerGetsTheFramesAsTheyCame() async throws {
    let consumer = CountingConsumer()
    let observation = VideoFrameObservation(
      of: "a", by: .pixelBuffers(RecordingObserver()), formatSeries: .rgb, next: consumer)
    let frame = try TestFrame.sampleBuffer(TestFrame.testSource(.i420, 16, 16))
    observation.consume(frame)
    #expect(consumer.sampleBuffers.map { $0.pixelBuffer === frame.pixelBuffer } == [true])
  }

  // MARK: Memory that cannot be read

  @Test func framesInAGPUsMemoryAreCountedAndSkipped() async throws {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      """
      appsrc name=gpu caps=video/x-raw(memory:DMABuf),format=NV12,width=64,height=48,framerate=30/1 format=time
        ! appsink name=a sync=false
      videotestsrc num-buffers=4 ! video/x-raw,format=I420,width=64,height=48 ! appsink name=b sync=false
      """)
    let events = engine.events()
    let feeder = UnmappableFeeder(count: 4)
    try await engine.start { id in
      if id == "a" { return consumer }
      return feeder
    }
    try feeder.feed(engine)
    var skipped: [String] = []
    for await event in events {
      if case .framesSkipped("a", let caps) = event { skipped.append(caps) }
      if case .streamStateChanged(_, .failed(let error)) = event { Issue.record("\(error)") }
      if case .finished = event { break }
    }
    #expect(engine.info(of: "a")?.skippedFrameCount == 4)
    await engine.stop()
    #expect(consumer.sampleBuffers.isEmpty)
    #expect(feeder.received == 4)
    #expect(skipped.count == 1)
    #expect(skipped.first?.contains("memory:DMABuf") == true)
  }

  @Test func aGPUsMemoryIsOfferedOnlyWhereUpstreamHasNoOther() async throws {
    let consumer = CountingConsumer()
    let engine = try VideoEngine(
      "videotestsrc num-buffers=1 ! capsfilter caps=\"video/x-raw(memory:DMABuf),format=NV12;video/x-raw,format=NV12\" ! appsink name=a sync=false"
    )
    _ = try await engine.runToEnd { _ in consumer }
    #expect(consumer.sampleBuffers.first?.formatDescription.isInSystemMemory == true)
  }
}

/// Pushes frames that cannot be mapped into the appsrc "gpu", and counts the frames of another stream.
private final class UnmappableFeeder: SampleBufferConsumer {
  private let count: Int
  private let state = Locked(0)

  init(count: Int) {
    self.count = count
  }

  var received: Int { state.withLock { $0 } }

  func consume(_ sampleBuffer: SampleBuffer) {
    state.withLock { $0 += 1 }
  }

  func feed(_ engine: VideoEngine) throws {
    let frames = try UnmappableFrames()
    try engine.withUnsafeElement(named: "gpu") { element in
      let appsrc = UnsafeMutableRawPointer(element).assumingMemoryBound(to: GstAppSrc.self)
      for _ in 0..<count {
        gst_app_src_push_buffer(appsrc, try frames.makeBuffer(byteCount: 64 * 48 * 2))
      }
      gst_app_src_end_of_stream(appsrc)
    }
  }
}
