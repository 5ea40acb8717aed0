import Foundation
import Testing

@testable import PipSink
@testable import TestSupport
@testable import pipsink_demo

/// Tests of sound on a real PulseAudio server.
@Suite(.enabled(if: PulseServer.isInstalled), .timeLimit(.minutes(5))) struct AudioServerTests {
  private static let video = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! "

  private func description(_ server: PulseServer, sink: String = "") -> PipelineDescription {
    .text(
      Self.video + "appsink name=a audiotestsrc is-live=true ! audioconvert ! audioresample ! level ! "
        + "pulsesink name=speaker server=\(server.address) \(sink)")
  }

  private func isHalf(_ input: PulseServer.SinkInput) -> Bool { abs(input.amplitude - 0.5) < 0.001 }

  @Test func volumeIsTheSameAfterModeSwitchesAndRestarts() async throws {
    let server = try await PulseServer()
    let engine = try VideoEngine()
    let renderer = try OffscreenRenderer(size: PictureSize(width: 32, height: 18))
    let router = FrameRouter(pictureInPicture: SampleBufferDisplayLayer(name: "pip", renderer: renderer))
    let inApp = try OffscreenRenderer(size: PictureSize(width: 32, height: 18))
    router.setLayer(SampleBufferDisplayLayer(name: "film", renderer: inApp), for: "film")
    try engine.audioSession.setVolume(0.5, for: "film")
    let ear = try await Ear(server)
    let start = { try engine.startPlayingStream("film", from: description(server)) { router.input(for: $0) } }
    try start()
    var input = try await server.sinkInput { isHalf($0) && !$0.mute }
    for step in 0..<20 {
      let received = try #require(router.statistics(of: "film")).received
      if step % 2 == 0 { try router.enterPictureInPicture("film") } else { router.leavePictureInPicture() }
      #expect(await eventually { (router.statistics(of: "film")?.received ?? 0) > received + 1 })
    }
    #expect(await eventually { abs(ear.amplitude - 0.4) < 0.02 })
    let same = try await server.sinkInput { isHalf($0) && !$0.corked }
    #expect(same.index == input.index, "the sound continued on the same server stream")
    try engine.audioSession.setMuted(true, for: "film")
    input = try await server.sinkInput { $0.mute }
    for _ in 0..<5 {
      try await engine.stopPlayingStream("film")
      try start()
      input = try await server.sinkInput { [index = input.index] in $0.index > index && isHalf($0) && $0.mute }
    }
    try engine.audioSession.setMuted(false, for: "film")
    input = try await server.sinkInput { isHalf($0) && !$0.mute }
  }

  @Test(arguments: AudioCategory.allCases)
  func theCategoryTellsTheServerWhatAStreamIsFor(category: AudioCategory) async throws {
    let server = try await PulseServer()
    let engine = try VideoEngine(description(server))
    engine.audioSession.category = category
    engine.audioSession.applicationName = "My Player"
    try await engine.start { _ in CountingConsumer(keepsFrames: false) }
    let input = try await server.sinkInput { _ in true }
    #expect(input.role == (category == .playback ? "video" : "phone"))
    #expect(input.properties["application.name"] == "My Player")
    #expect(input.properties["filter.want"] == (category == .playback ? nil : "echo-cancel"))
  }

  @Test func theDescriptionsOwnStreamPropertiesGoFirst() async throws {
    let server = try await PulseServer()
    let engine = try VideoEngine(description(server, sink: "volume=0.5 stream-properties=props,media.role=music"))
    try await engine.start { _ in CountingConsumer(keepsFrames: false) }
    let input = try await server.sinkInput { isHalf($0) }
    #expect(input.role == "music")
  }

  @Test func aCallPausesTheStreamsAndItsEndResumesThem() async throws {
    let server = try await PulseServer(modules: "module-role-cork")
    let engine = try VideoEngine(description(server))
    let counter = CountingConsumer(keepsFrames: false)
    try engine.audioSession.setVolume(0.5, for: "a")
    try await engine.start { _ in counter }
    let input = try await server.sinkInput { isHalf($0) && !$0.corked }
    for isMuted in [false, true] {
      let call = try server.startCall()
      try await server.sinkInput { $0.corked && $0.mute }
      #expect(await eventually { engine.audioSession.interruption == .pause && engine.state == .paused })
      // The stream stays muted until the call ends, whatever the app sets meanwhile. Then the server unmutes it, unless
      // the app has muted it.
      try engine.audioSession.setMuted(true, for: "a")
      try engine.audioSession.setMuted(isMuted, for: "a")
      try await server.sinkInput { $0.corked && $0.mute }
      #expect(engine.audioSession.interruption == .pause)
      let count = counter.count
      call.stop()
      #expect(await eventually { counter.count > count + 5 })
      #expect(engine.audioSession.interruption == nil)
      let after = try await server.sinkInput { !$0.corked && $0.mute == isMuted && isHalf($0) }
      #expect(after.index == input.index)
    }
  }

  @Test func duringACallPicturesGoOnWhereTheyAreToBeDucked() async throws {
    let server = try await PulseServer(modules: "module-role-cork")
    let engine = try VideoEngine(description(server))
    let counter = CountingConsumer(keepsFrames: false)
    engine.audioSession.interruptionPolicy = .duck(0.25)
    engine.audioSession.volume = 0.5
    try await engine.start { _ in counter }
    try await server.sinkInput { isHalf($0) && !$0.corked }
    let call = try server.startCall()
    try await server.sinkInput { $0.mute && abs($0.amplitude - 0.125) < 0.001 }
    let count = counter.count
    #expect(await eventually { counter.count > count + 5 })
    call.stop()
    try await server.sinkInput { !$0.mute && isHalf($0) }
    #expect(engine.audioSession.interruption == nil)
  }

  @Test func theServersOwnDuckingLeavesOurVolume() async throws {
    let server = try await PulseServer(modules: "module-role-ducking ducking_roles=video volume=-20dB")
    let engine = try VideoEngine(description(server))
    engine.audioSession.volume = 0.5
    try await engine.start { _ in CountingConsumer(keepsFrames: false) }
    let input = try await server.sinkInput { isHalf($0) && !$0.corked }
    let ear = try await Ear(server)
    // The tone has 0.8 of the full amplitude.
    #expect(await eventually { abs(ear.amplitude - 0.4) < 0.02 })
    let call = try server.startCall()
    #expect(await eventually { abs(ear.amplitude - 0.04) < 0.01 })
    call.stop()
    #expect(await eventually { abs(ear.amplitude - 0.4) < 0.02 })
    let after = try await server.sinkInput { isHalf($0) && !$0.mute && !$0.corked }
    #expect(after.index == input.index)
    #expect(engine.audioSession.interruption == nil)
  }

  @Test func anInterruptionEndsWithTheStreamThatWasAskedToMakeRoom() async throws {
    let server = try await PulseServer(modules: "module-role-cork")
    let engine = try VideoEngine()
    let counter = CountingConsumer(keepsFrames: false)
    try engine.startPlayingStream("silent", from: .text(Self.video + "appsink name=x")) { _ in counter }
    try engine.startPlayingStream("film", from: description(server)) { _ in CountingConsumer(keepsFrames: false) }
    // The server asks only those to make room that play.
    try await server.sinkInput { !$0.corked }
    let call = try server.startCall()
    #expect(await eventually { engine.audioSession.interruption == .pause })
    let count = counter.count
    try await engine.stopPlayingStream("film")
    #expect(engine.audioSession.interruption == nil)
    #expect(await eventually { counter.count > count + 5 })
    call.stop()
  }

  @Test func whenTheServerDiesPicturesGoOn() async throws {
    let server = try await PulseServer()
    let engine = try VideoEngine(description(server))
    let counter = CountingConsumer(keepsFrames: false)
    let events = engine.events()
    try await engine.start { _ in counter }
    try await server.sinkInput { !$0.corked }
    server.stop()
    for await event in events {
      if case .audioFailed = event { break }
      if case .streamStateChanged(_, .failed(let error)) = event {
        Issue.record("\(error)")
        break
      }
    }
    let count = counter.count
    #expect(await eventually { counter.count > count + 20 })
  }

  @Test func whenTheServerDiesAFilmGoesOnWithoutSound() async throws {
    let server = try await PulseServer()
    let folder = try TemporaryFolder()
    let path = folder.path("film.mkv")
    try await Tool.gstLaunch(
      "matroskamux name=mux ! filesink location=\(path) videotestsrc num-buffers=600 ! video/x-raw,width=64,height=36,framerate=30/1 "
        + "! mux. audiotestsrc num-buffers=900 ! audio/x-raw,rate=44100 ! vorbisenc ! mux.")
    let engine = try VideoEngine()
    var configuration = PipelineConfiguration()
    (configuration.stallTimeout, configuration.restartTimeout) = (.seconds(1), .seconds(1))
    configuration.retryPolicy = RetryPolicy(limit: 10, firstPause: .seconds(0.05))
    let counter = CountingConsumer(keepsFrames: false)
    try engine.startPlayingStream(
      "film",
      from: .text(
        "filesrc location=\(path) ! decodebin name=d d. ! videoconvert ! appsink name=x "
          + "d. ! audioconvert ! audioresample ! pulsesink server=\(server.address)"), configuration: configuration
    ) { _ in counter }
    try await server.sinkInput { !$0.corked }
    let events = engine.events()
    server.stop()
    for await event in events {
      if case .audioFailed = event { break }
    }
    #expect(await eventually { engine.playState(of: "film") != .playing })
    #expect(await eventually { engine.playState(of: "film") == .playing })
    let count = counter.count
    #expect(await eventually { counter.count > count + 20 })
  }

  @Test(arguments: [(true, true), (true, false), (false, true)])
  func aURIPlaysWhatItHas(hasVideo: Bool, hasAudio: Bool) async throws {
    let server = try await PulseServer()
    // An autoaudiosink finds the server by this variable.
    setenv("PULSE_SERVER", server.address, 1)
    defer { unsetenv("PULSE_SERVER") }
    let folder = try TemporaryFolder()
    let path = folder.path("film.mkv")
    try await Tool.gstLaunch(
      "matroskamux name=mux ! filesink location=\(path)"
        + (hasVideo ? " videotestsrc num-buffers=30 ! video/x-raw,width=64,height=36,framerate=30/1 ! mux." : "")
        + (hasAudio ? " audiotestsrc num-buffers=64 ! audio/x-raw,rate=44100 ! vorbisenc ! mux." : ""))
    let engine = try VideoEngine()
    let events = engine.events()
    var configuration = PipelineConfiguration()
    configuration.playsAudio = true
    let counter = CountingConsumer(keepsFrames: false)
    try engine.startPlayingStream("film", uri: "file://\(path)", configuration: configuration) { _ in counter }
    engine.audioSession.volume = 0.5
    if hasAudio {
      let input = try await server.sinkInput { isHalf($0) }
      #expect(input.role == "video")
    }
    var (levels, states, isWithoutVideo) = (0, [StreamPlayState](), false)
    for await event in events {
      switch event {
      case .audioLevel(let id, _):
        #expect(id == "film")
        levels += 1
      case .streamHasNoVideo(let id):
        #expect(id == "film")
        isWithoutVideo = true
      case .streamStateChanged(_, let state): states.append(state)
      default: break
      }
      if states.last == .ended { break }
    }
    #expect(states == [.requesting, .playing, .ended])
    // A busy machine drops late frames.
    let late = Int(engine.info(of: "film")?.lateFrameCount ?? 0)
    #expect(counter.count + late == (hasVideo ? 30 : 0))
    // The audio lasts one and a half seconds and the pictures last one second.
    #expect((13...16).contains(levels) == hasAudio)
    #expect(isWithoutVideo == !hasVideo)
  }

  // MARK: - The demo

  @Test func theDemoPlaysAtItsVolumeWhereverItsPicturesAre() async throws {
    let server = try await PulseServer()
    let demo = try Demo.start(
      [
        "play", Self.video + "appsink name=a audiotestsrc is-live=true ! audioconvert ! autoaudiosink", "--surface",
        "offscreen", "--volume", "0.5", "--audio-category", "voice-chat", "--at", "1=pip:a", "--at", "2=background",
        "--at", "3=mute", "--at", "4=mute", "--at", "4=volume:0.25",
      ], environment: server.environment)
    let input = try await server.sinkInput { isHalf($0) && !$0.mute }
    #expect(input.role == "phone")
    #expect(input.properties["application.name"] == "PipSink")
    try await server.sinkInput { isHalf($0) && $0.mute && !$0.corked }
    let last = try await server.sinkInput { abs($0.amplitude - 0.25) < 0.001 && !$0.mute && !$0.corked }
    #expect(last.index == input.index)
    demo.stop()
  }

  @Test func theDemoSaysWhenThereIsNoSoundServer() async throws {
    let folder = try TemporaryFolder()
    let result = try await Demo.play(
      [
        Self.video + "appsink name=a audiotestsrc is-live=true ! pulsesink", "--surface", "none", "--duration", "1",
        "--report", "-",
      ], environment: ["PULSE_SERVER": "unix:\(folder.path("nothing"))"])
    #expect(result.status == 0, "\(result.errors)")
    #expect(result.errors.contains("no sound: element \"pulsesink0\""))
    #expect(try #require(result.report().streams["a"]).received > 10)
  }

  /// The picture, which stays, and the film have no sound.
  @Test(arguments: [
    ("videotestsrc num-buffers=1 ! pngenc snapshot=true", false, "playing", 0),
    ("videotestsrc num-buffers=30 ! matroskamux", false, "ended", 0),
    ("audiotestsrc num-buffers=20 ! wavenc", true, "failed", 74),
  ]) func theDemoMissesASoundServerOnlyWhereThereIsSound(
    content: String, hasSound: Bool, state: String, status: Int32
  ) async throws {
    let folder = try TemporaryFolder()
    try await Tool.gstLaunch("\(content) ! filesink location=\(folder.path("file"))")
    let result = try await Demo.play(
      [folder.path("file"), "--surface", "offscreen", "--duration", "2", "--report", "-"],
      environment: ["PULSE_SERVER": "unix:\(folder.path("nothing"))"])
    #expect(result.status == status, "\(result.errors)")
    #expect(result.errors.contains("no sound: element \"autoaudiosink0\"") == hasSound, "\(result.errors)")
    #expect(result.errors.contains("stream \"file\" has sound, but no picture; give it") == hasSound)
    #expect(try #require(result.report().streams["file"]).state == state)
  }

  @Test func thePictureFollowsTheOneThatSpeaks() async throws {
    let sound = { (id: String, volume: Double) in
      Self.video + "appsink name=\(id) audiotestsrc is-live=true volume=\(volume) ! level name=\(id)-level ! fakesink "
    }
    let result = try await Demo.play([
      sound("a", 0.01) + sound("b", 0.5), "--surface", "offscreen", "--mode", "pip", "--pip-policy", "speaker",
      "--duration", "3", "--report", "-",
    ])
    #expect(result.status == 0, "\(result.errors)")
    let report = try result.report()
    #expect(try #require(report.streams["a"]).pip > 0)
    #expect(try #require(report.streams["b"]).pip > 0)
    #expect(report.modeChanges.map { "\($0.stream) \($0.to)" } == ["a inApp", "b pip"])
  }
}
