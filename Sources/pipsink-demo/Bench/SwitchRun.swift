import PipSink
import PipSinkGTK

/// Two streams that take the picture-in-picture surface from each other.
@MainActor
struct SwitchRun {
  struct Result: Sendable {
    /// "offscreen", "x11" or "wayland".
    var surface: String
    /// Milliseconds from each request to the first picture.
    var latencies: [Double]
    var lost: UInt64
    var repeated: UInt64
  }

  private let source: StillSource
  private let surfaces: any Surfaces
  private let router = FrameRouter()
  private let controller: PictureInPictureController

  private static let inAppSize = PictureSize(width: 640, height: 360)
  private static let pictureInPictureSize = PictureSize(width: 320, height: 180)

  init(source: StillSource, isOffscreen: Bool) async throws {
    self.source = source
    surfaces =
      if isOffscreen {
        try OffscreenSurfaces(
          inAppSize: Self.inAppSize, pictureInPictureSize: Self.pictureInPictureSize, gravity: .resizeAspect,
          isSplit: false)
      } else {
        try WindowSurfaces(
          size: Self.inAppSize, layout: .grid, placement: nil, gravity: .resizeAspect, watchesBackground: false,
          help: "", wish: { _ in })
      }
    controller = PictureInPictureController(
      contentSource: ContentSource(router: router, streamID: "b"), window: surfaces.pictureInPictureWindow)
  }

  func run(switches: Int) async throws -> Result {
    let engine = try VideoEngine(.text("\(source.description) ! appsink name=a \(source.description) ! appsink name=b"))
    for id in engine.streamIDs { router.addStream(id, inApp: try surfaces.inAppLayer(for: id)) }
    (surfaces as? WindowSurfaces)?.show()
    try engine.start { router.consumer(for: $0) }
    defer { engine.stop() }
    let count = Locked(0)
    let changes = router.presentedChanges()
    let counting = Task.detached {
      for await change in changes where change.to == .pictureInPicture { count.withLock { $0 += 1 } }
    }
    defer { counting.cancel() }
    try await waitForFrames()
    // Opens the window, which the others find open; it counts for nothing.
    try controller.start()
    defer { controller.stop() }
    try await wait(until: { count.withLock { $0 } == 1 })
    let before = router.changes.count
    for index in 0..<switches {
      // 20 ms and up to one more interval between frames, in steps that meet all of it.
      try await Task.sleep(for: .microseconds(20_000 + index * 7919 % (1_000_000 / source.rate)))
      let seen = count.withLock { $0 }
      try controller.setSource(streamID: engine.streamIDs[index % 2])
      try await wait(until: { count.withLock { $0 } > seen })
    }
    // The frame after the last switch tells whether that one lost any.
    try await Task.sleep(for: .microseconds(3_000_000 / source.rate))
    let moves = router.changes.dropFirst(before)
    let entries = moves.filter { $0.to == .pictureInPicture }
    return Result(
      surface: surfaces.kind, latencies: entries.compactMap(\.firstFrameLatency).map { Double($0) / 1e6 },
      lost: moves.reduce(0) { $0 + $1.framesLost }, repeated: moves.reduce(0) { $0 + $1.framesRepeated })
  }

  private func waitForFrames() async throws {
    try await wait(until: { router.streamIDs.allSatisfy { router.latestSampleBuffer(of: $0) != nil } }, seconds: 30)
  }

  /// Returns when it is so, or will not be.
  private func wait(until condition: () -> Bool, seconds: Double = 2) async throws {
    let deadline = MonotonicTime.now.advanced(bySeconds: seconds)
    while !condition(), MonotonicTime.now < deadline { try await Task.sleep(for: .milliseconds(1)) }
  }
}
