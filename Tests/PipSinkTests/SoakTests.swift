import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// A call in which participants join and leave all the time. `make soak` runs it for five minutes and then also
/// compares times.
@Suite struct SoakTests {
  private static let environment = ProcessInfo.processInfo.environment["PIPSINK_SOAK_SECONDS"].flatMap(Double.init)
  private static let seconds = environment ?? 8

  /// Takes the frames of one stream, which have one width, and counts the frames of other streams separately.
  private final class Surface: SampleBufferDestination {
    private let state: Locked<(expected: Int?, count: Int, wrong: Int)>

    /// - Parameter width: the width of the stream's frames. It is nil for a picture-in-picture surface, which learns
    ///   from `begin` which stream it shows.
    init(width: Int?) {
      state = Locked((width, 0, 0))
    }

    var count: Int { state.withLock { $0.count } }
    var wrong: Int { state.withLock { $0.wrong } }

    func enqueue(_ sampleBuffer: SampleBuffer) -> Bool {
      let width = sampleBuffer.pixelBuffer.size.width
      state.withLock { state in
        state.count += 1
        if state.expected != width { state.wrong += 1 }
      }
      return false
    }

    func begin(with latest: SampleBuffer?, isFresh: Bool, presented: (@Sendable (MonotonicTime) -> Void)?) {
      guard let latest else { return }
      state.withLock { $0.expected = latest.pixelBuffer.size.width }
    }

    func relinquish(removingImage: Bool) -> SampleBuffer? { nil }
  }

  /// Measures the times between the frames of a stream.
  private final class Intervals: SampleBufferConsumer {
    private let next: any SampleBufferConsumer
    private let state = Locked((histogram: IntervalHistogram(), last: MonotonicTime?.none))

    init(next: any SampleBufferConsumer) {
      self.next = next
    }

    func consume(_ sampleBuffer: SampleBuffer) {
      let now = MonotonicTime.now
      state.withLock { state in
        if let last = state.last { state.histogram.record(nanoseconds: now.nanoseconds(since: last)) }
        state.last = now
      }
      next.consume(sampleBuffer)
    }

    /// Returns the intervals so far and starts a new measurement.
    func take() -> IntervalHistogram {
      state.withLock { state in
        defer { state.histogram = IntervalHistogram() }
        return state.histogram
      }
    }
  }

  /// A possible participant of the call. The pictures of each stream have a different width.
  private struct Guest {
    let id: StreamID
    let width: Int
    let surface: Surface

    init(_ number: Int) {
      id = "guest-\(number)"
      width = 32 + 2 * number
      surface = Surface(width: width)
    }

    /// Some streams are decoded, and some fail again and again.
    var description: PipelineDescription {
      let number = (width - 32) / 2
      let source = "videotestsrc is-live=true ! video/x-raw,format=I420,width=\(width),height=32,framerate=30/1"
      let middle =
        switch number % 5 {
        case 0: "! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=15 ! avdec_h264 "
        case 1: "! identity error-after=20 "
        default: ""
        }
      return .text("\(source) \(middle)! appsink name=x")
    }
  }

  @Test func streamsThatComeAndGoAtRandomTouchNobodyElse() async throws {
    let pip = Surface(width: nil)
    let router = FrameRouter(pictureInPicture: pip)
    let untouched = (0..<2).map { Surface(width: 16 + 4 * $0) }
    let engine = try VideoEngine(
      .text(
        (0..<2).map {
          "videotestsrc is-live=true ! video/x-raw,format=I420,width=\(16 + 4 * $0),height=16,framerate=60/1"
            + " ! appsink name=host-\($0)"
        }.joined(separator: " ")))
    let intervals = (0..<2).map { Intervals(next: router.addStream("host-\($0)", inApp: untouched[$0])) }
    try await engine.start { $0 == "host-0" ? intervals[0] : intervals[1] }
    #expect(await eventually { untouched.allSatisfy { $0.count > 30 } })
    for interval in intervals { _ = interval.take() }
    try await Task.sleep(for: .seconds(Self.seconds / 4))
    let alone = intervals.map { $0.take() }

    let guests = (0..<50).map(Guest.init)
    // GLib keeps some threads and some memory after its first use.
    try await play(guests, seconds: Self.seconds / 2, seed: 1, in: engine, router)
    let before = ProcessCounts()
    for interval in intervals { _ = interval.take() }
    let moves = try await play(guests, seconds: Self.seconds / 2, seed: 2, in: engine, router)
    let together = intervals.map { $0.take() }
    #expect(await eventually { ProcessCounts().threads <= before.threads })
    let after = ProcessCounts()
    #expect(after.files <= before.files)
    let slack = before.slack(residentBytes: 48 * 1024 * 1024)
    #expect(after.bytes < before.bytes + slack, "\(before) became \(after)")

    #expect(moves > 20)
    #expect(guests.map(\.surface.wrong) == guests.map { _ in 0 })
    #expect(untouched.map(\.wrong) == [0, 0] && pip.wrong == 0)
    #expect(pip.count > 0 && guests.filter { $0.surface.count > 0 }.count > 10)
    #expect(engine.streams.map(\.state) == [.playing, .playing], "no other stream is left")
    await engine.stop()

    let p99 = zip(alone, together).map { alone, together in
      [alone, together].map { ($0.value(atPercentile: 99) ?? .zero) / .milliseconds(1) }
    }
    print("soak: \(moves) joins and leaves, \(before), \(after); frame intervals p99 alone and together, ms: \(p99)")
    if Self.environment != nil { #expect(p99.allSatisfy { $0[1] <= 2 * $0[0] }, "\(p99)") }
  }

  /// Lets guests join, leave, enter picture-in-picture and become invisible for some time. At the end, all of them
  /// leave.
  ///
  /// - Returns: the number of times that a guest joined or left.
  @discardableResult
  private func play(
    _ guests: [Guest], seconds: Double, seed: UInt64, in engine: VideoEngine, _ router: FrameRouter
  ) async throws -> Int {
    var random = SeededGenerator(seed: seed)
    var configuration = PipelineConfiguration()
    configuration.retryPolicy = RetryPolicy(
      limit: .max, firstPause: .seconds(0.1), longestPause: .seconds(1), jitter: 0.25)
    var present: Set<StreamID> = []
    var moves = 0
    let deadline = MonotonicTime.now.advanced(by: .seconds(seconds))
    while MonotonicTime.now < deadline {
      let guest = guests[Int.random(in: guests.indices, using: &random)]
      switch Int.random(in: 0..<10, using: &random) {
      case 0: router.leavePictureInPicture()
      case 1: engine.visibleStreamIDs = [guest.id, "host-0", "host-1"]
      case 2: engine.visibleStreamIDs = nil
      case 3 where router.latestSampleBuffer(of: guest.id) != nil: try router.enterPictureInPicture(guest.id)
      default:
        moves += 1
        if present.remove(guest.id) == nil {
          present.insert(guest.id)
          router.addStream(guest.id, inApp: guest.surface)
          try engine.startPlayingStream(guest.id, from: guest.description, configuration: configuration) {
            router.input(for: $0)
          }
        } else {
          try await engine.stopPlayingStream(guest.id)
          router.removeStream(guest.id)
        }
      }
      try await Task.sleep(for: .milliseconds(20))
    }
    engine.visibleStreamIDs = nil
    router.leavePictureInPicture()
    for id in present {
      try await engine.stopPlayingStream(id)
      router.removeStream(id)
    }
    return moves
  }
}
