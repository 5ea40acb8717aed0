import CGIO
import Testing

@testable import PipSink
@testable import PipSinkDBus
@testable import TestSupport

/// Tests what the interfaces on the session bus report about a session and what their methods do, without a bus.
@MainActor @Suite struct BusInterfaceTests {
  /// A session with the streams "a" and "b", whose frames the app pushes.
  @MainActor
  private final class Call {
    let window: OffscreenPictureInPictureWindow
    let display: LayerDisplay
    let session: PictureInPictureSession
    var done: [String] = []

    init(_ ids: [StreamID] = ["a", "b"], unsupportedReason: String? = nil) throws {
      window = try OffscreenPictureInPictureWindow()
      window.unsupportedReason = unsupportedReason
      display = LayerDisplay(pictureInPictureHost: window)
      session = try PictureInPictureSession(display: display)
      for id in ids {
        try session.addStream(id, stallTimeout: nil).consume(try PlainFrame.make([255, 255, 255]))
        session.engine.setInput(id, to: .playing)
      }
    }
  }

  private func started(_ call: Call) async throws {
    try call.session.startPictureInPicture()
    #expect(await eventually { call.session.controller.isActive })
  }

  // MARK: - org.pipsink.Session1

  @Test func theStateIsThatOfAllStreams() throws {
    let call = try Call()
    let interface = BusInterface.session()
    let state = { interface.values(of: call.session)["State"] }
    #expect(state() == .string("playing"))
    call.session.isPaused = true
    #expect(state() == .string("paused"))
    for id: StreamID in ["a", "b"] { try call.session.removeStream(id) }
    #expect(state() == .string("idle"))
  }

  @Test func theErrorsAreThoseOfStreamsThatFail() throws {
    let call = try Call([])
    let (lost, away) = (
      PipSinkError.pictureInPicture(.sourceNotReady("x")), PipSinkError.pictureInPicture(.sourceNotReady("y"))
    )
    let states: [StreamID: StreamPlayState] = [
      "good": .playing, "over": .ended, "slow": .stalled, "lost": .failed(lost),
      "away": .reconnecting(attempt: 2, pause: .seconds(1), after: away),
    ]
    for (id, state) in states {
      _ = try call.session.addInput(id, stallTimeout: nil)
      call.session.engine.setInput(id, to: state)
    }
    let properties = BusInterface.session().values(of: call.session)
    #expect(
      properties["StreamErrors"]
        == .dictionary(of: "s", ["lost": .string(lost.description), "away": .string(away.description)]))
    #expect(
      properties["Streams"]
        == .dictionary(
          of: "s",
          [
            "good": .string("playing"), "over": .string("ended"), "slow": .string("stalled"),
            "lost": .string("failed"), "away": .string("reconnecting"),
          ]))
  }

  @Test func pictureInPictureIsToldWhileItIsThere() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    let isThere = { try interface.perform("IsInPictureInPicture", [], on: call.session) == [.bool(true)] }
    #expect(try !isThere())
    #expect(interface.values(of: call.session)["PictureInPictureStream"] == .string(""))
    _ = try interface.perform("Enable", ["b"], on: call.session)
    #expect(await eventually { call.session.controller.isActive })
    #expect(try isThere())
    #expect(interface.values(of: call.session)["PictureInPictureStream"] == .string("b"))
    #expect(interface.values(of: call.session)["PictureInPictureState"] == .string("PIPActive"))
    // When a stream is enabled while another one is in picture-in-picture, the same window shows it.
    _ = try interface.perform("Enable", ["a"], on: call.session)
    #expect(call.session.controller.isActive && call.window.presentation?.streamID == "a")
    _ = try interface.perform("Stop", [], on: call.session)
    #expect(try !isThere() && !call.window.isOpen)
    _ = try interface.perform("SetSecondStream", ["b"], on: call.session)
    #expect(interface.values(of: call.session)["PictureInPictureSecondStream"] == .string("b"))
    _ = try interface.perform("SetSecondStream", [""], on: call.session)
    #expect(interface.values(of: call.session)["PictureInPictureSecondStream"] == .string(""))
    #expect(throws: PipSinkError.self) { try interface.perform("SetSecondStream", ["nobody"], on: call.session) }
    for layout in PictureInPictureLayout.allCases {
      _ = try interface.perform("SetPictureInPictureLayout", [.string(layout.rawValue)], on: call.session)
      #expect(interface.values(of: call.session)["PictureInPictureLayout"] == .string(layout.rawValue))
      #expect(call.session.controller.configuration.layout == layout)
    }
    _ = try interface.perform("SetSource", ["b"], on: call.session)
    #expect(!call.window.isOpen && call.session.controller.currentStreamID == "b")
  }

  @Test func anotherProgramGivesTheControlsAndUsesThem() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    func give(_ controls: String) throws {
      _ = try interface.perform("SetPictureInPictureControls", [.string(controls)], on: call.session)
    }
    func use(_ control: String) throws {
      _ = try interface.perform("UsePictureInPictureControl", [.string(control)], on: call.session)
    }
    let used = Locked<[String]>([])
    call.session.observeEvents { event in
      if case .pictureInPicture(.action(let action), _) = event { used.withLock { $0.append(action.name) } }
    }
    let property = { interface.values(of: call.session)["PictureInPictureControls"] }
    #expect(
      property()
        == "previousStream,skipBackward,playPause,skipForward,nextStream,mute,captions,seek,fullscreen,changeLayout,backToApp"
    )
    try give("call,+vote:Vote")
    #expect(property() == "microphone,camera,raiseHand,hangUp,fullscreen,changeLayout,backToApp,+vote:Vote")
    #expect(throws: PipSinkError.self, "the window is not open") { try use("vote") }
    _ = try interface.perform("Enable", ["a"], on: call.session)
    #expect(await eventually { call.session.controller.isActive })
    for control in ["vote", "hangUp"] { try use(control) }
    for control in ["mute", "other", ""] {
      #expect("\(control)") { try use(control) } throws: { error in
        (error as? PipSinkError)?.busName == "org.pipsink.Error.InvalidArgument"
      }
    }
    #expect(used.withLock { $0 } == ["vote", "hangUp"])
    try give("mute")
    try use("mute")
    #expect(call.session.isMuted)
    try use("close")
    #expect(!call.window.isOpen)
  }

  @Test func pictureInPictureOfAnAppInTheBackgroundIsThereToo() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    _ = try interface.perform("EnableWhenBackground", [], on: call.session)
    call.session.controller.applicationDidEnterBackground()
    #expect(await eventually { call.session.controller.isActive })
    let properties = interface.values(of: call.session)
    #expect(properties["PictureInPictureState"] == .string("AppMinimized"))
    #expect(properties["PictureInPictureStream"] == .string("a"))
    _ = try interface.perform("Stop", [], on: call.session)
    _ = try interface.perform("CancelBackground", [], on: call.session)
    #expect(call.session.controller.state == .initialized)
  }

  @Test func pictureInPictureIsToggled() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    _ = try interface.perform("Toggle", [], on: call.session)
    #expect(await eventually { call.session.controller.isActive })
    _ = try interface.perform("Toggle", [], on: call.session)
    #expect(call.session.pictureInPictureStreamID == nil)
  }

  @Test func aStreamIsGivenAName() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    try await started(call)
    _ = try interface.perform("SetName", ["a", .string("Anna\u{7} Schmidt")], on: call.session)
    #expect(call.session.participant(of: "a").name == "Anna  Schmidt")
    let names = ["a": BusValue.string("Anna  Schmidt"), "b": .string("b")]
    #expect(interface.values(of: call.session)["Names"] == .dictionary(of: "s", names))
    _ = try interface.perform("SetName", ["a", ""], on: call.session)
    #expect(call.session.participant(of: "a").name == "a")
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) {
      try interface.perform("SetName", ["c", "Carl"], on: call.session)
    }
  }

  @Test func whatTheOtherSideSaysOfItsDevicesIsToldAndFollowed() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    try await started(call)
    _ = try interface.perform("SetCameraState", ["a", "off"], on: call.session)
    _ = try interface.perform("SetMicrophoneState", ["b", "on"], on: call.session)
    let properties = interface.values(of: call.session)
    #expect(properties["Cameras"] == .dictionary(of: "s", ["a": .string("off"), "b": .string("on")]))
    #expect(properties["Microphones"] == .dictionary(of: "s", ["a": .string("unknown"), "b": .string("on")]))
    #expect(await eventually { call.session.pictureInPictureStreamID == "b" })
    let known: [StreamID] = ["a", "b"]
    for method in ["SetCameraState", "SetMicrophoneState"] {
      #expect(throws: PipSinkError.stream(.unknown("c", known: known))) {
        try interface.perform(method, ["c", "on"], on: call.session)
      }
      #expect(throws: PipSinkError.system(.invalidArgument("state", reason: "\"dim\" is not one of unknown, on, off")))
      {
        try interface.perform(method, ["a", "dim"], on: call.session)
      }
    }
  }

  @Test func whatIsShownOfAParticipantIsSaid() throws {
    let call = try Call()
    let interface = BusInterface.session()
    for quality in ConnectionQuality.allCases {
      _ = try interface.perform("SetConnectionQuality", ["a", .string(quality.rawValue)], on: call.session)
      #expect(call.session.participant(of: "a").connectionQuality == quality)
    }
    _ = try interface.perform("SetMirrored", ["a", .bool(true)], on: call.session)
    #expect(call.session.isMirrored("a") && !call.session.isMirrored("b"))
    for text in ["one\ntwo", ""] {
      _ = try interface.perform("SetCaption", ["a", .string(text)], on: call.session)
      #expect(call.session.participant(of: "a").caption == text)
    }
    let folder = try TemporaryFolder()
    let image = BGRAImage(size: PictureSize(width: 2, height: 2), bytes: [UInt8](repeating: 255, count: 16))
    try image.writePNG(to: folder.path("anna.png"))
    for (path, expected) in [(folder.path("anna.png"), image), ("", nil)] {
      _ = try interface.perform("SetImage", ["a", .string(path)], on: call.session)
      #expect(call.session.participant(of: "a").image == expected)
    }
    for (method, value) in [
      ("SetConnectionQuality", BusValue.string("good")), ("SetMirrored", .bool(true)), ("SetCaption", "hello"),
      ("SetImage", ""),
    ] {
      #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) {
        try interface.perform(method, ["c", value], on: call.session)
      }
    }
  }

  @Test func howPicturesAreFittedIsSaidForTheAppAndForPictureInPicture() throws {
    let call = try Call()
    let interface = BusInterface.session()
    _ = try interface.perform("SetGravity", ["a", "resizeAspectFill"], on: call.session)
    _ = try interface.perform("SetPictureInPictureGravity", ["resize"], on: call.session)
    #expect(call.session.layer(of: "a")?.videoGravity == .resizeAspectFill)
    #expect(call.session.layer(of: "b")?.videoGravity == .resizeAspect)
    #expect(call.session.controller.displayLayer.videoGravity == .resize)
    #expect(throws: PipSinkError.self) { try interface.perform("SetGravity", ["a", "fit"], on: call.session) }
    #expect(throws: PipSinkError.self) { try interface.perform("SetGravity", ["c", "resize"], on: call.session) }
  }

  @Test func howTheWindowKeepsOutOfTheWayIsSaid() throws {
    let call = try Call()
    let interface = BusInterface.session()
    let values = {
      ["Opacity", "ClickThrough", "StepsAside"].map {
        interface.values(of: call.session)["PictureInPicture\($0)"]
      }
    }
    #expect(values() == [.double(1), .bool(false), .bool(false)])
    _ = try interface.perform("SetPictureInPictureOpacity", [.double(0.5)], on: call.session)
    _ = try interface.perform("SetPictureInPictureClickThrough", [.bool(true)], on: call.session)
    #expect(values() == [.double(0.5), .bool(true), .bool(false)])
    _ = try interface.perform("SetPictureInPictureClickThrough", [.bool(false)], on: call.session)
    _ = try interface.perform("SetPictureInPictureStepsAside", [.bool(true)], on: call.session)
    #expect(values() == [.double(0.5), .bool(false), .bool(true)])
  }

  @Test func theVersionTheSoundAndTheWindowsShapeAreTold() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    #expect(interface.values(of: call.session)["Version"] == .string(PipSink.version))
    for isMuted in [true, false] {
      _ = try interface.perform("SetMuted", [.bool(isMuted)], on: call.session)
      #expect(call.session.isMuted == isMuted && interface.values(of: call.session)["Muted"] == .bool(isMuted))
    }
    #expect(interface.values(of: call.session)["PictureInPictureAspectRatio"] == .double(0))
    try await started(call)
    let picture = try PlainFrame.make([255, 255, 255]).pixelBuffer.size
    let ratio = Double(picture.width) / Double(picture.height)
    #expect(interface.values(of: call.session)["PictureInPictureAspectRatio"] == .double(ratio))
  }

  @Test func theWindowsShapeIsSaidAndGivenBackToTheStream() async throws {
    let call = try Call()
    let interface = BusInterface.session()
    let ratio = { interface.values(of: call.session)["PictureInPictureAspectRatio"] }
    try await started(call)
    let ofStream = ratio()
    #expect(
      try interface.perform("SetPictureInPictureAspectRatio", [.unsigned32(4), .unsigned32(1)], on: call.session) == [])
    #expect(ratio() == .double(4) && call.window.presentation?.aspectRatio == 4)
    for (width, height) in [(16, 0), (0, 9), (32768, 1)] as [(UInt32, UInt32)] {
      #expect(throws: PipSinkError.self) {
        try interface.perform(
          "SetPictureInPictureAspectRatio", [.unsigned32(width), .unsigned32(height)], on: call.session)
      }
      #expect(ratio() == .double(4))
    }
    _ = try interface.perform("SetPictureInPictureAspectRatio", [.unsigned32(0), .unsigned32(0)], on: call.session)
    #expect(ratio() == ofStream)
  }

  @Test func initSaysWhyThereCanBeNone() throws {
    let call = try Call()
    let interface = BusInterface.session()
    #expect(try interface.perform("Init", [], on: call.session) == [])
    call.window.unsupportedReason = "told to"
    #expect(throws: PipSinkError.pictureInPicture(.unsupported(reason: "told to"))) {
      try interface.perform("Init", [], on: call.session)
    }
  }

  @Test func afterAnErrorOfSetUpNothingIsEnabledUntilInitSucceeds() throws {
    let call = try Call(unsupportedReason: "told to")
    let interface = BusInterface.session()
    #expect(throws: PipSinkError.pictureInPicture(.refusal(of: .enableWhenBackground, in: .error))) {
      try interface.perform("EnableWhenBackground", [], on: call.session)
    }
    _ = try interface.perform("CancelBackground", [], on: call.session)
    call.window.unsupportedReason = nil
    _ = try interface.perform("Init", [], on: call.session)
    #expect(interface.values(of: call.session)["PictureInPictureState"] == .string("Initialized"))
    _ = try interface.perform("EnableWhenBackground", [], on: call.session)
    #expect(interface.values(of: call.session)["PictureInPictureState"] == .string("BackgroundPIP"))
  }

  @Test func streamsAreStartedFromDescriptionsOrURIs() throws {
    #expect(StreamSource("videotestsrc uri=http://x ! appsink") == .description("videotestsrc uri=http://x ! appsink"))
    #expect(StreamSource("rtsp://host/x") == .uri("rtsp://host/x"))
    let call = try Call()
    let interface = BusInterface.session()
    _ = try interface.perform("StartPlayingStream", ["c", "videotestsrc ! appsink name=v"], on: call.session)
    _ = try interface.perform("StartPlayingStream", ["d", "file:///nowhere"], on: call.session)
    #expect(call.session.streams.map(\.id) == ["a", "b", "c", "d"])
    for id in ["c", "d", "a"] as [BusValue] { _ = try interface.perform("StopPlayingStream", [id], on: call.session) }
    #expect(call.session.streams.map(\.id) == ["b"])
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["b"]))) {
      try interface.perform("StopPlayingStream", ["c"], on: call.session)
    }
  }

  @Test func argumentsHaveTheirLimits() throws {
    let call = try Call([])
    let play = { (id: String, source: String) in
      try BusInterface.session().perform("StartPlayingStream", [.string(id), .string(source)], on: call.session)
    }
    let longest = (String(repeating: "x", count: 255), String(repeating: "y", count: 65_536))
    for (id, source) in [
      (longest.0 + "x", "y"), ("", "y"), ("x", ""), ("x\u{1B}", "y"), ("\u{9B}x", "y"), ("x", longest.1 + "y"),
    ] {
      #expect("\(id.count), \(source.count)") { try play(id, source) } throws: { error in
        if case PipSinkError.system(.invalidArgument)? = error as? PipSinkError { true } else { false }
      }
    }
    // An element with this name does not exist, but the length of the name is allowed.
    #expect { try play(longest.0, longest.1) } throws: { error in
      if case PipSinkError.pipeline? = error as? PipSinkError { true } else { false }
    }
    #expect(call.session.streams.isEmpty)
  }

  /// Arguments that make no sense, at least one list for each argument of a method that can be wrong.
  nonisolated private static let badArguments: [(method: String, arguments: [BusValue])] = [
    ("Enable", [""]), ("SetSource", ["\u{7F}"]), ("SetSecondStream", ["tab\there"]),
    ("StartPlayingStream", ["", "videotestsrc ! appsink"]), ("StartPlayingStream", ["c", ""]),
    ("StopPlayingStream", [""]), ("SetCameraState", ["", "on"]), ("SetCameraState", ["a", "dim"]),
    ("SetMicrophoneState", ["", "on"]), ("SetMicrophoneState", ["a", "loud"]), ("SetGravity", ["", "resize"]),
    ("SetPictureInPictureAllowed", ["", .bool(true)]),
    ("SetScreenShare", ["", .bool(true)]), ("SetGravity", ["a", "fit"]), ("SetPictureInPictureGravity", ["fit"]),
    ("SetConnectionQuality", ["", "good"]), ("SetConnectionQuality", ["a", "bad"]), ("SetImage", ["", "/nowhere.png"]),
    ("SetMirrored", ["", .bool(true)]),
    ("SetCaption", ["", "text"]), ("SetPictureInPictureControls", ["call;vote"]),
    ("UsePictureInPictureControl", ["vote"]), ("SetPictureInPictureOpacity", [.double(0.05)]),
    ("SetPictureInPictureOpacity", [.double(.nan)]), ("SetPictureInPictureOpacity", [.double(1.5)]),
    ("SetName", ["", "Anna"]), ("SetPictureInPictureLayout", ["circle"]),
    ("SetPictureInPictureAspectRatio", [.unsigned32(0), .unsigned32(9)]),
    ("SetPictureInPictureAspectRatio", [.unsigned32(16), .unsigned32(.max)]), ("SetProcessors", ["", "nv12"]),
    ("SetProcessors", ["a", "sepia"]), ("SetProcessors", ["a", "rotate:45"]), ("SetProcessors", ["a", "nv12:1"]),
    ("EnableCustomVideoRender", [.bool(true), "cmyk"]), ("OpenUri", ["http://x"]),
  ]

  @Test(arguments: badArguments)
  func anArgumentThatMakesNoSenseIsInvalidAndChangesNothing(method: String, arguments: [BusValue]) throws {
    let call = try Call()
    let interfaces = [BusInterface.session(), .player()]
    let before = interfaces.map { $0.values(of: call.session) }
    let interface = try #require(interfaces.first { $0.methods.contains { $0.name == method } })
    #expect("\(method)") { try interface.perform(method, arguments, on: call.session) } throws: { error in
      (error as? PipSinkError)?.busName == "org.pipsink.Error.InvalidArgument"
    }
    #expect(interfaces.map { $0.values(of: call.session) } == before)
    #expect(call.session.processors(of: "a").isEmpty)
  }

  @Test func everyMethodIsTriedWithArgumentsThatMakeNoSense() {
    let methods = [BusInterface.session(), .player(), .mediaPlayer(identity: "", quit: nil)].flatMap(\.methods)
    let tried = Set(Self.badArguments.map(\.method))
    let others = methods.filter { !$0.inputs.isEmpty && !tried.contains($0.name) }.map(\.name)
    // Every boolean and every number of retries makes sense, and MPRIS ignores positions outside of a stream.
    #expect(
      others == [
        "SetPictureInPictureClickThrough", "SetPictureInPictureStepsAside", "SetMuted", "SetPictureInPictureRetries",
        "Seek", "SetPosition",
      ])
  }

  @Test func statisticsAreThoseOfTheStreamsThatThereAre() throws {
    let call = try Call()
    try call.session.removeStream("b")
    _ = try call.session.addInput("silent", stallTimeout: nil)
    guard case .dictionary("a{sv}", let streams) = call.session.statistics(with: FrameTally()) else {
      return #expect(Bool(false))
    }
    #expect(streams.keys.sorted() == ["a", "silent"])
    guard case .dictionary("v", let values)? = streams["a"] else { return #expect(Bool(false)) }
    #expect(values["Received"] == .variant(.unsigned(1)) && values["InApp"] == .variant(.unsigned(1)))
    #expect(values["PictureInPicture"] == .variant(.unsigned(0)) && values["Replaced"] == .variant(.unsigned(0)))
    #expect(values["IntervalMedian"] == nil, "one frame has no interval")
  }

  @Test func theMedianAndTheLongestIntervalsAreInMilliseconds() {
    var (statistics, shown) = (StreamStatistics(), PresentationTally.Counts())
    // The intervals are 20 ms, except for three of 50 ms among a hundred.
    var time: UInt64 = 1_000_000_000
    for number in 0...100 {
      statistics.countFrame(to: number < 40 ? .inApp : .pictureInPicture, at: MonotonicTime(nanoseconds: time))
      time += number % 40 == 20 ? 50_000_000 : 20_000_000
    }
    func values(_ shown: PresentationTally.Counts) -> [String: BusValue] {
      RenderStatistics("a", statistics, shown, lastHandover: nil, info: nil, processing: nil).busValues
    }
    #expect(values(shown)["ScreenLatencyMedian"] == nil && values(shown)["MissedRefreshes"] == nil)
    for milliseconds: UInt64 in [16, 16, 32] { shown.screenLatencies.record(nanoseconds: milliseconds * 1_000_000) }
    (shown.missedRefreshes, shown.drawnByOpenGL, shown.drawnByDisplayServer) = (7, 8, 9)
    let values = values(shown)
    guard case .double(let screen)? = values["ScreenLatencyMedian"],
      case .double(let late)? = values["ScreenLatencyP99"]
    else {
      return #expect(Bool(false))
    }
    // The histogram has two digits.
    #expect(abs(screen - 16) < 0.2 && abs(late - 32) < 0.4, "\(screen), \(late)")
    #expect(values["MissedRefreshes"] == .unsigned(7))
    #expect(values["DrawnByOpenGL"] == .unsigned(8) && values["DrawnByDisplayServer"] == .unsigned(9))
    #expect(values["Received"] == .unsigned(101) && values["InApp"] == .unsigned(40))
    #expect(values["PictureInPicture"] == .unsigned(61))
    guard case .double(let median)? = values["IntervalMedian"], case .double(let longest)? = values["IntervalP99"]
    else {
      return #expect(Bool(false))
    }
    #expect(abs(median - 20) < 1 && abs(longest - 50) < 2, "\(median), \(longest)")
  }

  @Test func howOftenAWindowIsTriedAgainIsSaidOnTheBus() throws {
    let call = try Call()
    let interface = BusInterface.session()
    let retries = { interface.values(of: call.session)["PictureInPictureRetries"] }
    #expect(retries() == .unsigned32(5))
    _ = try interface.perform("SetPictureInPictureRetries", [.unsigned32(0)], on: call.session)
    #expect(retries() == .unsigned32(0))
    #expect(call.session.controller.configuration.retryPolicy?.pause(before: 1) == nil)
    _ = try interface.perform("SetPictureInPictureRetries", [.unsigned32(2)], on: call.session)
    #expect(call.session.controller.configuration.retryPolicy?.pause(before: 2) != nil)
    #expect(call.session.controller.configuration.retryPolicy?.pause(before: 3) == nil)
  }

  @Test func processorsAreNamedOnTheBus() throws {
    let call = try Call()
    let interface = BusInterface.session()
    _ = try interface.perform("SetProcessors", ["a", "grayscale, rotate:90"], on: call.session)
    let names = { (id: StreamID) in call.session.processors(of: id).map { "\(type(of: $0))" } }
    #expect(names("a") == ["GrayscaleProcessor", "RotationProcessor"] && names("b") == [])
    #expect(throws: PipSinkError.self) { try interface.perform("SetProcessors", ["a", "nonsense"], on: call.session) }
    #expect(names("a").count == 2, "a call that fails changes nothing")
    _ = try interface.perform("SetProcessors", ["a", ""], on: call.session)
    #expect(names("a") == [])
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) {
      try interface.perform("SetProcessors", ["c", "grayscale"], on: call.session)
    }
  }

  // MARK: - Media players

  @Test func aPlayerPlaysIsPausedOrStopped() throws {
    let call = try Call()
    let player = BusInterface.player()
    let perform = { (method: String) in
      _ = try player.perform(method, [], on: call.session)
      return player.values(of: call.session)["PlaybackStatus"]
    }
    #expect(player.values(of: call.session)["PlaybackStatus"] == .string("Playing"))
    #expect(try perform("Pause") == .string("Paused") && call.session.isPaused)
    #expect(try perform("Pause") == .string("Paused"))
    #expect(try perform("PlayPause") == .string("Playing") && !call.session.isPaused)
    #expect(try perform("PlayPause") == .string("Paused"))
    #expect(try perform("Play") == .string("Playing") && !call.session.isPaused)
    #expect(try perform("Stop") == .string("Stopped") && call.session.isPaused)
    #expect(try perform("Play") == .string("Playing"))
    // Its state is now paused, and no longer stopped.
    #expect(try perform("Pause") == .string("Paused"))
  }

  @Test func aFilmThatHasEndedIsStoppedAndPlaysAgainFromWhereItIsAskedTo() async throws {
    let folder = try TemporaryFolder()
    try TestFrame.run(
      "videotestsrc num-buffers=15 ! video/x-raw,width=16,height=16,framerate=30/1 ! jpegenc ! matroskamux "
        + "! filesink location=\(folder.path("film.mkv"))")
    let call = try Call([])
    let (session, player) = (call.session, BusInterface.player())
    let seeks = Locked<[MediaTime]>([])
    session.observeEvents { event in if case .seeked(_, let time) = event { seeks.withLock { $0.append(time) } } }
    try session.startStream(
      "film", from: .text("filesrc location=\(folder.path("film.mkv")) ! matroskademux ! jpegdec ! appsink"))
    let value = { (name: String) in player.values(of: session)[name] }
    #expect(await eventually { value("CanSeek") == .bool(true) })
    #expect(value("PlaybackStatus") == .string("Playing"))
    let (track, half): (BusValue, BusValue) = (.objectPath("/org/pipsink/stream/66696c6d"), .signed(250_000))
    let calls: [(method: String, arguments: [BusValue], time: Double)] = [
      ("Play", [], 0), ("PlayPause", [], 0), ("SetPosition", [track, half], 0.25), ("Seek", [.signed(-250_000)], 0.25),
    ]
    for (number, (method, arguments, time)) in calls.enumerated() {
      #expect(await eventually { value("PlaybackStatus") == .string("Stopped") }, "\(method)")
      #expect(value("CanPlay") == .bool(true) && value("CanPause") == .bool(false) && value("CanSeek") == .bool(true))
      let position = try #require(player.properties.first { $0.name == "Position" })
      guard case .signed(let end) = await position.read(session) else { return #expect(Bool(false)) }
      #expect((400_000...600_000).contains(end), "\(method)")
      // These do nothing, since nothing plays, or the position is before the start or after the end.
      for (method, arguments) in [
        ("Pause", []), ("Stop", []), ("SetPosition", [track, .signed(5_000_000)]),
        ("SetPosition", [track, .signed(-250_000)]),
      ] {
        #expect(try player.perform(method, arguments, on: session) == [])
      }
      #expect(try player.perform(method, arguments, on: session) == [])
      #expect(!session.isPaused)
      // Seeks are carried out in their order.
      #expect(await eventually { seeks.withLock { $0.count } == number + 1 }, "\(method)")
      #expect(abs(seeks.withLock { $0.last?.seconds ?? -1 } - time) < 0.1, "\(method)")
      #expect(await eventually { session.playStates["film"] == .playing }, "\(method)")
    }
    await session.stop()
  }

  @Test func whatHasEndedForGoodCannotBePlayed() throws {
    let call = try Call(["a"])
    let player = BusInterface.player()
    for state in [StreamPlayState.ended, .failed(.stream(.endedUnexpectedly("a")))] {
      call.session.engine.setInput("a", to: state)
      let properties = player.values(of: call.session)
      #expect(properties["PlaybackStatus"] == .string("Stopped"))
      for name in ["CanPlay", "CanPause", "CanSeek"] { #expect(properties[name] == .bool(false), "\(name)") }
    }
    call.session.engine.setInput("a", to: .playing)
    #expect(player.values(of: call.session)["PlaybackStatus"] == .string("Playing"))
  }

  @Test func whatWasStoppedBeginsAtItsStart() async throws {
    let folder = try TemporaryFolder()
    try TestFrame.run(
      "videotestsrc num-buffers=900 ! video/x-raw,width=16,height=16,framerate=30/1 ! jpegenc ! matroskamux "
        + "! filesink location=\(folder.path("film.mkv"))")
    let call = try Call([])
    let (session, player) = (call.session, BusInterface.player())
    let seeks = Locked<[MediaTime]>([])
    session.observeEvents { event in if case .seeked(_, let time) = event { seeks.withLock { $0.append(time) } } }
    try session.startStream(
      "film", from: .text("filesrc location=\(folder.path("film.mkv")) ! matroskademux ! jpegdec ! appsink"))
    #expect(await eventually { player.values(of: session)["CanSeek"] == .bool(true) })
    for method in ["Play", "PlayPause"] {
      _ = try player.perform("Stop", on: session)
      #expect(player.values(of: session)["PlaybackStatus"] == .string("Stopped") && session.isPaused)
      _ = try player.perform(method, on: session)
      #expect(player.values(of: session)["PlaybackStatus"] == .string("Playing"))
    }
    // What was only paused goes on where it is.
    for method in ["Pause", "Play", "PlayPause", "PlayPause"] { _ = try player.perform(method, on: session) }
    session.skip("film", to: MediaTime(seconds: 7))
    #expect(await eventually { seeks.withLock { $0.map(\.seconds) } == [0, 0, 7] })
    await session.stop()
  }

  @Test func duringAnInterruptionEveryPlayButtonGoesOnAndThenPauses() async throws {
    let call = try Call()
    try await started(call)
    let (session, player) = (call.session, BusInterface.player())
    let status = { player.values(of: session)["PlaybackStatus"] }
    let buttons: [(String, @MainActor () throws -> Void)] = [
      ("media key", { _ = try player.perform("PlayPause", on: session) }),
      ("key", { call.display.eventHandler?(.key(" ")) }),
      ("window", { call.window.eventHandler?(.action(.playPause)) }),
    ]
    for (name, press) in buttons {
      session.engine.audioSession.beginInterruption(.pause)
      #expect(status() == .string("Paused") && !session.isPaused, "\(name)")
      try press()
      #expect(status() == .string("Playing") && !session.isPlaybackPaused, "\(name)")
      try press()
      #expect(status() == .string("Paused") && session.isPaused, "\(name)")
      session.engine.audioSession.endInterruption()
      #expect(status() == .string("Paused"), "\(name)")
      try press()
      #expect(status() == .string("Playing"), "\(name)")
    }
  }

  @Test func withoutStreamsAPlayerIsStoppedAndDoesNothing() throws {
    let call = try Call([])
    let player = BusInterface.player()
    for (method, arguments) in [
      ("Play", []), ("Pause", []), ("PlayPause", []), ("Stop", []), ("Next", []), ("Previous", []),
      ("Seek", [.signed(1)]), ("SetPosition", [.objectPath("/org/pipsink/stream/"), .signed(1)]),
    ] as [(String, [BusValue])] {
      #expect(try player.perform(method, arguments, on: call.session) == [])
      #expect(!call.session.isPaused, "\(method)")
    }
    let properties = player.values(of: call.session)
    #expect(properties["PlaybackStatus"] == .string("Stopped"))
    for name in ["CanPlay", "CanPause", "CanGoNext", "CanGoPrevious", "CanSeek"] {
      #expect(properties[name] == .bool(false), "\(name)")
    }
    #expect(
      properties["Metadata"]
        == .variants(["mpris:trackid": .objectPath("/org/mpris/MediaPlayer2/TrackList/NoTrack")]))
  }

  @Test func nextAndPreviousGoThroughTheStreamsInPictureInPicture() async throws {
    let call = try Call(["a", "b", "c"])
    let player = BusInterface.player()
    // Outside of picture-in-picture there is no current stream, so Next has no effect.
    _ = try player.perform("Next", [], on: call.session)
    #expect(call.session.controller.currentStreamID == "a")
    #expect(player.values(of: call.session)["CanGoNext"] == .bool(false))
    try await started(call)
    #expect(player.values(of: call.session)["CanGoNext"] == .bool(true))
    #expect(player.values(of: call.session)["CanGoPrevious"] == .bool(true))
    var seen: [StreamID] = []
    for method in ["Next", "Next", "Next", "Previous", "Previous"] {
      _ = try player.perform(method, [], on: call.session)
      seen.append(call.session.controller.currentStreamID)
    }
    #expect(seen == ["b", "c", "a", "c", "b"])
    _ = try player.perform("Stop", [], on: call.session)
    #expect(!call.window.isOpen)
  }

  @Test func nextPassesOverAStreamThatHasNoPictureYet() async throws {
    let call = try Call(["a", "b"])
    let player = BusInterface.player()
    let late = try call.session.addInput("late", stallTimeout: nil)
    call.session.engine.setInput("late", to: .playing)
    try await started(call)
    var seen: [StreamID] = []
    for _ in 0..<3 {
      _ = try player.perform("Next", [], on: call.session)
      seen.append(call.session.controller.currentStreamID)
    }
    #expect(seen == ["b", "a", "b"])
    try call.session.removeStream("a")
    #expect(call.window.presentation?.actions.contains(.nextStream) == false, "no other stream has a picture")
    late.push(try PlainFrame.make([255, 255, 255]).pixelBuffer)
    #expect(await eventually { call.window.presentation?.actions.contains(.nextStream) == true })
    _ = try player.perform("Next", [], on: call.session)
    #expect(call.session.controller.currentStreamID == "late")
  }

  @Test func theTrackIsTheStreamWithItsIDAsAPath() throws {
    let call = try Call(["a"])
    #expect(
      BusInterface.player().values(of: call.session)["Metadata"]
        == .variants(["mpris:trackid": .objectPath("/org/pipsink/stream/61"), "xesam:title": .string("a")]))
    try call.session.setName("Anna", of: "a")
    #expect(
      BusInterface.player().values(of: call.session)["Metadata"]
        == .variants(["mpris:trackid": .objectPath("/org/pipsink/stream/61"), "xesam:title": .string("Anna")]))
  }

  @Test func theVolumeIsTheOnlyPropertyThatCanBeSet() throws {
    let call = try Call()
    let interfaces = [BusInterface.player(), .session(), .mediaPlayer(identity: "", quit: nil)]
    let writable = interfaces.flatMap(\.properties).filter { $0.set != nil }
    #expect(writable.map(\.name) == ["Volume"])
    for (value, volume) in [(.double(0.25), 0.25), (.string("1"), 0.25), (.double(7), 1)] as [(BusValue, Double)] {
      writable.first?.set?(call.session, value)
      #expect(call.session.volume == volume && interfaces[0].values(of: call.session)["Volume"] == .double(volume))
    }
    #expect(throws: PipSinkError.self) { try interfaces[0].perform("OpenUri", ["http://x"], on: call.session) }
  }

  @Test(arguments: [false, true]) func anAppIsRaisedOnlyWhereItHasAWindow(canRaise: Bool) async throws {
    let call = try Call()
    if canRaise { call.display.presentHandler = { call.done.append("raise") } }
    let app = BusInterface.mediaPlayer(identity: "Call") { call.done.append("quit") }
    #expect(app.values(of: call.session)["CanQuit"] == .bool(true))
    #expect(
      BusInterface.mediaPlayer(identity: "Call", quit: nil).values(of: call.session)["CanQuit"] == .bool(false))
    #expect(app.values(of: call.session)["CanRaise"] == .bool(canRaise))
    #expect(app.values(of: call.session)["Identity"] == .string("Call"))
    _ = try app.perform("Raise", [], on: call.session)
    let isRaised = await eventually { !canRaise || call.done == ["raise"] }
    #expect(isRaised)
    #expect(call.done == (canRaise ? ["raise"] : []))
    _ = try app.perform("Quit", [], on: call.session)
    #expect(call.done.last == "quit")
  }

  // MARK: - Values

  @Test func valuesAreOfTheTypesThatTheDescriptionsSay() throws {
    let values: [BusValue] = [
      .string("é"), .objectPath("/a"), .bool(true), .unsigned(.max), .double(0.5), .strings([]), .strings(["x"]),
      .dictionary(of: "s", [:]), .variants(["k": .bool(false)]),
      .dictionary(of: "a{sv}", ["a": .variants(["n": .unsigned(3)])]),
    ]
    let variant = try #require(BusValue.makeTuple(values))
    defer { g_variant_unref(g_variant_ref_sink(variant)) }
    #expect(String(cString: g_variant_get_type_string(variant)) == "(sobtdasasa{ss}a{sv}a{sa{sv}})")
    let text = g_variant_print(variant, 0)
    defer { g_free(text) }
    #expect(
      text.map { String(cString: $0) }
        == "('é', '/a', true, 18446744073709551615, 0.5, [], ['x'], {}, {'k': <false>}, {'a': {'n': <uint64 3>}})")
  }

  @Test func theArgumentsOfACallKeepTheirTypes() {
    let read = { (text: String) -> [BusValue] in
      let variant = g_variant_parse(nil, text, nil, nil, nil)
      defer { if let variant { g_variant_unref(variant) } }
      return BusValue.children(of: variant)
    }
    #expect(
      read("('org.mpris.MediaPlayer2.Player', 'Volume', <0.5>)")
        == ["org.mpris.MediaPlayer2.Player", "Volume", .variant(.double(0.5))])
    #expect(
      read("(objectpath '/x', int64 -5, true, uint32 7)")
        == [.objectPath("/x"), .signed(-5), .bool(true), .unsigned32(7)])
    // Values of other types are left out: no member takes them.
    #expect(read("('a', <int16 3>, byte 1)") == ["a"])
    #expect(BusValue.children(of: nil) == [])
  }
}

extension BusValue: ExpressibleByStringLiteral {
  public init(stringLiteral text: String) { self = .string(text) }
}
