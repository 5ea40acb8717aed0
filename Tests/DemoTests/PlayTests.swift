import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

@Suite struct PlayTests {
  @Test func theElementIsAStreamAsAnAppsinkIsOne() async throws {
    let source = "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=36"
    let result = try await Demo.play([
      "\(source) ! pipsink stream-id=remote-1 sync=false \(source) ! appsink name=remote-2 sync=false", "--mode", "pip",
      "--pip-stream", "remote-1", "--pip-end-action", "stop", "--surface", "offscreen", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.streams.mapValues(\.arrived) == ["remote-1": 20, "remote-2": 20])
    #expect(report.streams["remote-1"]?.pip == 20 && report.streams["remote-2"]?.inApp == 20)
  }

  @Test func aCameraThatGoesOffLeavesPictureInPictureAndTheStatusSaysWhatStandsStill() async throws {
    let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36 ! appsink name="
    let result = try await Demo.play([
      "\(live)a \(live)b", "--mode", "pip", "--surface", "offscreen", "--at", "1=camera-off:a", "--at",
      "1=microphone-off:b", "--at", "1.5=mute", "--at", "1.5=pause", "--at", "1.6=snapshot", "--duration", "3.5",
      "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let events = try result.report().pictureInPictureEvents
    #expect(events.contains { $0.event == "sourceChanged" && $0.detail == "a to b" })
    #expect(result.errors.contains("pip:b  paused  muted  "))
    #expect(result.errors.contains("without --snapshots"))
    let unknown = try await Demo.play(["\(live)a", "--at", "1=camera-off:nobody"])
    #expect(unknown.status == 64 && unknown.errors.contains("nobody"))
  }

  /// A configured action at the end of the stream in picture-in-picture, with the events that it causes and the stream
  /// that is in picture-in-picture afterwards.
  struct EndAction {
    var option: String?
    var events: [String]
    var last: String?
  }

  @Test(arguments: [
    EndAction(option: nil, events: ["sourceChanged: b to a"], last: "a"),
    EndAction(option: "next", events: ["sourceChanged: b to a"], last: "a"),
    EndAction(option: "placeholder", events: [], last: "b"),
    EndAction(
      option: "stop", events: ["willStop: sourceEnded", "didStop: sourceEnded", "sourceChanged: b to a"], last: nil),
  ])
  func aNamedStreamThatEndsInPictureInPictureDoesWhatIsConfigured(action: EndAction) async throws {
    let folder = try TemporaryFolder()
    let source = "! video/x-raw,width=64,height=36,framerate=30/1"
    let result = try await Demo.play(
      [
        "videotestsrc is-live=true \(source) ! appsink name=a "
          + "videotestsrc pattern=ball num-buffers=30 is-live=true \(source) ! appsink name=b", "--mode", "pip",
        "--pip-stream", "b", "--surface", "offscreen", "--report", "-", "--snapshots", folder.path("shots"),
        "--duration", "2.5",
      ] + (action.option.map { ["--pip-end-action", $0] } ?? []))
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    let events = report.pictureInPictureEvents.filter { $0.event != "renderSizeChanged" }
    #expect(events.prefix(2).map(\.event) == ["willStart", "didStart"])
    let seen = events.dropFirst(2).map { [$0.event, $0.detail].compactMap(\.self).joined(separator: ": ") }
    #expect(seen == action.events)
    #expect((report.streams["a"]?.pip ?? 0 > 0) == (action.last == "a"))
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("shots"))
    let pictures = files.filter { $0.contains("pip-") }
    #expect(pictures.count == (action.last == nil ? 0 : 1), "\(files)")
    #expect(pictures.allSatisfy { $0.contains("pip-\(action.last ?? "")") }, "\(files)")
  }

  @Test func theEndOfAllIsTheEndOfPictureInPicture() async throws {
    let result = try await Demo.play([
      "videotestsrc num-buffers=20 ! video/x-raw,width=64,height=36 ! appsink name=a", "--mode", "pip", "--surface",
      "offscreen", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let events = try result.report().pictureInPictureEvents.map { [$0.event, $0.detail ?? ""] }
    #expect(events.suffix(2) == [["willStop", "sourceEnded"], ["didStop", "sourceEnded"]], "\(events)")
  }

  @Test func everyDecodedFrameOfRealH264IsCountedWhereItWent() async throws {
    let folder = try TemporaryFolder()
    let paths = ["remote-1", "remote-2"].map { folder.path("\($0).mkv") }
    for (path, pattern) in zip(paths, ["smpte", "white"]) { try await Tool.makeVideo(path, pattern: pattern) }
    let seenByFakesink = try await paths.asyncMap { path in
      try await Tool.gstLaunch(
        "filesrc location=\(path) ! decodebin ! videoconvert ! fakesink silent=false", verbose: true
      ).output.split(separator: "\n").count { $0.contains("chain") }
    }
    let branches = zip(paths, ["remote-1", "remote-2"]).map { path, id in
      "filesrc location=\(path) ! decodebin ! videoconvert ! appsink name=\(id)"
    }
    let result = try await Demo.play([
      branches.joined(separator: " "), "--mode", "pip", "--pip-stream", "remote-2", "--pip-end-action", "placeholder",
      "--surface", "offscreen", "--report", "-",
      "--snapshots", folder.path("shots"),
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome == .finished)
    let first = try #require(report.streams["remote-1"])
    let second = try #require(report.streams["remote-2"])
    #expect(Int(first.arrived) == seenByFakesink[0])
    #expect(Int(second.arrived) == seenByFakesink[1])
    #expect(first.inApp == first.received && first.pip == 0)
    #expect(second.pip == second.received && second.inApp == 0)
    #expect(report.modeChanges.isEmpty)

    // The picture has 4:3 and the surfaces have 16:9, so there are bars at its sides. The picture is upright: it shows
    // bars, with a white one at the left, above the lower stripes.
    let inApp = try await picture(folder, containing: "inApp-remote-1")
    #expect(inApp.size == PictureSize(width: 640, height: 360))
    #expect(inApp.pixel(40, 100) == [0, 0, 0, 255])
    PictureFile.expect(inApp.pixel(90, 20), isNear: [255, 255, 255])
    PictureFile.expect(inApp.pixel(540, 20), isNear: [255, 0, 0])
    PictureFile.expect(inApp.pixel(90, 250), isNear: [255, 0, 0])
    let pip = try await picture(folder, containing: "pip-remote-2")
    #expect(pip.size == PictureSize(width: 320, height: 180))
    #expect(pip.pixel(20, 90) == [0, 0, 0, 255])
    PictureFile.expect(pip.pixel(160, 90), isNear: [255, 255, 255])
  }

  private func picture(_ folder: TemporaryFolder, containing name: String) async throws -> BGRAImage {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder.path("shots"))
    let file = try #require(files.first { $0.contains(name) }, "\(files)")
    return try await PictureFile.decoded(folder.path("shots/\(file)"))
  }

  @Test func switchesArriveInTheReport() async throws {
    let result = try await Demo.play(
      Demo.pipeline("two-streams") + [
        "--duration", "4", "--at", "1=pip:remote-2", "--at", "2=pip:remote-1", "--at", "3=normal", "--report", "-",
      ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.schema == 1)
    #expect(report.outcome == .duration)
    for stream in report.streams.values {
      #expect(stream.received == stream.inApp + stream.pip)
      #expect(stream.pip > 0)
      #expect(stream.frameInterval != nil)
      #expect(stream.format?.contains("640x360") == true)
    }
    #expect(
      report.modeChanges.map { "\($0.stream) \($0.from) \($0.to)" } == [
        "remote-2 inApp pip", "remote-2 pip inApp", "remote-1 inApp pip", "remote-1 pip inApp",
      ])
    for change in report.modeChanges {
      #expect(change.framesLost == 0)
      #expect(change.framesRepeated == 0)
      #expect(change.firstFrameLatencyMs != nil)
    }
    #expect(report.process.cpuSeconds > 0)
    #expect(report.process.peakRssBytes > 1_000_000)
  }

  @Test func processorsThinOutAndRecolourTheirStreamOnly() async throws {
    let folder = try TemporaryFolder()
    let source = "videotestsrc num-buffers=30 pattern=smpte100 ! video/x-raw,format=I420,width=640,height=360 ! appsink"
    let result = try await Demo.play([
      "\(source) name=a sync=false \(source) name=b sync=false", "--process", "a=decimate:3", "--process",
      "a=grayscale",
      "--report", "-", "--snapshots", folder.path("shots"),
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.streams["a"]?.arrived == 10)
    #expect(report.streams["a"]?.dropped == 20)
    #expect(report.streams["b"]?.arrived == 30)
    #expect(report.streams["b"]?.dropped == nil)
    let gray = try await picture(folder, containing: "inApp-a").pixel(600, 100)
    PictureFile.expect(gray, isNear: [Int(gray[1]), Int(gray[1]), Int(gray[1])])
    PictureFile.expect(try await picture(folder, containing: "inApp-b").pixel(600, 100), isNear: [255, 0, 0])
  }

  @Test func theProcessorsAreListedWithTheirArguments() async throws {
    let result = try await Demo.start(["processors"]).result()
    #expect(result.status == 0)
    for text in ["decimate:ARGUMENT", "limit-rate:ARGUMENT", "grayscale "] { #expect(result.output.contains(text)) }
  }

  @Test func ctrlCEndsCleanlyAndStillWritesTheReport() async throws {
    let folder = try TemporaryFolder()
    let demo = try Demo.start(
      ["play"] + Demo.pipeline("two-streams") + [
        "--report", folder.path("report.json"), "--snapshots", folder.path("shots"),
      ])
    #expect(await demo.wait(forText: "640x360"))
    demo.interrupt()
    let result = try await demo.result()
    #expect(result.status == 0)
    #expect(!result.wasKilled)
    let json = try Data(contentsOf: URL(fileURLWithPath: folder.path("report.json")))
    #expect(try JSONDecoder().decode(Report.self, from: json).outcome == .interrupted)
  }

  @Test func aQuitActionEndsTheRun() async throws {
    let result = try await Demo.play(Demo.pipeline("two-streams") + ["--at", "0.5=quit", "--report", "-"])
    #expect(result.status == 0)
    #expect(try result.report().outcome == .quit)
  }

  @Test func theDemoTakesAPipelineAsGstLaunchDoes() async throws {
    let result = try await Demo.play([
      "videotestsrc", "num-buffers=5", "!", "video/x-raw, width=32, height=32", "!", "appsink", "name=a", "sync=false",
      "--surface", "none", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.streams["a"]?.arrived == 5)
    #expect(report.surface == "none")
  }

  @Test func statusIsPlainLinesInAPipeAndOneLineOnATerminal() async throws {
    let arguments = Demo.pipeline("two-streams") + ["--duration", "2.5"]
    let piped = try await Demo.play(arguments)
    #expect(piped.errors.contains("in-app"))
    #expect(!piped.errors.contains("\r"))
    let quoted = ([Demo.path, "play"] + arguments).map { "'\($0)'" }.joined(separator: " ")
    let terminal = try await RunningProgram("/usr/bin/script", ["-qec", quoted, "/dev/null"]).result()
    #expect(terminal.output.contains("\r\u{1B}[K"))
    #expect(terminal.output.contains("fps"))
  }

  @Test func aStreamThatFailsDoesNotEndTheOther() async throws {
    let result = try await Demo.play([
      "videotestsrc ! identity error-after=3 ! appsink name=bad videotestsrc num-buffers=60 ! appsink name=good sync=false",
      "--report", "-",
    ])
    #expect(result.status == 74)
    let report = try result.report()
    #expect(report.outcome == .failed)
    #expect(report.streams["good"]?.arrived == 60)
    #expect(report.streams["bad"]?.state == "failed")
    #expect(report.errors.contains { $0.contains("identity0") })
  }

  @Test func withoutADisplayItShowsTheStreamsOffscreenAndSaysSo() async throws {
    let result = try await Demo.play(["videotestsrc num-buffers=3 ! appsink name=a", "--report", "-"])
    #expect(result.status == 0)
    #expect(result.errors.contains("Showing the streams offscreen: no display can be reached."))
    #expect(try result.report().surface == "offscreen")
  }

  @Test func streamsOfTheirOwnComeAndGoDuringARun() async throws {
    let result = try await Demo.play([
      "videotestsrc is-live=true ! video/x-raw,framerate=30/1 ! appsink name=a", "--stream",
      "b=videotestsrc is-live=true ! video/x-raw,framerate=30/1 ! appsink name=x", "--stream",
      "c=videotestsrc is-live=true ! identity error-after=5 ! appsink name=x", "--at", "0.3=start:b", "--at",
      "0.3=start:c", "--at", "1.2=pip:b", "--at", "4.2=stop:b", "--duration", "5", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(report.streams["a"]?.state == "playing")
    #expect(report.streams["b"]?.state == "ended")
    #expect((report.streams["b"]?.pip ?? 0) > 5)
    // The stream has failed and come back more than once.
    #expect((report.streams["c"]?.received ?? 0) >= 8)
    #expect(result.errors.contains("stream \"c\": element \"identity"))
    #expect(report.modeChanges.filter { $0.stream == "b" }.map(\.to) == ["pip", "inApp"])
    let unknown = try await Demo.play(["videotestsrc ! appsink name=a", "--at", "1=start:nobody"])
    #expect(unknown.status == 64)
  }

  @Test func theSplitLayoutIsOnePictureOffscreen() async throws {
    let folder = try TemporaryFolder()
    let result = try await Demo.play([
      "videotestsrc pattern=white num-buffers=150 ! video/x-raw,framerate=30/1 ! appsink name=local "
        + "videotestsrc pattern=red num-buffers=150 ! video/x-raw,framerate=30/1 ! appsink name=remote",
      "--surface", "offscreen", "--layout", "split", "--gravity", "resize", "--at", "1=snapshot", "--at",
      "2=pip:remote", "--at", "3=snapshot", "--snapshots", folder.url.path,
    ])
    #expect(result.status == 0, "\(result.errors)")
    let shots = folder.files.filter { $0.contains("inApp") }
    #expect(shots.allSatisfy { $0.hasSuffix("inApp.png") })
    let right = try await PictureFile.decoded(folder.path(try #require(shots.first))).pixel(480, 100)
    PictureFile.expect(right, isNear: [0, 0, 255])
    let alone = try await PictureFile.decoded(folder.path(try #require(shots.dropFirst().first))).pixel(480, 100)
    PictureFile.expect(alone, isNear: [255, 255, 255])
  }
}

/// Tests that a run ends with its report although its source blocks.
@Suite struct BlockedRunTests {
  private func blocked(_ folder: TemporaryFolder) -> String {
    mkfifo(folder.path("fifo"), 0o600)
    return "filesrc location=\(folder.path("fifo")) ! decodebin ! videoconvert ! appsink name=blocked"
  }

  /// Whether a thread of the program waits in the `open` of a FIFO. It is also true where the kernel does not show what
  /// threads wait for.
  private static func waitsForWriter(_ program: RunningProgram) -> Bool {
    func places(_ process: String) -> Set<String> {
      let tasks = "/proc/\(process)/task"
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
      return Set(threads.compactMap { try? String(contentsOfFile: "\(tasks)/\($0)/wchan", encoding: .utf8) })
    }
    let isToldOf = !places("self").isSubset(of: ["0", ""])
    return !isToldOf || places("\(program.processIdentifier)").contains("wait_for_partner")
  }

  private static func hasOpen(_ path: String, _ program: RunningProgram) -> Bool {
    let files = "/proc/\(program.processIdentifier)/fd"
    return ((try? FileManager.default.contentsOfDirectory(atPath: files)) ?? []).contains { file in
      (try? FileManager.default.destinationOfSymbolicLink(atPath: "\(files)/\(file)"))?.hasSuffix(path) == true
    }
  }

  @Test(arguments: ["duration", "quit"])
  func aRunWhoseSourceBlocksEndsWithItsTime(how: String) async throws {
    let folder = try TemporaryFolder()
    let end = how == "quit" ? ["--at", "0.5=quit"] : ["--duration", "0.5"]
    let result = try await Demo.start(
      ["play", blocked(folder), "--surface", "none", "--stop-timeout", "0.5", "--report", "-"] + end
    ).result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    let report = try result.report()
    #expect(report.outcome.rawValue == how)
    #expect(report.abandonedPipelines == 1)
    #expect(report.durationSeconds < 10)
  }

  /// Sends one signal to the run, whose report shows the outcome. If `isStopping` is true, the signal arrives while a
  /// stop waits.
  @Test(arguments: [SIGINT, SIGTERM], [false, true])
  func aSignalEndsARunWhoseSourceBlocks(number: Int32, isStopping: Bool) async throws {
    let folder = try TemporaryFolder()
    let source = "videotestsrc is-live=true ! video/x-raw,width=64,height=48,framerate=30/1"
    let recording = folder.path("frames")
    let live = "\(source) ! appsink name=a \(source) ! filesink location=\(recording)"
    let demo = try Demo.start(
      [
        "play", live, "--stream", "b=\(blocked(folder))", "--at", "0=start:b", "--surface", "none", "--report", "-",
        "--stop-timeout", "600",
      ] + (isStopping ? ["--at", "4=quit"] : []))
    let isBlocked = await demo.wait { Self.waitsForWriter($0) && Self.hasOpen(recording, $0) }
    #expect(isBlocked, "\(demo.errors)")
    if isStopping {
      // The other pipeline has stopped, and the program waits for this one.
      let hasBegun = await demo.wait { !Self.hasOpen(recording, $0) && Self.waitsForWriter($0) }
      #expect(hasBegun, "\(demo.errors)")
    }
    let start = ContinuousClock.now
    kill(demo.processIdentifier, number)
    let result = try await demo.result(seconds: 30)
    #expect(result.status == 0 && !result.wasKilled, "\(result.errors)")
    print("blocked: ended \(start.duration(to: .now)) after the signal")
    let report = try result.report()
    #expect(report.outcome == (isStopping ? .quit : .interrupted))
    #expect(report.abandonedPipelines == 1)
  }
}

extension Sequence {
  func asyncMap<Result>(_ transform: (Element) async throws -> Result) async rethrows -> [Result] {
    var results: [Result] = []
    for element in self { results.append(try await transform(element)) }
    return results
  }
}
