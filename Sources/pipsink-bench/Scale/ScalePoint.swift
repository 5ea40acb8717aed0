import PipSink
import PipSinkCommandLine

/// One combination that `scale` measures: a number of streams of one source.
struct ScalePoint {
  /// What was counted during the measurement.
  struct Load {
    var frames: Double
    /// The number of frames that were shown before the next one came.
    var shown: Double
    /// The number of frames that the sources should have sent at their rate.
    var wanted: Double
    var seconds: Double
    var cpuSeconds: Double
  }

  static let cost = "processor time a frame, µs"
  static let shown = "frames shown / wanted"
  static let busy = "processors busy"

  let streams: Int
  let source: StillSource

  var name: String { "\(source.size) at \(source.rate) frames/s: \(streams)" }

  private static let surface = PictureSize(width: 320, height: 180)

  func measure(seconds: Double) async throws -> Load {
    let pipeline = (0..<streams).map { "\(source.description) ! appsink name=s\($0)" }.joined(separator: " ")
    let engine = try VideoEngine(.text(pipeline))
    let router = FrameRouter()
    let layers = try engine.streamIDs.map { id in
      let layer = SampleBufferDisplayLayer(name: id.rawValue, renderer: try OffscreenRenderer(size: Self.surface))
      router.setLayer(layer, for: id)
      return layer
    }
    // A pipeline that fails must end.
    engine.configuration.retryPolicy = nil
    try await engine.start { router.input(for: $0) }
    try await waitForFrames(of: router)
    let (frames, shown, start) = (frames(of: router), Self.shown(by: layers), FramePathStart())
    try await Task.sleep(for: .seconds(seconds))
    let report = start.report()
    let count = Double(self.frames(of: router) - frames)
    guard count > 0 else { throw CommandError(.failed, "\(name): no frame came within \(seconds) s") }
    return Load(
      frames: count, shown: Double(Self.shown(by: layers) - shown),
      wanted: Double(streams * source.rate) * report.seconds, seconds: report.seconds,
      cpuSeconds: report.cpuSeconds)
  }

  /// Waits until every stream has delivered its first frames.
  private func waitForFrames(of router: FrameRouter) async throws {
    let deadline = MonotonicTime.now.advanced(by: .seconds(60))
    while router.streamIDs.contains(where: { (router.statistics(of: $0)?.received ?? 0) < 3 }) {
      guard MonotonicTime.now < deadline else { throw CommandError(.failed, "\(name): the streams do not start") }
      try await Task.sleep(for: .milliseconds(10))
    }
  }

  private static func shown(by layers: [SampleBufferDisplayLayer]) -> UInt64 {
    layers.reduce(0) { $0 + $1.statistics.presented }
  }

  private func frames(of router: FrameRouter) -> UInt64 {
    router.streamIDs.reduce(0) { $0 + (router.statistics(of: $1)?.received ?? 0) }
  }
}
