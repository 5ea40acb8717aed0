@testable import PipSink

/// Measures the sound that a PulseAudio server's sink plays.
final class Ear: Sendable {
  let engine: VideoEngine
  private let level = Locked(0.0)
  /// The amplitude of the loudest channel, from 0 to 1.
  var amplitude: Double { level.withLock { $0 } }

  init(_ server: PulseServer) async throws {
    engine = try VideoEngine(
      .text(
        "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name=ear "
          + "pulsesrc server=\(server.address) device=null.monitor ! audioconvert ! level interval=50000000 ! fakesink")
    )
    engine.status.broadcast.observe { [level] event in
      if case .audioLevel(_, let heard) = event { level.withLock { $0 = heard.linear } }
    }
    try await engine.start { _ in CountingConsumer(keepsFrames: false) }
  }
}
