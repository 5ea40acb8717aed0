import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCommandLine
@testable import TestSupport
@testable import pipsink_demo

/// Runs every file in `pipelines/` that can run here.
@Suite struct PipelineFileTests {
  @Test func theListOfFilesIsTheOneThatIsTested() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: Demo.root.appendingPathComponent("pipelines").path)
    #expect(
      files.sorted() == [
        "call-rtp.launch", "files.launch", "rtsp.launch", "screen.launch", "two-streams.launch", "webcam.launch",
      ])
  }

  @Test func twoStreams() async throws {
    let result = try await Demo.play(
      Demo.pipeline("two-streams") + ["--surface", "none", "--report", "-"], environment: ["FRAMES": "10"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.report().streams.mapValues(\.arrived) == ["remote-1": 10, "remote-2": 10])
  }

  @Test func aCallOverRTP() async throws {
    let folder = try TemporaryFolder()
    let result = try await Demo.play(
      Demo.pipeline("call-rtp") + [
        "--duration", "4", "--at", "2=pip:remote-2", "--at", "3=normal", "--report", "-", "--snapshots",
        folder.url.path,
      ], environment: freePorts())
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    for id in ["remote-1", "remote-2"] {
      let stream = try #require(report.streams[id])
      #expect(stream.received > 30, "\(id) got \(stream.received)")
      #expect(stream.received == stream.inApp + stream.pip)
    }
    #expect(report.streams["remote-2"]!.pip > 0)
    #expect(report.modeChanges.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
    #expect(folder.files.count == 2)
  }

  private func freePorts() -> [String: String] {
    // RTP uses even port numbers. Other programs rarely use ports of this range.
    let base = 20000 + Int.random(in: 0..<3000) * 4
    return ["PORT_1": "\(base)", "PORT_2": "\(base + 2)"]
  }

  @Test func files() async throws {
    let folder = try TemporaryFolder()
    // A name with blanks and quotes remains one word.
    let names = ["one file.mkv", "two \"quoted\".mkv"]
    try await Tool.makeVideo(folder.path("plain.mkv"), frames: 20)
    for name in names { try FileManager.default.copyItem(atPath: folder.path("plain.mkv"), toPath: folder.path(name)) }
    let result = try await Demo.play(
      Demo.pipeline("files") + ["--surface", "none", "--report", "-"],
      environment: ["FILE_1": folder.path(names[0]), "FILE_2": folder.path(names[1])])
    #expect(result.status == 0, "\(result.errors)")
    #expect(try result.report().streams.mapValues(\.arrived) == ["remote-1": 20, "remote-2": 20])
  }

  @Test func filesWithoutTheirNamesSayWhichVariableToSet() async throws {
    let result = try await Demo.play(Demo.pipeline("files"))
    #expect(result.status == 64)
    #expect(result.errors.contains("FILE_1"))
  }

  @Test func rtspFromARealServer() async throws {
    let script = Demo.root.appendingPathComponent("Tests/DemoTests/rtsp-server.py").path
    let server = try RunningProgram("/usr/bin/python3", [script])
    let url = try #require(await server.firstLine(), "\(server.errors)")
    let result = try await Demo.play(
      Demo.pipeline("rtsp") + ["--duration", "4", "--report", "-"], environment: ["RTSP_URL": url])
    server.stop()
    #expect(result.status == 0, "\(result.errors)")
    let stream = try #require(try result.report().streams["remote-1"])
    #expect(stream.received > 20)
    #expect(stream.format?.contains("320x240") == true)
  }

  @Test func aStreamIsPlayedFromAURIWithItsSoundLeftOut() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("film.mkv")
    try await Tool.gstLaunch(
      "videotestsrc num-buffers=20 ! video/x-raw,width=320,height=240,framerate=30/1 ! x264enc speed-preset=ultrafast ! "
        + "h264parse ! matroskamux name=mux ! filesink location=\(path) audiotestsrc num-buffers=30 ! vorbisenc ! mux.")
    let router = FrameRouter()
    let engine = try VideoEngine()
    try engine.startPlayingStream("film", uri: "file://\(path)") { router.input(for: $0) }
    #expect(await eventually { engine.playState(of: "film") == .ended })
    #expect((router.statistics(of: "film")?.received ?? 0) + (engine.info(of: "film")?.lateFrameCount ?? 0) == 20)
    await engine.stop()
  }

  @Test func hlsFromAWebServer() async throws {
    let folder = try TemporaryFolder()
    // The test does not use hlssink2, which sometimes hangs at its end.
    for part in 1...2 {
      try await Tool.gstLaunch(
        "videotestsrc num-buffers=45 ! video/x-raw,width=320,height=240,framerate=30/1 "
          + "! x264enc speed-preset=ultrafast key-int-max=30 ! h264parse ! mpegtsmux "
          + "! filesink location=\(folder.path("part-\(part).ts"))")
    }
    let list =
      "#EXTM3U\n#EXT-X-VERSION:3\n#EXT-X-TARGETDURATION:2\n#EXT-X-PLAYLIST-TYPE:VOD\n#EXTINF:1.5,\npart-1.ts\n"
      + "#EXT-X-DISCONTINUITY\n#EXTINF:1.5,\npart-2.ts\n#EXT-X-ENDLIST\n"
    try list.write(toFile: folder.path("list.m3u8"), atomically: true, encoding: .utf8)
    let server = try RunningProgram(
      "/usr/bin/python3", ["-u", "-m", "http.server", "0", "--bind", "127.0.0.1", "--directory", folder.url.path])
    let line = try #require(await server.firstLine(), "\(server.errors)")
    let port = try #require(line.split(separator: " ").compactMap { Int($0) }.first, "\(line)")
    let router = FrameRouter()
    let engine = try VideoEngine()
    let events = Locked<[String]>([])
    engine.status.broadcast.observe { event in events.withLock { $0.append("\(event)") } }
    try engine.startPlayingStream("film", uri: "http://127.0.0.1:\(port)/list.m3u8") { router.input(for: $0) }
    let hasEnded = await eventually(within: 60) { engine.playState(of: "film") == .ended }
    #expect(hasEnded, "\(events.withLock { $0 }) \(server.errors)")
    #expect((router.statistics(of: "film")?.received ?? 0) + (engine.info(of: "film")?.lateFrameCount ?? 0) == 90)
    await engine.stop()
    server.stop()
  }

  @Test func aStreamComesBackByItselfAfterItsServerWasKilledAndStartedAgain() async throws {
    let script = Demo.root.appendingPathComponent("Tests/DemoTests/rtsp-server.py").path
    var server = try RunningProgram("/usr/bin/python3", [script])
    let url = try #require(await server.firstLine())
    let port = try #require(URLComponents(string: url)?.port)
    var configuration = PipelineConfiguration()
    (configuration.stallTimeout, configuration.restartTimeout) = (.seconds(1), .milliseconds(500))
    configuration.retryPolicy = RetryPolicy(
      limit: .max, firstPause: .seconds(0.1), longestPause: .seconds(0.5), jitter: 0.25)
    let router = FrameRouter()
    let engine = try VideoEngine()
    try engine.startPlayingStream(
      "camera", from: .text("rtspsrc location=\(url) protocols=tcp latency=50 ! decodebin ! appsink name=x"),
      configuration: configuration
    ) { router.input(for: $0) }
    #expect(await eventually(within: 60) { engine.playState(of: "camera") == .playing })
    server.stop()
    #expect(
      await eventually(within: 60) {
        if case .reconnecting = engine.playState(of: "camera") { true } else { false }
      })
    let received = try #require(router.statistics(of: "camera")).received
    server = try RunningProgram("/usr/bin/python3", [script, "\(port)"])
    #expect(await eventually(within: 60) { engine.playState(of: "camera") == .playing })
    #expect(await eventually { (router.statistics(of: "camera")?.received ?? 0) > received + 10 })
    await engine.stop()
    server.stop()
  }

  @Test func aServerThatDiesMakesItsStreamReconnectAndNoOther() async throws {
    let script = Demo.root.appendingPathComponent("Tests/DemoTests/rtsp-server.py").path
    var server = try RunningProgram("/usr/bin/python3", [script])
    let url = try #require(await server.firstLine())
    let port = try #require(URLComponents(string: url)?.port)
    let demo = try Demo.start([
      "play", "videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=60/1 ! appsink name=a", "--stream",
      "camera=rtspsrc location=\(url) protocols=tcp latency=50 ! decodebin ! videoconvert ! appsink name=camera",
      "--at", "0=start:camera", "--surface", "offscreen", "--report", "-",
    ])
    #expect(await demo.wait(forText: "stream \"camera\": I420 320x240"))
    server.stop()
    #expect(await demo.wait(forText: "; try 1 in "))
    server = try RunningProgram("/usr/bin/python3", [script, "\(port)"])
    // The format is reported before the first frame.
    #expect(
      await demo.wait { output in
        let parts = output.errors.components(separatedBy: "stream \"camera\": I420 320x240")
        return parts.count == 3 && parts[2].contains(/camera [1-9][0-9.]* fps/)
      })
    demo.interrupt()
    let result = try await demo.result()
    server.stop()
    let report = try result.report()
    #expect(report.streams.mapValues(\.state) == ["a": "playing", "camera": "playing"])
    #expect(report.streams["a"].map { $0.received == $0.inApp && $0.error == nil } == true)
  }

  @Test func rtspWithoutAServerNamesTheElement() async throws {
    let result = try await Demo.play(
      Demo.pipeline("rtsp") + ["--duration", "3"], environment: ["RTSP_URL": "rtsp://127.0.0.1:9/none"])
    #expect(result.status == 74)
    #expect(
      result.errors.contains("rtspsrc0") && result.errors.contains("rtsp://127.0.0.1:9/none: "), "\(result.errors)")
  }

  @Test func theScreenOfARealXServer() async throws {
    let folder = try TemporaryFolder()
    // The server chooses a free display and prints its number to its standard output.
    let server = try RunningProgram(
      "/usr/bin/Xvfb", ["-displayfd", "1", "-screen", "0", "320x240x24", "-nolisten", "tcp", "-noreset"])
    let display = ":" + (try #require(await server.firstLine(), "\(server.errors)"))
    let painted = try await RunningProgram("/usr/bin/xsetroot", ["-display", display, "-solid", "#ff8000"]).result()
    #expect(painted.status == 0, "\(painted.errors)")
    let result = try await Demo.play(
      Demo.pipeline("screen") + [
        "--surface", "offscreen", "--duration", "2", "--report", "-", "--snapshots", folder.url.path,
      ],
      environment: ["DISPLAY": display])
    #expect(result.status == 0 && !result.errors.contains("warning: "), "\(result.errors)")
    #expect(try result.report().streams["screen"]!.received > 5)
    let picture = try await PictureFile.decoded(folder.path(try #require(folder.files.first)))
    // This pixel is away from the pointer, which is in the middle.
    PictureFile.expect(picture.pixel(200, 90), isNear: [0, 128, 255])
    server.stop()
  }

  @Test(.enabled(if: !FileManager.default.fileExists(atPath: "/dev/video0"), "there is a camera"))
  func aCameraThatIsNotThereIsNamed() async throws {
    let result = try await Demo.play(
      Demo.pipeline("webcam") + ["--duration", "10", "--no-fallback", "--surface", "none"])
    #expect(result.status == 69)
    #expect(result.errors.contains("no camera") && result.errors.contains("/dev/video0"))
  }

  @Test func aTestPictureStandsInForACameraThatIsNotThere() async throws {
    let result = try await Demo.play(
      Demo.pipeline("webcam") + ["--duration", "1", "--surface", "offscreen", "--report", "-"],
      environment: ["CAMERA": "/dev/no camera"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("/dev/no camera") && result.errors.contains("--no-fallback"))
    #expect(try result.report().streams["local"]!.shown > 5)
  }

  @Test func aCamerasNameStaysWhatStandsInForIt() {
    let text =
      "v4l2src name=\"my cam\" device=/dev/x extra-controls=\"c,a=1\" ! tee name=t my.src ! fakesink v4l2src ! appsink"
    let replaced = LaunchText(text).replacingElements { element in
      element.factory == "v4l2src" ? "videotestsrc is-live=\(element.properties.count)" : nil
    }
    #expect(
      replaced.split(separator: " ").joined(separator: " ")
        == "videotestsrc is-live=3 name=\"my cam\" ! tee name=t my.src ! fakesink videotestsrc is-live=0 ! appsink")
    let words = PipelineDescription.arguments(["v4l2src", "device=/dev/x y", "name=c", "!", "appsink", "name=a"])
    guard case .arguments(let new) = words.replacingCameras().description.content else { return #expect(Bool(false)) }
    #expect(new == ["videotestsrc", "is-live=true", "name=c", "!", "appsink", "name=a"])
    #expect(words.replacingCameras().failures.count == 1)
  }

  // MARK: The files' language

  @Test func commentsAreLeftOutAndVariablesFilledIn() throws {
    let source = """
      # a comment
        # another
      videotestsrc num-buffers=${COUNT:-3} ! appsink name="${NAME}"
      """
    let file = try LaunchFile(source: source, name: "test", environment: ["NAME": "a \"b\" \\c"])
    #expect(file.text == #"videotestsrc num-buffers=3 ! appsink name="a \"b\" \\c""#)
  }

  @Test func aVariableThatIsNotSetIsNamed() {
    #expect {
      try LaunchFile(source: "filesrc location=${PLACE}", name: "test", environment: [:])
    } throws: { error in
      (error as? CommandError)?.status == .usage && (error as? CommandError)?.message.contains("PLACE") == true
    }
  }

  @Test func aVariableThatIsNotClosedIsAnError() {
    #expect(throws: CommandError.self) { try LaunchFile(source: "a ${B", name: "test", environment: ["B": "1"]) }
  }
}
