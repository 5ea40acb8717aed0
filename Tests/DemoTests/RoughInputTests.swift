import Foundation
import Testing

@testable import PipSink
@testable import pipsink_demo

/// Networks that lose packets, and files that are broken.
@Suite struct RoughInputTests {
  @Test func aStreamWithFivePercentPacketLossKeepsUp() async throws {
    let result = try await Demo.play([
      "videotestsrc is-live=true num-buffers=120 pattern=ball ! video/x-raw,format=I420,width=320,height=240,framerate=30/1 "
        + "! x264enc tune=zerolatency speed-preset=ultrafast key-int-max=15 ! rtph264pay mtu=400 "
        + "! netsim drop-probability=0.05 ! rtpjitterbuffer latency=100 ! rtph264depay ! h264parse ! avdec_h264 "
        + "! appsink name=lossy", "--surface", "offscreen", "--report", "-",
    ])
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .finished)
    #expect(report.streams["lossy"]?.state == "ended")
    // Most frames come; those that cannot be decoded are missing.
    #expect((report.streams["lossy"]?.received ?? 0) >= 60, "\(report.streams)")
  }

  /// A thousand bits of an encoded file are wrong, fifty at a time.
  @Test func brokenFilesEndWithAReport() async throws {
    let folder = try TemporaryFolder()
    let whole = folder.path("whole.mkv")
    try await Tool.makeVideo(whole, frames: 30)
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: whole)))
    var random = SplitMix(seed: 7)
    var delivered: UInt64 = 0
    for number in 0..<20 {
      var broken = bytes
      for _ in 0..<50 {
        broken[Int.random(in: 0..<broken.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
      }
      let path = folder.path("broken-\(number).mkv")
      try Data(broken).write(to: URL(fileURLWithPath: path))
      let result = try await Demo.start([
        "play", "filesrc location=\(path) ! decodebin ! videoconvert ! appsink name=a sync=false", "--surface",
        "offscreen", "--duration", "20", "--report", "-",
      ]).result(seconds: 60)
      #expect(!result.wasKilled, "\(number): \(result.errors)")
      // What is too broken to be a stream is said, and nothing else happens.
      #expect([0, 65, 74].contains(result.status), "\(number): \(result.status) \(result.errors)")
      let report = try result.report()
      #expect([.finished, .failed].contains(report.outcome), "\(number): \(report.outcome)")
      #expect(report.outcome == .finished || !report.errors.isEmpty)
      delivered += report.streams["a"]?.received ?? 0
    }
    #expect(delivered > 0)
  }
}

/// The same numbers for the same seed (SplitMix64).
private struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
