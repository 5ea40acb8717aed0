import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests of what a run's report contains about streams that were stopped.
@Suite struct StoppedStreamsTests {
  private func stream(_ count: UInt64, state: String = "ended", _ change: (inout Report.Stream) -> Void = { _ in })
    throws -> Report.Stream
  {
    let router = FrameRouter()
    router.input(for: "x")
    let statistics = try #require(router.renderStatistics(of: "x"))
    var stream = Report.Stream(statistics, state: state, error: nil)
    for path: WritableKeyPath<Report.Stream, UInt64> in [
      \.received, \.inApp, \.pip, \.replaced, \.shown, \.late, \.hidden, \.refused,
    ] { stream[keyPath: path] = count }
    stream.dropped = nil
    change(&stream)
    return stream
  }

  @Test func aStreamThatIsStoppedAgainHasTheFramesOfAllItsRuns() throws {
    var stopped = StoppedStreams()
    let interval = Report.Interval(p50: 1, p99: 2)
    stopped.add(
      try stream(3) {
        $0.format = "first"
        $0.frameInterval = interval
        $0.frameRate = 30
        $0.latency = interval
        $0.dropped = 5
      }, of: "a")
    stopped.add(
      try stream(40, state: "failed") {
        $0.error = "why"
        $0.skipped = 7
      }, of: "a")
    let sum = try #require(stopped.streams["a"])
    #expect([sum.received, sum.inApp, sum.pip, sum.replaced, sum.shown] == [43, 43, 43, 43, 43])
    #expect([sum.late, sum.hidden, sum.refused] == [43, 43, 43])
    #expect(sum.dropped == 5 && sum.skipped == 7)
    // These values are the newest run's if it has any.
    #expect(sum.state == "failed" && sum.error == "why")
    #expect(sum.format == "first" && sum.frameRate == 30)
    #expect(sum.frameInterval?.p99 == 2 && sum.latency?.p50 == 1)
    stopped.add(
      try stream(500) {
        $0.format = "third"
        $0.frameInterval = Report.Interval(p50: 9, p99: 9)
        $0.frameRate = 60
        $0.latency = Report.Interval(p50: 8, p99: 8)
        $0.dropped = 1
      }, of: "a")
    let all = try #require(stopped.streams["a"])
    #expect(all.received == 543 && all.dropped == 6 && all.skipped == 7 && all.error == nil)
    #expect(all.format == "third" && all.frameRate == 60 && all.frameInterval?.p50 == 9 && all.latency?.p99 == 8)
  }

  @Test func theOrderIsThatOfTheirLastStops() throws {
    var stopped = StoppedStreams()
    for id: StreamID in ["a", "b", "c", "a"] { stopped.add(try stream(1), of: id) }
    #expect(stopped.streamIDs == ["b", "c", "a"])
  }

  @Test func ofVeryManyStreamsTheOldestBecomeASum() throws {
    var stopped = StoppedStreams()
    for number in 0..<256 {
      stopped.add(try stream(UInt64(number)), of: "\(number)")
      stopped.forgetOldest()
    }
    #expect(stopped.streamIDs.count == 256 && stopped.forgotten == nil)
    for number in 256..<260 {
      stopped.add(try stream(1000), of: "\(number)")
      stopped.forgetOldest()
    }
    #expect(stopped.streamIDs.count == 256 && stopped.streams.count == 256)
    #expect(stopped.streamIDs.first == "4" && stopped.streamIDs.last == "259")
    // The sums are those of the streams 0, 1, 2 and 3.
    #expect(stopped.forgotten == .init(count: 4, received: 6, shown: 6, late: 6))
  }

  @Test func theLastThousandMovesAreKept() throws {
    let move = { (number: Int) in
      SurfaceChange(
        streamID: "\(number)", from: .inApp, to: .pictureInPicture, requestedAt: MonotonicTime(nanoseconds: 1))
    }
    var stopped = StoppedStreams()
    stopped.add((0..<600).map(move))
    stopped.add((600..<1000).map(move))
    #expect(stopped.changes.count == 1000 && stopped.changes.first?.streamID == "0")
    stopped.add((1000..<1003).map(move))
    #expect(stopped.changes.count == 1000)
    #expect(stopped.changes.first?.streamID == "3" && stopped.changes.last?.streamID == "1002")
  }

  // MARK: - The report's own parts

  @Test func theMovesTimesAreSecondsFromTheStartAndMilliseconds() {
    var change = SurfaceChange(
      streamID: "a", from: .inApp, to: .pictureInPicture, requestedAt: MonotonicTime(nanoseconds: 3_500_000_000))
    let start = MonotonicTime(nanoseconds: 1_000_000_000)
    #expect(Report.ModeChange(change, start: start).firstFrameLatencyMs == nil)
    change.firstPresentedAt = MonotonicTime(nanoseconds: 3_512_000_000)
    (change.framesLost, change.framesRepeated) = (3, 4)
    let record = Report.ModeChange(change, start: start)
    #expect(record.stream == "a" && record.from == "inApp" && record.to == "pip")
    #expect(record.time == 2.5 && record.firstFrameLatencyMs == 12)
    #expect(record.framesLost == 3 && record.framesRepeated == 4)
  }

  @Test func everyEventHasItsNameAndWhatItSays() {
    let events: [(PictureInPictureEvent, String?, String?)] = [
      (.stateChanged(.active), nil, nil), (.willStart, "willStart", nil),
      (.didStart(latency: .microseconds(2500)), "didStart", "2.5 ms"), (.didStart(latency: nil), "didStart", nil),
      (
        .failedToStart(.pictureInPicture(.cancelled)), "failedToStart",
        PipSinkError.pictureInPicture(.cancelled).description
      ),
      (.willStop(.closed), "willStop", "closed"), (.didStop(.backToApp), "didStop", "backToApp"),
      (.restoreUserInterface, "restoreUserInterface", nil),
      (
        .restoreFailed(.pictureInPicture(.cancelled)), "restoreFailed",
        PipSinkError.pictureInPicture(.cancelled).description
      ),
      (.renderSizeChanged(.init(width: 3, height: 2)), "renderSizeChanged", "3x2"),
      (.sourceChanged(from: "a", to: "b"), "sourceChanged", "a to b"),
      (.suspendedChanged(true), "suspendedChanged", "true"), (.action(.mute), "action", "mute"),
    ]
    for (event, name, detail) in events {
      let record = Report.PictureInPictureEventRecord(event, of: "a", time: 7)
      #expect(record?.event == name && record?.detail == detail, "\(event)")
      #expect(record?.time == (name == nil ? nil : 7))
    }
  }

  @Test func framesThatCannotBeReadAreToldOnlyWhereThereAreAny() throws {
    let router = FrameRouter()
    let consumer = router.input(for: "a")
    consumer.consume(try PlainFrame.make([0, 0, 0]))
    var info = StreamInfo(id: "a", isLocal: false)
    let told = { try #require(router.renderStatistics(of: "a", info: info)) }
    #expect(try Report.Stream(told(), state: "playing", error: nil).skipped == nil)
    info.skippedFrameCount = 2
    info.lateFrameCount = 5
    let stream = Report.Stream(try told(), state: "playing", error: "e")
    #expect(stream.skipped == 2 && stream.late == 5 && stream.received == 1 && stream.inApp == 1)
    #expect(stream.format?.contains("32x18") == true && stream.frameInterval == nil && stream.error == "e")
  }
}
