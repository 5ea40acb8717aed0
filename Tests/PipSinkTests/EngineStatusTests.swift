import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// What an engine knows about its streams from the reports that it gets, across restarts, failures and streams that
/// come back.
@Suite struct EngineStatusTests {
  private let status = EngineStatus()
  private let told = Locked<[String]>([])
  private let error = PipSinkError.stream(.stalled("a", after: .seconds(1)))

  init() {
    status.broadcast.observe { [told] event in
      told.withLock { told in
        switch event {
        case .streamStateChanged(let id, let state): told.append("\(id) \(state)")
        case .cameraStateChanged(let id, let state): told.append("\(id) camera \(state)")
        case .microphoneStateChanged(let id, let state): told.append("\(id) microphone \(state)")
        case .decodingSuspended(let id, let isSuspended): told.append("\(id) suspended \(isSuspended)")
        case .abandoned(let ids): told.append("abandoned \(ids)")
        case .finished: told.append("finished")
        case .stateChanged(let state): told.append("\(state)")
        default: told.append("other")
        }
      }
    }
  }

  /// Returns the events since the last call.
  private func takeTold() -> [String] {
    told.withLock { told in
      defer { told = [] }
      return told
    }
  }

  private func set(_ id: StreamID, _ states: StreamPlayState...) {
    for state in states { status.setStream(id, to: state) }
  }

  @Test func whatIsNotNewIsNotTold() {
    status.add(["a"])
    set("a", .requesting, .requesting, .playing, .playing)
    set("nobody", .playing)
    status.setEngine(.running)
    status.setEngine(.running)
    status.setDecodingSuspended(true, of: "a")
    status.setDecodingSuspended(true, of: "a")
    status.setDecodingSuspended(true, of: "nobody")
    #expect(takeTold() == ["a requesting", "a playing", "a camera on", "running", "a suspended true"])
    #expect(status.info(of: "nobody") == nil)
  }

  @Test func aStreamThatIsAddedTwiceKeepsWhatIsKnownOfIt() {
    status.add(["a"])
    set("a", .playing)
    status.add(["a", "b"])
    #expect(status.info(of: "a")?.state == .playing)
    #expect(status.info(of: "b")?.state == .stopped)
  }

  @Test func aCameraOfWhichNothingIsKnownDoesNotGoOff() {
    status.add(["a"])
    set("a", .requesting, .failed(error))
    #expect(takeTold() == ["a requesting", "a \(StreamPlayState.failed(error))", "finished"])
    #expect(status.info(of: "a")?.camera == .unknown)
    set("a", .requesting, .playing, .stalled)
    #expect(status.info(of: "a")?.camera == .off)
  }

  @Test func aStreamThatIsOverSaysNothingOfItsDevices() {
    for end in [StreamPlayState.ended, .failed(error), .stopped] {
      status.add(["a", "b"])
      set("a", .playing)
      status.observe(.microphone, of: "a", .on)
      set("b", .playing)
      status.say(.camera, of: "b", .off)
      _ = takeTold()
      set("a", end)
      set("b", end)
      #expect(
        takeTold().filter { $0.contains(" camera ") || $0.contains("microphone") } == [
          "a camera unknown", "a microphone unknown",
        ])
      #expect(status.info(of: "a")?.camera == .unknown && status.info(of: "a")?.microphone == .unknown)
      #expect(status.info(of: "b")?.camera == .off, "the app has set this state")
      for id: StreamID in ["a", "b"] { status.retire(id) }
    }
  }

  @Test func whatTheAppSaidOfADeviceIsForgottenWithTheStream() {
    status.add(["a", "b"])
    status.say(.camera, of: "a", .off)
    status.say(.microphone, of: "b", .off)
    set("a", .playing)
    #expect(status.info(of: "a")?.camera == .off)
    status.retire("a")
    status.add(["a"])
    set("a", .playing)
    #expect(status.info(of: "a")?.camera == .on)
    status.observe(.microphone, of: "b", .on)
    #expect(status.info(of: "b")?.microphone == .off, "the state that was set for another stream stays")
    status.say(.microphone, of: "b", .unknown)
    status.observe(.microphone, of: "b", .on)
    #expect(status.info(of: "b")?.microphone == .on)
  }

  @Test func aFailureIsKnownUntilFramesComeAndIsNoOlderStarts() {
    status.add(["a"])
    set("a", .requesting, .reconnecting(attempt: 1, pause: .seconds(1), after: error), .requesting)
    #expect(status.info(of: "a")?.failure == error, "the stream is being tried again")
    set("a", .requesting)
    #expect(status.info(of: "a")?.failure == error)
    set("a", .playing)
    #expect(status.info(of: "a")?.failure == nil)
    set("a", .failed(error))
    #expect(status.info(of: "a")?.failure == error)
    set("a", .stopped)
    #expect(status.info(of: "a")?.failure == error, "the failure is the reason for the stop")
    set("a", .requesting)
    #expect(status.info(of: "a")?.failure == nil, "a start by the app forgets the failure")
  }

  @Test func eachStartCountsItsFramesAnew() {
    status.add(["a"])
    set("a", .requesting, .playing)
    status.update("a") { ($0.skippedFrameCount, $0.lateFrameCount) = (3, 4) }
    set("a", .stalled, .playing)
    #expect(status.info(of: "a")?.skippedFrameCount == 3)
    set("a", .stopped)
    #expect(status.info(of: "a")?.lateFrameCount == 4)
    set("a", .requesting)
    #expect(status.info(of: "a").map { [$0.skippedFrameCount, $0.lateFrameCount] } == [0, 0])
  }

  /// A message has the total of its element.
  @Test func whatElementsDropBetweenTwoLooksIsAddedUp() throws {
    try TestFrame.withPipeline("identity name=a ! fakesink name=b") { pipeline in
      let thread = PipelineThread(of: pipeline, clock: .system)
      defer { thread.end() }
      func drop(_ total: guint64, in name: String) throws {
        let element = try #require(gst_bin_get_by_name(pipeline.asBin, name))
        defer { gst_object_unref(element) }
        let message = gst_message_new_qos(element.asObject, 0, 0, 0, 0, 0)
        gst_message_set_qos_stats(message, GST_FORMAT_BUFFERS, 10, total)
        gst_element_post_message(element, message)
      }
      func look() -> [UInt64] {
        var counts: [UInt64] = []
        thread.lateFrames.look { counts.append($1) }
        return counts.sorted()
      }
      for total in [2, 5, 6] as [guint64] { try drop(total, in: "a") }
      try drop(3, in: "b")
      #expect(look() == [3, 6])
      #expect(look() == [])
      try drop(8, in: "a")
      try drop(3, in: "b")
      #expect(look() == [2])
    }
  }

  @Test func finishedIsToldOncePerEndOfAll() {
    status.add(["a", "b"])
    set("a", .playing)
    set("b", .playing)
    set("a", .ended)
    #expect(!takeTold().contains("finished"))
    set("b", .failed(error))
    #expect(takeTold().filter { $0 == "finished" }.count == 1)
    set("a", .stopped)
    set("b", .stopped)
    #expect(!takeTold().contains("finished"), "a stop is not an end")
    set("a", .requesting, .playing, .ended)
    #expect(takeTold().last == "finished", "the next run reports its own end")
    status.finishWithoutStopped()
    #expect(takeTold().isEmpty)
  }

  @Test func whatWasStoppedIsNotWaitedForAndAloneIsNoEnd() {
    status.add(["a", "b"])
    set("a", .playing, .stopped)
    set("b", .playing, .stopped)
    status.finishWithoutStopped()
    #expect(!takeTold().contains("finished"))
    set("a", .playing)
    set("b", .playing, .ended)
    #expect(!takeTold().contains("finished"))
    status.retire("a")
    #expect(takeTold().suffix(2) == ["a stopped", "a camera unknown"])
    status.finishWithoutStopped()
    #expect(takeTold() == ["finished"])
    #expect(status.info(of: "a") == nil)
  }

  @Test func aStreamThatHasEndedIsRetiredWithoutAWord() {
    status.add(["a", "b"])
    set("a", .playing, .ended)
    _ = takeTold()
    status.retire("a")
    #expect(takeTold().isEmpty)
  }

  @Test func abandonedPipelinesCountForTheirStreams() {
    status.add(["a", "b", "c"])
    status.noteAbandoned(["a", "b"])
    status.noteAbandoned(["b"])
    #expect(["a", "b", "c"].map { status.info(of: $0)?.abandonedPipelineCount } == [1, 2, 0])
    #expect(status.state.withLock { $0.abandonedCount } == 2)
    #expect(takeTold() == ["abandoned [\"a\", \"b\"]", "abandoned [\"b\"]"])
  }
}
