import Testing

@testable import PipSink
@testable import TestSupport

/// What is shown of the people in the streams.
@MainActor @Suite(.timeLimit(.minutes(2))) struct ParticipantTests {
  private struct Call {
    let clock = ManualClock()
    let display: OffscreenDisplay
    let session: PictureInPictureSession

    @MainActor
    init(_ ids: [StreamID] = ["a", "b"], layout: PictureInPictureLayout = .grid) async throws {
      display = try OffscreenDisplay()
      session = try PictureInPictureSession(VideoEngine(clock: clock.clock), display, .init())
      for id in ids { try session.addStream(id).consume(try PlainFrame.make([255, 255, 255])) }
      let controller = session.controller
      controller.configuration.layout = layout
      try session.startPictureInPicture(ids[0])
      #expect(await eventually { controller.isActive })
    }

    /// Those who speak, in the app and in picture-in-picture.
    @MainActor var speakers: [Set<StreamID>] {
      let places = display.pictureInPictureWindow.presentation?.places ?? []
      return [
        Set(display.participants.filter(\.value.isSpeaking).keys),
        Set(places.filter(\.participant.isSpeaking).map(\.streamID)),
      ]
    }
  }

  @Test(arguments: [
    ("Anna", "A"), ("Anna Berg", "AB"), ("anna von berg", "AB"), ("  Anna\tBerg ", "AB"), ("(Anna) „Berg“", "AB"),
    ("Änne Øre", "ÄØ"), ("remote-1", "R"), ("Room 5", "R"), ("5 Rooms", "5"), ("王小明", "王"), ("李 娜", "李"),
    ("محمد علي", "م"), ("e\u{301}lan", "É"), ("ß", "SS"), ("— ?", ""), ("", ""),
  ])
  func initialsAreTheFirstLettersOfTheFirstAndTheLastWord(name: String, initials: String) {
    #expect(Participant(name: name).initials == initials)
  }

  @Test func everyProgramGivesANameTheSameColour() {
    // The hash of FNV-1a with 32 bits, as its authors publish it, is 0xe40c292c for "a" and 0xbf9cf968 for "foobar".
    #expect(Participant(name: "a").hue == Double(0xe40c_292c % 360) / 360)
    #expect(Participant(name: "foobar").hue == Double(0xbf9c_f968 % 360) / 360)
    #expect(Participant(name: "").hue == Double(0x811c_9dc5 % 360) / 360)
  }

  @Test func whoeverIsLoudSpeaksUntilHalfASecondOfSilence() async throws {
    let call = try await Call()
    try call.session.setAudioLevel(0.05, of: "a")
    #expect(call.speakers == [[], []], "that is the noise of a room")
    try call.session.setAudioLevel(0.06, of: "a")
    #expect(call.speakers == [["a"], ["a"]])
    #expect(await call.clock.isAwaited(in: 0.5))
    call.clock.advance(by: 0.3)
    for level in [0.7, 0, 0] { try call.session.setAudioLevel(level, of: "a") }
    try call.session.setAudioLevel(1, of: "b")
    #expect(call.speakers == [["a", "b"], ["a", "b"]])
    call.clock.advance(by: 0.3)
    try call.session.setAudioLevel(0.5, of: "b")
    // The look at 0.5 has found that both have spoken since.
    #expect(await call.clock.reach(0.2))
    #expect(await eventually { call.speakers == [["b"], ["b"]] })
    #expect(await call.clock.reach(0.3))
    #expect(await eventually { call.speakers == [[], []] })
    // Nobody looks any more, until somebody speaks again.
    #expect(call.session.participantWatch == nil)
    try call.session.setAudioLevel(1, of: "a")
    #expect(call.speakers == [["a"], ["a"]])
    #expect(await call.clock.isAwaited(in: 0.5))
  }

  @Test func aLongCaptionDoesNotKeepAnybodySpeaking() async throws {
    let call = try await Call()
    call.session.show(caption: "Hello", for: .seconds(100), over: "a")
    #expect(await call.clock.isAwaited(in: 100))
    try call.session.setAudioLevel(1, of: "b")
    #expect(await call.clock.reach(0.5))
    #expect(await eventually { call.speakers == [[], []] })
    #expect(await call.clock.reach(99.5))
    #expect(await eventually { call.display.participants["a"]?.caption == "" })
    #expect(call.session.participantWatch == nil)
  }

  @Test func aMicrophoneThatIsOffDoesNotSpeak() async throws {
    let call = try await Call()
    try call.session.setAudioLevel(1, of: "a")
    try call.session.setMicrophoneState(.off, of: "a")
    #expect(await eventually { call.session.participant(of: "a").isMicrophoneOff })
    #expect(call.speakers == [[], []])
    try call.session.setAudioLevel(1, of: "a")
    #expect(call.speakers == [[], []])
    try call.session.setMicrophoneState(.on, of: "a")
    #expect(await eventually { !call.session.participant(of: "a").isMicrophoneOff })
    #expect(call.speakers == [[], []], "what was said meanwhile is over")
    try call.session.setAudioLevel(1, of: "a")
    #expect(call.speakers == [["a"], ["a"]])
  }

  @Test func anAppThatShowsItsStreamsItselfIsToldOfTheirParticipants() async throws {
    let display = try LayerDisplay(pictureInPictureHost: OffscreenPictureInPictureWindow())
    let session = try PictureInPictureSession(display: display)
    var told: [Participant] = []
    display.participantChanged = { id, participant in
      #expect(id == "a")
      told.append(participant)
    }
    for id: StreamID in ["a", "b"] { try session.addStream(id).consume(try PlainFrame.make([255, 255, 255])) }
    var expected = [Participant(name: "Anna")]
    try session.setName("Anna", of: "a")
    expected.append(expected[0])
    expected[1].isSpeaking = true
    try session.setAudioLevel(1, of: "a")
    expected.append(expected[1])
    expected[2].connectionQuality = .fair
    try session.setConnectionQuality(.fair, of: "a")
    try session.setConnectionQuality(.fair, of: "a")
    expected.append(expected[2])
    (expected[3].isMicrophoneOff, expected[3].isSpeaking) = (true, false)
    try session.setMicrophoneState(.off, of: "a")
    #expect(await eventually { told.count == 4 })
    #expect(told == expected)
  }

  /// The engine measures the sound of a pipeline that has an element `level`.
  @Test func theSoundOfAPipelineTellsWhoSpeaks() async throws {
    let display = try OffscreenDisplay()
    let session = try PictureInPictureSession(
      .text(
        "videotestsrc is-live=true ! appsink name=a videotestsrc is-live=true ! appsink name=b "
          + "audiotestsrc is-live=true volume=0.5 ! level name=a-level ! fakesink sync=true "
          + "audiotestsrc is-live=true volume=0.01 ! level name=b-level ! fakesink sync=true"), display: display)
    try await session.start()
    #expect(await eventually { display.participants["a"]?.isSpeaking == true })
    #expect(display.participants["b"]?.isSpeaking != true)
    await session.stop()
  }

  @Test func aCaptionIsShownWhereverTheStreamIs() async throws {
    let call = try await Call()
    let own = try call.session.addPictureInPictureWindow(for: "b")
    try call.session.setCaption("Guten\nMorgen", for: "b")
    #expect(call.display.participants["b"]?.caption == "Guten\nMorgen")
    #expect(own.presentation.places.map(\.participant.caption) == ["Guten\nMorgen"])
    try call.session.setCaption("a\u{202E}b\tc\u{0}d", for: "b")
    #expect(own.presentation.places.map(\.participant.caption) == ["a b c d"], "it changes no direction of other texts")
    try call.session.setCaption(String(repeating: "e\u{301}", count: 1000), for: "b")
    #expect(call.session.participant(of: "b").caption.unicodeScalars.count == 1000)
    try call.session.setCaption(nil, for: "b")
    #expect(own.presentation.places.map(\.participant.caption) == [""])
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) {
      try call.session.setCaption("hello", for: "c")
    }
  }

  @Test func anImageStandsForSomebodyWhereverTheStreamIs() async throws {
    let call = try await Call()
    let own = try call.session.addPictureInPictureWindow(for: "b")
    let images = [UInt8(0), 255].map {
      BGRAImage(size: PictureSize(width: 2, height: 1), bytes: [UInt8](repeating: $0, count: 8))
    }
    for image in images {
      try call.session.setImage(image, for: "b")
      #expect(call.session.participant(of: "b").image == image)
      #expect(call.display.participants["b"]?.image == image && call.display.participants["a"]?.image == nil)
      #expect(own.presentation.places.map(\.participant.image) == [image])
    }
    try call.session.setName("Berta", of: "b")
    #expect(own.presentation.places.map(\.participant.image) == [images[1]], "it is of the stream, and not of the name")
    try call.session.setImage(nil, for: "b")
    #expect(own.presentation.places.map(\.participant.image) == [nil])
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) {
      try call.session.setImage(images[0], for: "c")
    }
  }

  @Test func aConnectionIsAsGoodAsTheAppSays() async throws {
    let call = try await Call()
    try call.session.setConnectionQuality(.poor, of: "b")
    #expect(call.display.participants["b"]?.connectionQuality == .poor)
    let places = try #require(call.display.pictureInPictureWindow.presentation?.places)
    #expect(places.map(\.participant.connectionQuality) == [.unknown, .poor])
    let own = try call.session.addPictureInPictureWindow(for: "b")
    #expect(own.presentation.places.map(\.participant.connectionQuality) == [.poor])
    try call.session.setConnectionQuality(.good, of: "b")
    #expect(own.presentation.places.map(\.participant.connectionQuality) == [.good])
    let unknown = PipSinkError.stream(.unknown("c", known: ["a", "b"]))
    #expect(throws: unknown) { try call.session.setConnectionQuality(.good, of: "c") }
    #expect(throws: unknown) { try call.session.setAudioLevel(1, of: "c") }
    try call.session.removeStream("b")
    #expect(call.session.participant(of: "b") == Participant(name: "b"), "somebody else may be \"b\" next")
  }
}
