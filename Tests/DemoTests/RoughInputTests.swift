import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests of networks that lose packets, and of broken files.
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
    // Most frames arrive. Frames that cannot be decoded are missing.
    #expect((report.streams["lossy"]?.received ?? 0) >= 60, "\(report.streams)")
  }

  /// Flips a thousand random bits in copies of an encoded file, fifty in each copy.
  @Test func brokenFilesEndWithAReport() async throws {
    let folder = try TemporaryFolder()
    let whole = folder.path("whole.mkv")
    try await Tool.makeVideo(whole, frames: 30)
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: whole)))
    let random = g_rand_new_with_seed(7)
    defer { g_rand_free(random) }
    var delivered: UInt64 = 0
    for number in 0..<20 {
      var broken = bytes
      for _ in 0..<50 {
        let place = Int(g_rand_int_range(random, 0, gint32(broken.count)))
        broken[place] ^= 1 << UInt8(g_rand_int_range(random, 0, 8))
      }
      let path = folder.path("broken-\(number).mkv")
      try Data(broken).write(to: URL(fileURLWithPath: path))
      let result = try await Demo.start([
        "play", "filesrc location=\(path) ! decodebin ! videoconvert ! appsink name=a sync=false", "--surface",
        "offscreen", "--duration", "10", "--report", "-",
      ]).result(seconds: 60)
      #expect(!result.wasKilled, "\(number): \(result.errors)")
      // If a file is too broken to be a stream, the run reports that and ends.
      #expect([0, 65, 69, 74].contains(result.status), "\(number): \(result.status) \(result.errors)")
      // A flipped bit in the codec's name may give a codec for which there is no decoder.
      if result.status == 69 { #expect(result.errors.contains("missing element"), "\(number): \(result.errors)") }
      let report = try result.report()
      // GStreamer's decodebin rarely loses the error of an element that it is just linking. No frame arrives then, and
      // the run reports that at its end.
      if report.outcome != .finished, report.errors.isEmpty {
        #expect(report.outcome == .duration, "\(number)")
        #expect(result.errors.contains("delivered no frame"), "\(number): \(result.errors)")
      }
      delivered += report.streams["a"]?.received ?? 0
    }
    #expect(delivered > 0)
  }
}
