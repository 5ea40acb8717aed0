import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// Sound without a sound server: `volume` elements, levels, and which element belongs to which stream.
@Suite(.timeLimit(.minutes(5))) struct AudioSessionTests {
  private static let tone = "audiotestsrc is-live=true ! audioconvert ! "
  private static let silentSink = "fakesink sync=true"

  private static func video(_ id: String) -> String {
    "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name=\(id) "
  }

  private func started(_ description: String) async throws -> VideoEngine {
    let engine = try VideoEngine(.text(description))
    try await engine.start { _ in CountingConsumer() }
    return engine
  }

  private func volume(_ engine: VideoEngine, _ element: String) -> Double? {
    property("volume", engine, element) { (g_value_get_double(&$0) * 1000).rounded() / 1000 }
  }

  private func isMuted(_ engine: VideoEngine, _ element: String) -> Bool? {
    property("mute", engine, element) { g_value_get_boolean(&$0) != 0 }
  }

  private func property<Value>(
    _ name: String, _ engine: VideoEngine, _ element: String, _ read: (inout GValue) -> Value
  ) -> Value? {
    var value: Value?
    engine.withUnsafeElement(named: element) { value = $0.property(name, read) }
    return value
  }

  @Test func aStreamsVolumeIsMultipliedByTheOverallOne() async throws {
    let engine = try await started(Self.video("a") + Self.tone + "volume name=v volume=0.8 ! " + Self.silentSink)
    let session = engine.audioSession
    #expect(volume(engine, "v") == 0.8, "the volume of the description applies as long as none was set")
    session.volume = 0.5
    #expect(volume(engine, "v") == 0.4)
    #expect(session.volume(of: "a") == nil)
    try session.setVolume(0.6, for: "a")
    #expect(volume(engine, "v") == 0.3)
    #expect(session.volume(of: "a") == 0.6)
    for (wrong, taken) in [(7, 1), (-1, 0), (.nan, 0)] as [(Double, Double)] {
      session.volume = wrong
      #expect(session.volume == taken)
    }
    session.volume = 1
    #expect(volume(engine, "v") == 0.6)
  }

  @Test func aStreamIsSilentWhenItOrEverythingIsMuted() async throws {
    let engine = try await started(Self.video("a") + Self.tone + "volume name=v ! " + Self.silentSink)
    let session = engine.audioSession
    try session.setMuted(true, for: "a")
    #expect(isMuted(engine, "v") == true)
    session.isMuted = true
    try session.setMuted(false, for: "a")
    #expect(isMuted(engine, "v") == true)
    #expect(!session.isMuted("a"))
    session.isMuted = false
    #expect(isMuted(engine, "v") == false)
  }

  @Test func settingsOutliveThePipeline() async throws {
    let engine = try VideoEngine(.text(Self.video("a") + Self.tone + "volume name=v ! " + Self.silentSink))
    try engine.audioSession.setVolume(0.25, for: "a")
    for _ in 0..<3 {
      try await engine.start { _ in CountingConsumer() }
      #expect(volume(engine, "v") == 0.25)
      await engine.stop()
    }
  }

  @Test func anElementThatComesWhileThePipelineRunsHasTheStreamsVolumeAtOnce() async throws {
    let engine = try await started(Self.video("a") + Self.tone + "volume name=v ! " + Self.silentSink)
    #expect(await eventually { engine.state == .running })
    let session = engine.audioSession
    try session.setVolume(0.25, for: "a")
    try session.setMuted(true, for: "a")
    #expect(volume(engine, "v") == 0.25)
    engine.withRun { run in
      for name in ["v", "a-volume"] {
        #expect((gst_bin_get_by_name(run.pipeline.element.asBin, name) == nil) == (name == "a-volume"))
      }
      gst_bin_add(run.pipeline.element.asBin, gst_element_factory_make("volume", "a-volume"))
    }
    #expect(volume(engine, "a-volume") == 0.25)
    #expect(isMuted(engine, "a-volume") == true)
    await engine.stop()
  }

  /// pulsesink replaces its stream properties without a lock, while another thread may make its stream with them.
  @Test func anElementIsToldOnlyOnceWhatItsStreamIsFor() throws {
    let pointer = try #require(gst_element_factory_make("pulsesink", nil))
    gst_object_ref_sink(pointer)
    let element = try #require(AudioElement(owning: pointer))
    let changes = Locked(0)
    let note: @convention(c) (OpaquePointer?, OpaquePointer?, UnsafeMutableRawPointer?) -> Void = { _, _, changes in
      guard let changes else { return }
      Unmanaged<Locked<Int>>.fromOpaque(changes).takeUnretainedValue().withLock { $0 += 1 }
    }
    g_signal_connect_data(
      pointer, "notify::stream-properties", unsafeBitCast(note, to: GCallback.self),
      Unmanaged.passUnretained(changes).toOpaque(), nil, GConnectFlags(rawValue: 0))
    for _ in 0..<3 { element.take(.playback, applicationName: "My Player") }
    #expect(changes.withLock { $0 } == 1)
    for _ in 0..<3 { element.take(.voiceChat, applicationName: "My Player") }
    #expect(changes.withLock { $0 } == 2)
  }

  @Test func whatIsSetOnceAndTakenBackLeavesWhatAMixerHasSetSince() {
    var override = Override<Double>()
    var actual = 0.5
    let (read, write) = ({ actual }, { actual = $0 })
    override.update(nil, read: read, write: write)
    actual = 0.8
    override.update({ $0 * 0.5 }, read: read, write: write)
    #expect(actual == 0.4)
    override.update({ $0 * 0.25 }, read: read, write: write)
    #expect(actual == 0.2, "the factor applies to the original value, and not to the value that we had set")
    override.update(nil, read: read, write: write)
    #expect(actual == 0.8)
    #expect(override.value == nil)
  }

  @Test func audioElementsBelongToStreamsByNameOrSource() async throws {
    let engine = try await started(
      Self.video("cam") + Self.video("cam-2") + Self.tone + "volume name=cam-volume ! volume name=last ! "
        + Self.silentSink + " " + Self.tone + "volume name=cam-2-volume ! " + Self.silentSink)
    let session = engine.audioSession
    try session.setVolume(0.5, for: "cam")
    try session.setVolume(0.25, for: "cam-2")
    session.volume = 0.5
    #expect(volume(engine, "cam-volume") == 0.5, "the overall volume is applied by a later element")
    #expect(volume(engine, "last") == 0.5)
    #expect(volume(engine, "cam-2-volume") == 0.125)
  }

  @Test func audioOfOneSourceBelongsToThatSourcesStream() async throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    let files = try ["one", "two"].map { try makeFile(in: folder, $0) }
    let branches = zip(files, ["x", "y"]).map { path, id in
      "filesrc location=\(path) ! decodebin name=d-\(id) d-\(id). ! videoconvert ! appsink name=\(id) "
        + "d-\(id). ! audioconvert ! level interval=20000000 ! volume name=v\(id) ! fakesink sync=true "
    }
    let engine = try VideoEngine(.text(branches.joined()))
    try engine.audioSession.setVolume(0.5, for: "x")
    try engine.audioSession.setVolume(0.25, for: "y")
    let seen = try await engine.runToEnd { _ in
      CountingConsumer()
    }
    let levels = Set(
      seen.compactMap { event in
        if case .audioLevel(let id, _) = event { id } else { nil }
      })
    #expect(levels == ["x", "y"])
    try await engine.start { _ in CountingConsumer() }
    #expect(await eventually { volume(engine, "vx") == 0.5 && volume(engine, "vy") == 0.25 })
  }

  @Test func aStreamWithoutAVolumeSaysSo() async throws {
    let engine = try await started(
      Self.video("a") + Self.video("b") + Self.tone + "volume name=a-volume ! " + Self.silentSink)
    try engine.audioSession.setVolume(0.5, for: "a")
    #expect(throws: PipSinkError.stream(.noAudioVolume("b"))) { try engine.audioSession.setVolume(0.5, for: "b") }
    #expect(throws: PipSinkError.stream(.noAudioVolume("b"))) { try engine.audioSession.setMuted(true, for: "b") }
    try engine.audioSession.setVolume(0.5, for: "one that is yet to come")
  }

  @Test func levelsAreToldByStreamInDecibels() async throws {
    let engine = try VideoEngine()
    let events = engine.events()
    try engine.startPlayingStream(
      "speaker",
      from: .text(
        Self.video("x") + "audiotestsrc is-live=true volume=0.5 ! level interval=50000000 ! " + Self.silentSink)
    ) { _ in CountingConsumer() }
    for await event in events {
      guard case .audioLevel(let id, let level) = event else { continue }
      #expect(id == "speaker")
      // The tone is a sine with half of the full amplitude.
      #expect(abs(level.peak + 6.02) < 0.1)
      #expect(abs(level.rms + 9.03) < 0.2)
      #expect(abs(level.linear - 0.5) < 0.01)
      break
    }
    #expect(AudioLevel(rms: -.infinity, peak: -.infinity).linear == 0)
  }

  // MARK: - Interruptions

  @Test func interruptionsAreCountedAndWhatTheUserPausedStaysPaused() async throws {
    let engine = try VideoEngine(.text(Self.video("a") + Self.tone + "volume name=v ! " + Self.silentSink))
    let counter = CountingConsumer()
    try engine.startPlayingStream("b", from: .text(Self.video("x"))) { _ in counter }
    let events = engine.events()
    try await engine.start { _ in CountingConsumer() }
    #expect(await eventually { engine.state == .running && engine.playState(of: "b") == .playing })
    let session = engine.audioSession
    session.beginInterruption(.duck(0.25))
    #expect(volume(engine, "v") == 0.25)
    session.beginInterruption(.pause)
    #expect(session.interruption == .pause)
    #expect(await eventually { engine.state == .paused })
    session.beginInterruption(.duck(0.5))
    #expect(volume(engine, "v") == 0.25, "the lowest level applies")
    for _ in 0..<2 { session.endInterruption() }
    #expect(session.interruption == .duck(0.25))
    #expect(await eventually { engine.state == .running })
    engine.isPaused = true
    #expect(await eventually { engine.state == .paused })
    session.beginInterruption(.pause)
    for _ in 0..<3 { session.endInterruption() }
    #expect(session.interruption == nil)
    #expect(volume(engine, "v") == 1)
    #expect(engine.state == .paused)
    let count = counter.sampleBuffers.count
    engine.isPaused = false
    #expect(await eventually { engine.state == .running && counter.sampleBuffers.count > count + 5 })

    var interruptions: [String] = []
    for await event in events {
      if case .audioInterruptionBegan(let interruption) = event { interruptions.append("\(interruption)") }
      if case .audioInterruptionEnded = event { break }
    }
    #expect(interruptions == ["duck(0.25)", "pause", "duck(0.25)", "pause", "duck(0.25)"])
  }

  @Test func anInterruptionIsNoStall() async throws {
    var configuration = PipelineConfiguration()
    configuration.stallTimeout = .seconds(2)
    configuration.restartTimeout = .seconds(2)
    let counter = CountingConsumer()
    let clock = ManualClock()
    let engine = try VideoEngine(clock: clock.clock)
    try engine.startPlayingStream("a", from: .text(Self.video("x")), configuration: configuration) { _ in counter }
    #expect(await eventually { engine.playState(of: "a") == .playing })
    let events = engine.events()
    engine.audioSession.beginInterruption(.pause)
    for _ in 0..<3 {
      #expect(await clock.isAwaited(in: 0.5))
      clock.advance(by: 100)
    }
    #expect(await clock.isAwaited(in: 0.5))
    engine.audioSession.endInterruption()
    let count = counter.sampleBuffers.count
    #expect(await eventually { counter.sampleBuffers.count > count + 5 })
    await engine.stop()
    // The event of the first picture may arrive a little later than the state changes.
    for await event in events {
      guard case .streamStateChanged(_, let state) = event, state != .playing else { continue }
      #expect(state == .stopped)
      break
    }
  }

  @Test func aPipelineThatStartsDuringAnInterruptionWaitsForItsEnd() async throws {
    let engine = try VideoEngine(.text(Self.video("a")))
    let counter = CountingConsumer()
    engine.audioSession.beginInterruption(.pause)
    try await engine.start { _ in counter }
    #expect(await eventually { engine.state == .paused })
    engine.audioSession.endInterruption()
    #expect(await eventually { counter.sampleBuffers.count > 5 })
  }

  @Test func volumesAndInterruptionsFromManyThreadsEndAsTheLastOneSays() async throws {
    let engine = try await started(Self.video("a") + Self.tone + "volume name=v ! " + Self.silentSink)
    let session = engine.audioSession
    await withTaskGroup { group in
      for task in 0..<4 {
        group.addTask {
          for step in 0..<50 {
            session.volume = Double((step + task) % 10) / 10
            session.beginInterruption(step % 2 == 0 ? .pause : .duck(0.1))
            engine.isPaused = step % 3 == 0
            session.endInterruption()
          }
        }
      }
    }
    session.volume = 0.75
    engine.isPaused = false
    #expect(session.interruption == nil)
    #expect(volume(engine, "v") == 0.75)
    #expect(await eventually { engine.state == .running })
  }

  // MARK: - Missing parts

  @Test func withoutASoundServerPicturesGoOn() async throws {
    let engine = try VideoEngine(
      .text(Self.video("a") + Self.tone + "pulsesink name=speaker server=unix:/nonexistent"))
    let counter = CountingConsumer()
    let events = engine.events()
    try await engine.start { _ in counter }
    #expect(await eventually { counter.sampleBuffers.count > 10 })
    for await event in events {
      guard case .audioFailed(let error) = event else { continue }
      guard case .pipeline(.elementFailed("speaker", _, _, _)) = error else {
        Issue.record("\(error)")
        break
      }
      break
    }
    #expect(throws: PipSinkError.stream(.noAudioVolume("a"))) { try engine.audioSession.setVolume(0.5, for: "a") }
  }

  /// The outputs for sound are opened first. What else an audio branch has is started with the pictures.
  @Test func aMicrophoneThatDoesNotOpenLeavesThePictures() async throws {
    let engine = try VideoEngine(
      .text(
        Self.video("a") + "pulsesrc name=microphone server=unix:/nonexistent ! audioconvert ! " + Self.silentSink))
    let counter = CountingConsumer()
    let failed = Locked<[String]>([])
    engine.status.broadcast.observe { event in
      guard case .audioFailed(.pipeline(.elementFailed(let element, _, _, _))) = event else { return }
      failed.withLock { $0.append(element) }
    }
    try await engine.start { _ in counter }
    #expect(await eventually { counter.sampleBuffers.count > 10 })
    #expect(failed.withLock { $0 } == ["microphone"])
    #expect(engine.playState(of: "a") == .playing)
    await engine.stop()
  }

  /// Only what is about a device or a server says that there is no sound.
  @Test func aWarningOfAnOutputIsAboutItsDeviceOrIsAWarning() async throws {
    let engine = try await started(Self.video("a") + Self.tone + "autoaudiosink name=speaker")
    let seen = Locked<[String]>([])
    engine.status.broadcast.observe { event in
      switch event {
      case .warning(_, let text, let detail): seen.withLock { $0.append("warning \(detail ?? ""): \(text)") }
      case .audioFailed(.pipeline(.elementFailed(_, let text, let detail, _))):
        seen.withLock { $0.append("failure \(detail ?? ""): \(text)") }
      default: break
      }
    }
    for (domain, text) in [(gst_stream_error_quark(), "one"), (gst_resource_error_quark(), "two")] {
      engine.withUnsafeElement(named: "speaker") { speaker in
        let error = g_error_new_literal(domain, 1, text)
        defer { g_error_free(error) }
        gst_element_post_message(
          speaker, gst_message_new_warning(speaker.asObject, error, "sink.c(7): open ():\nmore of \(text)"))
      }
    }
    #expect(await eventually { seen.withLock { $0.contains { $0.hasSuffix("two") } } })
    // Without a sound server, the output has reported that, too.
    #expect(
      seen.withLock { $0.filter { $0.contains("more of") } } == [
        "warning more of one: one", "failure more of two: two",
      ])
    await engine.stop()
  }

  @Test func aFailedStreamsSoundDoesNotKeepTheOthersWaiting() async throws {
    let engine = try VideoEngine(
      .text(
        Self.video("good") + "filesrc location=/dev/null ! decodebin name=d d. ! videoconvert ! appsink name=bad "
          + "d. ! audioconvert ! volume name=bad-volume ! " + Self.silentSink))
    let counter = CountingConsumer()
    try await engine.start { _ in counter }
    #expect(await eventually { counter.sampleBuffers.count > 10 })
  }

  /// The branch for the sound has a volume until the file shows that it has no sound.
  @Test func aFileWithoutSoundHasNothingThatCanBeMuted() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("silent.mkv")
    try TestFrame.run(
      "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=36,framerate=30/1 ! matroskamux ! "
        + "filesink location=\(path)")
    let engine = try VideoEngine(
      .text(
        "filesrc location=\(path) ! decodebin name=d d. ! videoconvert ! appsink name=a "
          + "d. ! audioconvert ! volume name=a-volume ! " + Self.silentSink))
    let counter = CountingConsumer()
    try await engine.start { _ in counter }
    #expect(await eventually { counter.sampleBuffers.count > 0 })
    // The branch goes when the demuxer has said that there are no more streams, which may be after the first picture.
    let answer = {
      Result { () throws(PipSinkError) in try engine.audioSession.setMuted(true, for: "a") }
    }
    #expect(await eventually { if case .failure(.stream(.noAudioVolume("a"))) = answer() { true } else { false } })
    await engine.stop()
  }

  @Test func aFileWithoutPicturesSaysSoForEachOfItsStreams() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("sound.mkv")
    try TestFrame.run(
      "audiotestsrc num-buffers=44 ! audio/x-raw,rate=44100 ! vorbisenc ! matroskamux ! filesink location=\(path)")
    let engine = try VideoEngine(
      .text(
        "filesrc location=\(path) ! decodebin name=d d. ! videoconvert ! appsink name=a "
          + "d. ! videoscale ! appsink name=b d. ! audioconvert ! \(Self.silentSink)"))
    let events = try await engine.runToEnd { _ in CountingConsumer() }
    let without = events.compactMap { if case .streamHasNoVideo(let id) = $0 { id } else { nil } }
    #expect(without.sorted() == ["a", "b"])
    #expect(["a", "b"].map { engine.playState(of: $0) } == [.ended, .ended])
  }

  /// Makes a file of one second.
  private func makeFile(in folder: URL, _ name: String) throws -> String {
    let path = folder.appendingPathComponent("\(name).mkv").path
    try TestFrame.run(
      "matroskamux name=mux ! filesink location=\(path) "
        + "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=36,framerate=30/1 ! mux. "
        + "audiotestsrc num-buffers=44 ! audio/x-raw,rate=44100 ! vorbisenc ! mux.")
    return path
  }
}
