import PipSink
import PipSinkWindows

/// Runs two streams that take the picture-in-picture surface from each other.
@MainActor
struct SwitchRun {
  struct Result: Sendable {
    /// "offscreen", "x11" or "wayland".
    var surface: String
    /// The milliseconds from each request to the first picture.
    var latencies: [Double]
    var lost: UInt64
    var repeated: UInt64
  }

  private let source: StillSource
  private let session: PictureInPictureSession
  private var router: FrameRouter { session.router }

  private static let inAppSize = PictureSize(width: 640, height: 360)

  init(source: StillSource, isOffscreen: Bool) async throws {
    self.source = source
    let display: any SessionDisplay =
      isOffscreen
      ? try OffscreenDisplay(inAppSize: Self.inAppSize) : try WindowDisplay(size: Self.inAppSize)
    var configuration = PictureInPictureSession.Configuration()
    configuration.pictureInPictureStreamID = "b"
    // Streams must be decoded even while the windows are hidden.
    configuration.isBackgroundDecodingEnabled = true
    session = try PictureInPictureSession(
      .text("\(source.description) ! appsink name=a \(source.description) ! appsink name=b"), display: display,
      configuration: configuration)
  }

  func run(switches: Int) async throws -> Result {
    try await session.start()
    do {
      let result = try await measure(switches: switches)
      await session.stop()
      return result
    } catch {
      await session.stop()
      throw error
    }
  }

  private func measure(switches: Int) async throws -> Result {
    let count = Locked(0)
    let changes = router.presentedChanges()
    let counting = Task.detached {
      for await change in changes where change.to == .pictureInPicture { count.withLock { $0 += 1 } }
    }
    defer { counting.cancel() }
    try await waitForFrames()
    // The first start opens the window and does not count, so that all counted switches find the window open.
    try session.startPictureInPicture()
    defer { session.stopPictureInPicture() }
    try await wait(until: { count.withLock { $0 } == 1 })
    let before = router.changes.count
    for index in 0..<switches {
      // The pause is 20 ms and a part of the interval between frames, in steps that cover the whole interval.
      try await Task.sleep(for: .microseconds(20_000 + index * 7919 % (1_000_000 / source.rate)))
      let seen = count.withLock { $0 }
      try session.setPictureInPictureSource(session.engine.streamIDs[index % 2])
      try await wait(until: { count.withLock { $0 } > seen })
    }
    // The frame after the last switch shows whether that switch has lost any.
    try await Task.sleep(for: .microseconds(3_000_000 / source.rate))
    let moves = router.changes.dropFirst(before)
    let entries = moves.filter { $0.to == .pictureInPicture }
    return Result(
      surface: session.display.kind, latencies: entries.compactMap(\.firstFrameLatency).map { $0 / .milliseconds(1) },
      lost: moves.reduce(0) { $0 + $1.framesLost }, repeated: moves.reduce(0) { $0 + $1.framesRepeated })
  }

  private func waitForFrames() async throws {
    try await wait(until: { router.streamIDs.allSatisfy { router.latestSampleBuffer(of: $0) != nil } }, seconds: 30)
  }

  /// Returns when the condition is true, or after `seconds`.
  private func wait(until condition: () -> Bool, seconds: Double = 2) async throws {
    let deadline = MonotonicTime.now.advanced(by: .seconds(seconds))
    while !condition(), MonotonicTime.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
  }
}
