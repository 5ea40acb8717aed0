import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests of what a run reports about its streams at its end.
@Suite struct OutcomeTests {
  private static func film(_ frames: Int, _ id: String = "x") -> String {
    "videotestsrc is-live=true num-buffers=\(frames) ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name=\(id)"
  }

  private static let nobodyListens = "uridecodebin uri=http://127.0.0.1:1/a.mkv ! videoconvert ! appsink name=x"

  @Test func aStreamThatOnlyReconnectsIsAFailure() async throws {
    let result = try await Demo.play([
      Self.film(-1, "good"), "--stream", "far=\(Self.nobodyListens)", "--at", "0=start:far", "--duration", "2",
      "--surface", "none", "--report", "-",
    ])
    #expect(result.status == 74, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .failed)
    let far = try #require(report.streams["far"])
    #expect(["reconnecting", "requesting"].contains(far.state) && far.received == 0)
    #expect(far.error?.isEmpty == false)
    #expect(report.errors.count == 1, "\(report.errors)")
    #expect(report.streams["good"]?.state == "playing")
    #expect(result.errors.contains("stream \"far\" never delivered a frame"), "\(result.errors)")
  }

  @Test func aStreamThatIsAwayAtTheEndIsNotPlaying() async throws {
    let result = try await Demo.play([
      Self.film(-1, "good"), "--stream", "c=videotestsrc ! identity error-after=3 ! appsink name=x sync=false", "--at",
      "0=start:c", "--duration", "3", "--surface", "none", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let stream = try #require(try result.report().streams["c"])
    // The stream plays for a moment between its waits of some seconds.
    if stream.state != "playing" {
      #expect(["reconnecting", "requesting"].contains(stream.state))
      #expect(stream.error?.contains("identity") == true)
    }
    #expect(stream.received > 0)
  }

  @Test func aPipelineThatFailsIsStartedAgainAsOftenAsTheOptionSays() async throws {
    let result = try await Demo.play([
      "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! identity error-after=4 "
        + "! appsink name=a sync=false", "--retries", "2", "--mode", "pip", "--surface", "offscreen", "--report", "-",
    ])
    #expect(result.status == 74, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .failed && report.errors.count == 1, "\(report.errors)")
    let stream = try #require(report.streams["a"])
    #expect(stream.state == "failed" && stream.error?.contains("identity") == true)
    #expect((7...9).contains(stream.received), "there were three runs of at most three frames: \(stream.received)")
    #expect(result.errors.contains("try 1 in") && result.errors.contains("try 2 in"), "\(result.errors)")
    #expect(!result.errors.contains("try 3 in"), "\(result.errors)")
  }

  @Test func aRunSwitchesProcessorsAndCustomRenderingAndSeeks() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("film.mkv")
    try await Tool.makeVideo(path, frames: 1800, size: "width=64,height=36")
    let result = try await Demo.play([
      path, "--custom-render", "rgb", "--at", "0.5=process:film=decimate:3", "--at", "1=custom-render:off",
      "--at", "1.5=seek:59", "--mode", "pip", "--surface", "offscreen", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    let film = try #require(report.streams["film"])
    #expect(
      film.state == "ended" && report.durationSeconds < 40, "it ended near its end, after \(report.durationSeconds) s")
    #expect((film.dropped ?? 0) > 0)
    #expect(film.customRendered ?? 0 >= film.received, "custom rendering ends only after the stream has stopped")
    #expect(result.errors.contains("1011003"), "\(result.errors)")
    #expect(try #require(report.pictureInPictureProcess).seconds > 1)
  }

  @Test func aFileThatDoesNotExistFailsAtOnce() async throws {
    let result = try await Demo.play([
      Self.film(30, "good"), "--stream", "lost=filesrc location=/nowhere/a.mkv ! decodebin ! appsink name=x", "--at",
      "0=start:lost", "--surface", "none", "--duration", "30", "--report", "-",
    ])
    #expect(result.status == 74, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .failed && report.durationSeconds < 25, "the stream failed, and the run ended")
    #expect(report.streams["lost"]?.state == "failed")
    #expect(report.streams["lost"]?.error?.contains("/nowhere/a.mkv") == true)
    #expect(report.streams["good"]?.state == "ended")
    #expect(!result.errors.contains("try 1"), "\(result.errors)")
  }

  @Test func aRunFinishesWhenEveryStreamHasEnded() async throws {
    let result = try await Demo.play([
      Self.film(10, "short"), "--stream", "long=\(Self.film(60))", "--at", "0=start:long", "--stream",
      "late=\(Self.film(20))", "--at", "1.5=start:late", "--surface", "none", "--duration", "60", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .finished && report.durationSeconds < 50)
    #expect(report.streams.mapValues(\.arrived) == ["short": 10, "long": 60, "late": 20])
    #expect(report.streams.values.allSatisfy { $0.state == "ended" })
  }

  @Test func aStreamThatWaitsForItsFirstFrameIsNotPlaying() async throws {
    let result = try await Demo.play([
      "udpsrc port=0 ! application/x-rtp,media=video,encoding-name=VP8,clock-rate=90000 ! rtpvp8depay ! vp8dec "
        + "! videoconvert ! appsink name=silent", "--surface", "none", "--duration", "1", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.report().streams["silent"]?.state == "requesting")
    #expect(result.errors.contains("\"silent\" delivered no frame"))
  }

  @Test(.enabled(if: ElementInspection.exists("webrtcbin"), "webrtcbin is not installed"), arguments: [false, true])
  func aPeerWithoutSignallingIsNamed(hasPipelineOfItsOwn: Bool) async throws {
    let pipeline = "webrtcbin name=peer peer. ! decodebin ! appsink name=a"
    let result = try await Demo.play(
      (hasPipelineOfItsOwn ? ["--stream", "a=\(pipeline)"] : [pipeline]) + ["--surface", "none", "--duration", "1"])
    let warning = "stream \"a\" delivered no frame: the element \"peer\" waits for the description of its peer"
    #expect(result.errors.contains(warning), "\(result.errors)")
  }

  @Test func aRunThatFailsWhileAPipelineBlocksEndsWithItsExitCode() async throws {
    let folder = try TemporaryFolder()
    mkfifo(folder.path("fifo"), 0o600)
    let result = try await Demo.play([
      "--stream", "blocked=filesrc location=\(folder.path("fifo")) ! decodebin ! appsink name=x", "--stream",
      "lost=filesrc location=/nowhere/a.mkv ! decodebin ! appsink name=x", "--surface", "none", "--duration", "3",
      "--stop-timeout", "0.2", "--report", "-",
    ])
    #expect(!result.wasKilled && result.status == 74, "\(result.status): \(result.errors)")
    #expect(try result.report().abandonedPipelines == 1)
  }
}
