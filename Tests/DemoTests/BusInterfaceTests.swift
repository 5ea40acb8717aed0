import CGIO
import Testing

@testable import PipSink
@testable import PipSinkDBus

/// What the interfaces on the session bus tell of a session and do with it, without a bus.
@MainActor @Suite struct BusInterfaceTests {
  /// A call with streams "a" and "b".
  @MainActor
  private final class Session: ControllableSession {
    let router = FrameRouter()
    let window: OffscreenPictureInPictureWindow
    let controller: PictureInPictureController
    var streamStates: [StreamID: StreamPlayState] = [:]
    var isPaused = false
    var volume = 1.0
    var canRaise = false
    private(set) var done: [String] = []

    init(_ ids: [StreamID] = ["a", "b"], unsupportedReason: String? = nil) throws {
      window = try OffscreenPictureInPictureWindow()
      window.unsupportedReason = unsupportedReason
      controller = PictureInPictureController(
        contentSource: ContentSource(router: router, streamID: "a"), window: window)
      for id in ids {
        router.addStream(id, inApp: nil).consume(try PlainFrame.make([255, 255, 255]))
        streamStates[id] = .playing
        controller.streamSelector.add(id)
      }
    }

    func startPlayingStream(_ id: StreamID, from description: PipelineDescription) throws(PipSinkError) {
      if case .text(let text) = description { done.append("start \(id) from \(text)") }
    }
    func startPlayingStream(_ id: StreamID, uri: String) throws(PipSinkError) { done.append("start \(id) at \(uri)") }
    func stopPlayingStream(_ id: StreamID) throws(PipSinkError) { done.append("stop \(id)") }
    func raise() { done.append("raise") }
    func quit() { done.append("quit") }
  }

  private func started(_ session: Session) async throws {
    try session.controller.start()
    #expect(try await eventually { session.controller.isActive })
  }

  // MARK: - org.pipsink.Session1

  @Test func theStateIsThatOfAllStreams() throws {
    let session = try Session()
    let interface = SessionInterface()
    let state = { interface.properties(of: session)["State"] }
    #expect(state() == .string("playing"))
    session.isPaused = true
    #expect(state() == .string("paused"))
    session.streamStates = [:]
    #expect(state() == .string("idle"))
  }

  @Test func theErrorsAreThoseOfStreamsThatFail() throws {
    let session = try Session([])
    let (lost, away) = (PipSinkError.sourceNotReady("x"), PipSinkError.sourceNotReady("y"))
    session.streamStates = [
      "good": .playing, "over": .ended, "slow": .stalled, "lost": .failed(lost),
      "away": .reconnecting(attempt: 2, pause: 1, after: away),
    ]
    let properties = SessionInterface().properties(of: session)
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
    let session = try Session()
    let interface = SessionInterface()
    let isThere = { try interface.perform("IsInPictureInPicture", [], on: session) == [.bool(true)] }
    #expect(try !isThere())
    #expect(interface.properties(of: session)["PictureInPictureStream"] == .string(""))
    _ = try interface.perform("Enable", ["b"], on: session)
    #expect(try await eventually { session.controller.isActive })
    #expect(try isThere())
    #expect(interface.properties(of: session)["PictureInPictureStream"] == .string("b"))
    #expect(interface.properties(of: session)["PictureInPictureState"] == .string("PIPActive"))
    // Another one while it is there goes on in the same window.
    _ = try interface.perform("Enable", ["a"], on: session)
    #expect(session.controller.isActive && session.window.presentation?.streamID == "a")
    _ = try interface.perform("Stop", [], on: session)
    #expect(try !isThere() && !session.window.isOpen)
    _ = try interface.perform("SetSource", ["b"], on: session)
    #expect(!session.window.isOpen && session.controller.currentStreamID == "b")
  }

  @Test func pictureInPictureOfAnAppInTheBackgroundIsThereToo() async throws {
    let session = try Session()
    let interface = SessionInterface()
    _ = try interface.perform("EnableWhenBackground", [], on: session)
    session.controller.applicationDidEnterBackground()
    #expect(try await eventually { session.controller.isActive })
    let properties = interface.properties(of: session)
    #expect(properties["PictureInPictureState"] == .string("AppMinimized"))
    #expect(properties["PictureInPictureStream"] == .string("a"))
    _ = try interface.perform("Stop", [], on: session)
    _ = try interface.perform("CancelBackground", [], on: session)
    #expect(session.controller.state == .initialized)
  }

  @Test func initSaysWhyThereCanBeNone() throws {
    let session = try Session()
    let interface = SessionInterface()
    #expect(try interface.perform("Init", [], on: session) == [])
    session.window.unsupportedReason = "told to"
    #expect(throws: PipSinkError.pictureInPictureUnsupported(reason: "told to")) {
      try interface.perform("Init", [], on: session)
    }
  }

  @Test func afterAnErrorOfSetUpNothingIsEnabledUntilInitSucceeds() throws {
    let session = try Session(unsupportedReason: "told to")
    let interface = SessionInterface()
    #expect(throws: PipSinkError.illegalTransition(state: .error, trigger: .enableWhenBackground)) {
      try interface.perform("EnableWhenBackground", [], on: session)
    }
    _ = try interface.perform("CancelBackground", [], on: session)
    session.window.unsupportedReason = nil
    _ = try interface.perform("Init", [], on: session)
    #expect(interface.properties(of: session)["PictureInPictureState"] == .string("Initialized"))
    _ = try interface.perform("EnableWhenBackground", [], on: session)
    #expect(interface.properties(of: session)["PictureInPictureState"] == .string("BackgroundPIP"))
  }

  @Test func streamsAreStartedFromDescriptionsOrURIs() throws {
    let session = try Session()
    let interface = SessionInterface()
    _ = try interface.perform("StartPlayingStream", ["c", "videotestsrc uri=http://x ! appsink name=v"], on: session)
    _ = try interface.perform("StartPlayingStream", ["d", "rtsp://host/x"], on: session)
    _ = try interface.perform("StopPlayingStream", ["c"], on: session)
    #expect(
      session.done == [
        "start c from videotestsrc uri=http://x ! appsink name=v", "start d at rtsp://host/x", "stop c",
      ])
  }

  @Test func argumentsHaveTheirLimits() throws {
    let session = try Session()
    let start = { (id: String, source: String) in
      _ = try SessionInterface().perform("StartPlayingStream", [id, source], on: session)
    }
    try start(String(repeating: "x", count: 255), String(repeating: "y", count: 65_536))
    #expect(session.done.count == 1)
    for (id, source) in [
      (String(repeating: "x", count: 256), "y"), ("", "y"), ("x", ""), ("x\u{1B}", "y"), ("\u{9B}x", "y"),
      ("x", String(repeating: "y", count: 65_537)),
    ] {
      #expect(throws: PipSinkError.self) { try start(id, source) }
    }
    #expect(session.done.count == 1)
  }

  @Test func statisticsAreThoseOfTheStreamsThatThereAre() throws {
    let session = try Session()
    session.streamStates["b"] = nil
    session.streamStates["unknown"] = .requesting
    guard case .dictionary("a{sv}", let streams) = SessionInterface.statistics(of: session) else {
      return #expect(Bool(false))
    }
    #expect(Array(streams.keys) == ["a"])
    guard case .dictionary("v", let values)? = streams["a"] else { return #expect(Bool(false)) }
    #expect(values["Received"] == .variant(.unsigned(1)) && values["InApp"] == .variant(.unsigned(1)))
    #expect(values["PictureInPicture"] == .variant(.unsigned(0)) && values["Replaced"] == .variant(.unsigned(0)))
    #expect(values["IntervalMedian"] == nil, "there is none of one frame")
  }

  @Test func theMedianAndTheLongestIntervalsAreInMilliseconds() {
    var statistics = StreamStatistics()
    // A frame every 20 ms, and three times 50 ms among a hundred.
    var time: UInt64 = 1_000_000_000
    for number in 0...100 {
      statistics.countFrame(to: number < 40 ? .inApp : .pictureInPicture, at: MonotonicTime(nanoseconds: time))
      time += number % 40 == 20 ? 50_000_000 : 20_000_000
    }
    let values = statistics.busValues
    #expect(values["Received"] == .unsigned(101) && values["InApp"] == .unsigned(40))
    #expect(values["PictureInPicture"] == .unsigned(61))
    guard case .double(let median)? = values["IntervalMedian"], case .double(let longest)? = values["IntervalP99"]
    else {
      return #expect(Bool(false))
    }
    #expect(abs(median - 20) < 1 && abs(longest - 50) < 2, "\(median), \(longest)")
  }

  // MARK: - Media players

  @Test func aPlayerPlaysIsPausedOrStopped() throws {
    let session = try Session()
    let player = PlayerInterface()
    let perform = { (method: String) in
      _ = try player.perform(method, [], on: session)
      return player.properties(of: session)["PlaybackStatus"]
    }
    #expect(player.properties(of: session)["PlaybackStatus"] == .string("Playing"))
    #expect(try perform("Pause") == .string("Paused") && session.isPaused)
    #expect(try perform("Pause") == .string("Paused"))
    #expect(try perform("PlayPause") == .string("Playing") && !session.isPaused)
    #expect(try perform("PlayPause") == .string("Paused"))
    #expect(try perform("Play") == .string("Playing") && !session.isPaused)
    #expect(try perform("Stop") == .string("Stopped") && session.isPaused)
    #expect(try perform("Play") == .string("Playing"))
    // It is paused now, not stopped as it was before.
    #expect(try perform("Pause") == .string("Paused"))
  }

  @Test func withoutStreamsAPlayerIsStoppedAndDoesNothing() throws {
    let session = try Session([])
    let player = PlayerInterface()
    for method in ["Play", "Pause", "PlayPause", "Stop", "Next", "Previous", "Seek", "SetPosition"] {
      #expect(try player.perform(method, [], on: session) == [])
      #expect(!session.isPaused, "\(method)")
    }
    let properties = player.properties(of: session)
    #expect(properties["PlaybackStatus"] == .string("Stopped"))
    for name in ["CanPlay", "CanPause", "CanGoNext", "CanGoPrevious", "CanSeek"] {
      #expect(properties[name] == .bool(false), "\(name)")
    }
    #expect(
      properties["Metadata"]
        == .variants(["mpris:trackid": .objectPath("/org/mpris/MediaPlayer2/TrackList/NoTrack")]))
  }

  @Test func nextAndPreviousGoThroughTheStreamsInPictureInPicture() async throws {
    let session = try Session(["a", "b", "c"])
    let player = PlayerInterface()
    // Outside of picture-in-picture there is nothing to go on from.
    _ = try player.perform("Next", [], on: session)
    #expect(session.controller.currentStreamID == "a")
    #expect(player.properties(of: session)["CanGoNext"] == .bool(false))
    try await started(session)
    #expect(player.properties(of: session)["CanGoNext"] == .bool(true))
    #expect(player.properties(of: session)["CanGoPrevious"] == .bool(true))
    var seen: [StreamID] = []
    for method in ["Next", "Next", "Next", "Previous", "Previous"] {
      _ = try player.perform(method, [], on: session)
      seen.append(session.controller.currentStreamID)
    }
    #expect(seen == ["b", "c", "a", "c", "b"])
    _ = try player.perform("Stop", [], on: session)
    #expect(!session.window.isOpen)
  }

  @Test func theTrackIsTheStreamWithItsIDAsAPath() throws {
    let session = try Session(["a"])
    #expect(
      PlayerInterface().properties(of: session)["Metadata"]
        == .variants(["mpris:trackid": .objectPath("/org/pipsink/stream/61"), "xesam:title": .string("a")]))
  }

  @Test func theVolumeIsTheOnlyPropertyThatCanBeSet() throws {
    let session = try Session()
    let player = PlayerInterface()
    player.setProperty("Volume", to: 0.25, of: session)
    #expect(session.volume == 0.25 && player.properties(of: session)["Volume"] == .double(0.25))
    player.setProperty("Rate", to: 2, of: session)
    SessionInterface().setProperty("Volume", to: 1, of: session)
    #expect(session.volume == 0.25)
    #expect(throws: PipSinkError.self) { try player.perform("OpenUri", ["http://x"], on: session) }
  }

  @Test(arguments: [false, true]) func anAppIsRaisedOnlyWhereItHasAWindow(canRaise: Bool) throws {
    let session = try Session()
    session.canRaise = canRaise
    let app = MediaPlayerInterface(identity: "Call")
    #expect(app.properties(of: session)["CanRaise"] == .bool(canRaise))
    #expect(app.properties(of: session)["Identity"] == .string("Call"))
    _ = try app.perform("Raise", [], on: session)
    #expect(session.done == (canRaise ? ["raise"] : []))
    _ = try app.perform("Quit", [], on: session)
    #expect(session.done.last == "quit")
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

  @Test func aCallsStringsAndItsNumberAreTakenOutOfItsArguments() throws {
    let read = { (text: String) -> BusArguments in
      let variant = g_variant_parse(nil, text, nil, nil, nil)
      defer { if let variant { g_variant_unref(variant) } }
      return BusArguments(variant)
    }
    let set = read("('org.mpris.MediaPlayer2.Player', 'Volume', <0.5>)")
    #expect(set.strings == ["org.mpris.MediaPlayer2.Player", "Volume"] && set.number == 0.5)
    #expect(read("('a', <'text'>)").number == nil && read("('a', <int32 3>)").number == nil)
    let seek = read("(objectpath '/x', int64 5)")
    #expect(seek.strings == [] && seek.number == nil)
    #expect(BusArguments(nil).strings == [])
  }
}
