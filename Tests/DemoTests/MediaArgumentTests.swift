import Foundation
import PipSink
import Testing

@testable import TestSupport
@testable import pipsink_demo

/// Tests of files and URIs that are given instead of a pipeline.
@Suite struct MediaArgumentTests {
  private func ids(_ arguments: [String]) -> [StreamID]? { StreamOption.media(arguments)?.map(\.streamID) }

  private func uris(_ arguments: [String]) -> [String]? {
    StreamOption.media(arguments)?.map { stream in if case .uri(let uri) = stream.source { uri } else { "" } }
  }

  @Test func filesAndURIsAreToldFromPipelines() {
    #expect(ids(["film.mkv"]) == ["film"])
    #expect(ids(["/media/My film.part 1.webm", "rtsp://192.0.2.7/door?user=a/b"]) == ["My film.part 1", "door"])
    #expect(ids(["https://example.org"]) == ["example"] && ids(["https://example.org/live/"]) == ["live"])
    #expect(ids(["a.mkv", "b/a.mkv", "c/a.avi"]) == ["a", "a-2", "a-3"], "no two streams have the same ID")
    #expect(ids([".mkv"]) == ["stream"] && ids(["/"]) == ["stream"])
    let pipelines = [
      [], ["videotestsrc"], ["videotestsrc ! appsink name=a"], ["videotestsrc", "!", "appsink", "name=a"],
      ["filesrc", "location=/a.mkv", "!", "appsink"], ["file:///a.mkv ! decodebin ! appsink"],
      ["playbin uri=file:///a"],
      ["filesrc location=film.mkv"], [""], ["videotestsrc\n. film.mkv"],
    ]
    for pipeline in pipelines { #expect(ids(pipeline) == nil, "\(pipeline)") }
  }

  @Test func aFilesURIHasWhateverItsNameHas() throws {
    #expect(uris(["/tmp/a b#c%.mkv"]) == ["file:///tmp/a%20b%23c%25.mkv"])
    #expect(uris(["http://a/b!c"]) == ["http://a/b!c"])
    let folder = try TemporaryFolder()
    let path = folder.path("no extension")
    try Data().write(to: URL(fileURLWithPath: path))
    #expect(uris([path])?.first?.hasSuffix("/no%20extension") == true && ids([path]) == ["no extension"])
    let here = FileManager.default.currentDirectoryPath
    #expect(uris(["film.mkv"])?.first?.hasPrefix("file:///") == true)
    #expect(uris(["film.mkv"])?.first?.removingPercentEncoding == "file://\(here == "/" ? "" : here)/film.mkv")
  }

  @Test func filesPlayToTheirEndWithTheirSoundOneOfThemInPictureInPicture() async throws {
    let folder = try TemporaryFolder()
    let sound = "audiotestsrc num-buffers=20 ! audio/x-raw,rate=44100 ! vorbisenc ! mux."
    for name in ["one film.mkv", "two.mkv"] {
      let path = folder.path(name).replacingOccurrences(of: " ", with: "_")
      let picture = "videotestsrc num-buffers=15 ! video/x-raw,width=64,height=36,framerate=30/1 ! jpegenc"
      try await Tool.gstLaunch("\(picture) ! matroskamux name=mux ! filesink location=\(path) \(sound)")
    }
    try FileManager.default.moveItem(atPath: folder.path("one_film.mkv"), toPath: folder.path("one film.mkv"))
    let result = try await Demo.play([
      folder.path("one film.mkv"), "file://" + folder.path("two.mkv"), "--mode", "pip", "--surface", "offscreen",
      "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .finished)
    #expect(report.streams.mapValues(\.arrived) == ["one film": 15, "two": 15])
    #expect(report.streams.mapValues(\.state) == ["one film": "ended", "two": "ended"])
    #expect(report.streams["one film"].map { $0.pip + $0.late } == 15)
    #expect(report.pictureInPictureEvents.contains { $0.event == "didStart" })
  }

  @Test func aFileThatIsNotThereIsNamedAndTheOthersPlay() async throws {
    let folder = try TemporaryFolder()
    try await Tool.makeVideo(folder.path("there.mkv"))
    let result = try await Demo.play([
      folder.path("there.mkv"), folder.path("missing.mkv"), "--surface", "none", "--report", "-",
    ])
    #expect(result.status == 74)
    #expect(result.errors.contains("stream \"missing\" failed") && result.errors.contains("missing.mkv"))
    #expect(try result.report().streams["there"]?.arrived == 40)
  }

  @Test(.enabled(if: ElementInspection.exists("webrtcbin"), "webrtcbin is not installed"))
  func aStreamByWHEPIsPlayedAndItsServerIsToldOfTheEnd() async throws {
    let server = try await WHEPServer()
    let demo = try Demo.start([
      "play", "--stream", "anna=\(server.url("red", scheme: "whep"))", "--stream",
      "ben=\(server.url("status/401", scheme: "whep"))", "--surface", "offscreen", "--report", "-",
    ])
    #expect(await demo.wait { $0.errors.contains(/anna [1-9][0-9.]* fps/) }, "\(demo.errors)")
    demo.interrupt()
    let result = try await demo.result()
    #expect(server.log.contains("DELETE /session/1 200"), "\(server.log)")
    let report = try result.report()
    #expect(report.streams["anna"]?.state == "playing" && report.streams["anna"]?.received ?? 0 > 0)
    #expect(report.streams["ben"]?.state == "failed")
    let failure = "stream \"ben\" failed: \(server.url("status/401")) has answered 401: because of 401;"
    #expect(result.errors.contains(failure), "\(result.errors)")
    #expect(result.status == 74)
  }

  /// What is played beside streams of `--stream`.
  enum Company: CaseIterable {
    case pipeline, pipelineFile, file, nothing
  }

  @Test(arguments: Company.allCases)
  func aStreamBeginsAtOnceUnlessAnActionStartsIt(beside company: Company) async throws {
    let folder = try TemporaryFolder()
    let pipeline = "videotestsrc num-buffers=6 ! appsink name=first"
    var received: [String: UInt64] = ["a": 5, "c": 7]
    var arguments: [String] = []
    switch company {
    case .pipeline:
      arguments = [pipeline]
      received["first"] = 6
    case .pipelineFile:
      try Data(pipeline.utf8).write(to: folder.url.appendingPathComponent("x.launch"))
      arguments = ["--pipeline", folder.path("x.launch")]
      received["first"] = 6
    case .file:
      try await Tool.makeVideo(folder.path("film.mkv"))
      try await Tool.makeVideo(folder.path("late.mkv"))
      // A file with an action does not begin at once either, and begins only once.
      arguments = [folder.path("film.mkv"), folder.path("late.mkv"), "--at", "0.3=start:late"]
      received.merge(["film": 40, "late": 40]) { $1 }
    case .nothing: break
    }
    let result = try await Demo.play(
      arguments + [
        "--stream", "a=videotestsrc num-buffers=5 ! appsink", "--stream", "c=videotestsrc num-buffers=7 ! appsink",
        "--at", "0.2=start:c", "--surface", "none", "--report", "-", "--duration", "60",
      ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .finished)
    #expect(report.streams.mapValues(\.arrived) == received)
  }

  @Test func beforeOthersTheFirstStreamOfThePipelineIsInPictureInPicture() async throws {
    let result = try await Demo.play([
      "videotestsrc is-live=true ! appsink name=first", "--stream", "a=videotestsrc is-live=true ! appsink", "--mode",
      "pip", "--surface", "offscreen", "--duration", "3", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let streams = try result.report().streams
    #expect((streams["first"]?.pip ?? 0) > 5 && streams["a"]?.pip == 0)
    #expect((streams["a"]?.inApp ?? 0) > 5)
  }

  @Test func streamsNeedNoPipelineBesideThem() async throws {
    let folder = try TemporaryFolder()
    try await Tool.makeVideo(folder.path("film.mkv"))
    let result = try await Demo.play([
      "--stream", "a=videotestsrc num-buffers=5 ! appsink", "--stream", "b=file://\(folder.path("film.mkv"))",
      "--stream", "c=videotestsrc num-buffers=7 ! appsink", "--at", "0.2=start:c", "--surface", "none", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.report().streams.mapValues(\.arrived) == ["a": 5, "b": 40, "c": 7])
  }
}
