import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Several interruptions at the same time, and the settings that a session keeps. These tests need no pipeline.
@Suite(.timeLimit(.minutes(5))) struct AudioInterruptionTests {
  private let session: AudioSession
  private let told = Locked<[String]>([])

  init() {
    session = AudioSession { [told] interruption in
      told.withLock { $0.append(interruption.map { "\($0)" } ?? "ended") }
    }
  }

  @Test func theStrictestOfSeveralHoldsAndTheLatestEndsFirst() {
    session.beginInterruption(.duck(0.2))
    #expect(session.interruption == .duck(0.2))
    session.beginInterruption(.duck(0.6))
    #expect(session.interruption == .duck(0.2), "the lowest level applies")
    session.beginInterruption(.pause)
    session.beginInterruption(.duck(0.1))
    #expect(session.interruption == .pause)
    session.endInterruption()
    #expect(session.interruption == .pause)
    session.endInterruption()
    #expect(session.interruption == .duck(0.2))
    session.endInterruption()
    #expect(session.interruption == .duck(0.2), "the interruption that began later has ended")
    session.endInterruption()
    session.endInterruption()
    #expect(session.interruption == nil)
    #expect(told.withLock { $0 } == ["duck(0.2)", "pause", "duck(0.2)", "ended"])
  }

  @Test func eachInterruptionIsToldOfOnce() {
    for _ in 0..<2 {
      session.beginInterruption(.pause)
      session.beginInterruption(.pause)
      session.endInterruption()
      session.endInterruption()
    }
    session.endInterruption()
    #expect(told.withLock { $0 } == ["pause", "ended", "pause", "ended"])
  }

  @Test func whereTheUserGoesOnNothingPausesAndEveryInterruptionStillHasItsEnd() {
    session.beginInterruption(.duck(0.5))
    session.beginInterruption(.pause)
    session.beginRequest(of: 1)
    session.overridePause()
    #expect(session.interruption == .duck(0.5), "the volume stays as low as the app wants it")
    session.endInterruption()
    #expect(session.interruption == .duck(0.5), "the pause of the app has ended, and not its duck")
    session.endInterruption()
    #expect(session.interruption == .duck(1))
    // An interruption that begins afterwards pauses again.
    session.beginInterruption(.pause)
    session.endInterruption()
    session.endRequests(of: [1])
    session.overridePause()
    #expect(session.interruption == nil)
    #expect(told.withLock { $0 } == ["duck(0.5)", "pause", "duck(0.5)", "duck(1.0)", "pause", "duck(1.0)", "ended"])
  }

  @Test func duckingIsFromNothingToAll() {
    for (asked, left) in [(0.5, 0.5), (7, 1), (-1, 0), (.nan, 0)] as [(Double, Double)] {
      session.beginInterruption(.duck(asked))
      #expect(session.settings(for: nil, takesOverall: true).factor == left)
      #expect(session.settings(for: nil, takesOverall: false).factor == 1)
      session.endInterruption()
    }
    #expect(session.settings(for: nil, takesOverall: true).factor == 1)
  }

  @Test func aServersRequestsAreTheElementsOwnAndEndWithThem() {
    session.interruptionPolicy = .duck(0.3)
    session.beginRequest(of: 1)
    session.interruptionPolicy = .pause
    #expect(session.interruption == .duck(0.3), "the policy at the time of the request applies")
    session.beginRequest(of: 2)
    #expect(session.interruption == .pause)
    // When the app ends its interruption, the server's requests continue.
    session.endInterruption()
    #expect(session.interruption == .pause)
    session.endRequests(of: [3, 2])
    #expect(session.interruption == .duck(0.3))
    session.beginInterruption(.duck(0.9))
    session.endRequests(of: [1])
    #expect(session.interruption == .duck(0.9))
  }

  @Test func whatWasSetForAStreamIsKeptForItAlone() throws {
    try session.setVolume(0.5, for: "b")
    #expect(session.volume(of: "a") == nil && !session.isMuted("a"))
    #expect(session.volume(of: "b") == 0.5)
    session.isMuted = true
    let wish = session.settings(for: "b", takesOverall: true)
    #expect(wish.isMutedByAll && wish.volume == 0.5 && wish.isMuted == nil)
    #expect(!session.settings(for: "b", takesOverall: false).isMutedByAll)
  }

  @Test func whatAMixerSetsAfterItWasLeftAloneIsTheBaseOfTheNext() {
    var override = Override<Double>()
    var actual = 0.5
    let (read, write) = ({ actual }, { actual = $0 })
    override.update({ $0 * 0.5 }, read: read, write: write)
    override.update(nil, read: read, write: write)
    actual = 0.8
    override.update({ $0 * 0.5 }, read: read, write: write)
    #expect(actual == 0.4)
  }

  @Test func aServersRequestEndsWithItsWordOrWithTheBranch() async throws {
    let engine = try VideoEngine(
      """
      videotestsrc is-live=true ! appsink name=a
      audiotestsrc is-live=true ! volume name=v ! fakesink sync=true
      """)
    try await engine.start { _ in CountingConsumer() }
    let session = engine.audioSession
    session.interruptionPolicy = .duck(0.25)
    let request = { (state: GstState) in
      engine.withUnsafeElement(named: "v") {
        _ = gst_element_post_message($0, gst_message_new_request_state($0.asObject, state))
      }
    }
    request(GST_STATE_PAUSED)
    #expect(await eventually { session.interruption == .duck(0.25) })
    request(GST_STATE_PLAYING)
    #expect(await eventually { session.interruption == nil })
    request(GST_STATE_PAUSED)
    #expect(await eventually { session.interruption == .duck(0.25) })
    engine.withUnsafeElement(named: "v") { element in
      let code = gint(GST_RESOURCE_ERROR_WRITE.rawValue)
      let error = g_error_new_literal(gst_resource_error_quark(), code, "told to fail")
      gst_element_post_message(element, gst_message_new_error(element.asObject, error, nil))
      g_error_free(error)
    }
    #expect(await eventually { session.interruption == nil })
  }

  // MARK: - Levels

  @Test func aStereoLevelIsTheMeanPowerAndTheHighestPeakOfBothChannels() async throws {
    // The tone is on the right channel only.
    let engine = try VideoEngine(
      """
      videotestsrc is-live=true ! appsink name=a
      audiotestsrc is-live=true volume=0.5 ! audio/x-raw,format=S16LE,rate=44100,channels=1
        ! audioconvert mix-matrix="<<(float)0.0>,<(float)1.0>>" ! audio/x-raw,channels=2
        ! level interval=50000000 ! fakesink sync=true
      """)
    let events = engine.events()
    try await engine.start { _ in CountingConsumer() }
    for await event in events {
      guard case .audioLevel(_, let level) = event else { continue }
      #expect(abs(level.peak + 6.02) < 0.1)
      #expect(abs(level.rms + 12.04) < 0.2)
      break
    }
  }

  // MARK: - Which stream an element belongs to

  @Test func anElementIsNotThatStreamsWhoseIDIsPartOfAWordOfItsName() async throws {
    let engine = try VideoEngine(
      """
      videotestsrc is-live=true ! appsink name=cam  videotestsrc is-live=true ! appsink name=x
      audiotestsrc is-live=true ! volume name=camera-volume ! fakesink sync=true
      audiotestsrc is-live=true ! volume name=cam-volume ! fakesink sync=true
      audiotestsrc is-live=true ! volume name=cam2 ! fakesink sync=true
      """)
    try await engine.start { _ in CountingConsumer() }
    try engine.audioSession.setVolume(0.5, for: "cam")
    let volume = { (name: String) -> Double? in
      var value: Double?
      engine.withUnsafeElement(named: name) {
        value = $0.property("volume") { g_value_get_double(&$0) }
      }
      return value
    }
    #expect(volume("cam-volume") == 0.5)
    #expect(volume("camera-volume") == 1)
    #expect(volume("cam2") == 1)
  }
}
