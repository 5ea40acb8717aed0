import Testing

@testable import PipSink
@testable import TestSupport

/// The controls of a picture-in-picture window, which the app gives as a list.
@MainActor @Suite(.timeLimit(.minutes(2))) struct PictureInPictureControlTests {
  /// A call with the user's own stream "me" and the remote one "anna", in picture-in-picture.
  private struct Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    let events = Locked<[String]>([])

    @MainActor
    init(_ controls: [PictureInPictureControl] = .call) async throws {
      display = try OffscreenDisplay()
      var configuration = PictureInPictureSession.Configuration()
      configuration.localStreamIDs = ["me"]
      configuration.pictureInPicture.controls = controls
      session = try PictureInPictureSession(display: display, configuration: configuration)
      session.observeEvents { [events] event in
        if case .pictureInPicture(.action(let action), let id) = event {
          events.withLock { $0.append("\(action.name) of \(id)") }
        }
      }
      for id in ["anna", "me"] as [StreamID] {
        try session.addStream(id).consume(try PlainFrame.make([255, 255, 255]))
      }
      let controller = session.controller
      try session.startPictureInPicture("anna")
      #expect(await eventually { controller.isActive })
    }

    @MainActor var window: OffscreenPictureInPictureWindow { display.pictureInPictureWindow }
    /// The names of the controls, with the states that they show.
    @MainActor var controls: [String] {
      window.presentation?.controls.map { $0.action.name + ($0.isOn.map { $0 ? " on" : " off" } ?? "") } ?? []
    }
  }

  /// Somebody who sends the user's picture away, and what he was told of its devices.
  private final class Sender: StreamSender {
    private(set) var (isCameraOff, isMicrophoneOff) = (false, false)

    func setDevices(isCameraOff: Bool, isMicrophoneOff: Bool) {
      (self.isCameraOff, self.isMicrophoneOff) = (isCameraOff, isMicrophoneOff)
    }

    func streamWasRemoved() {}
    func sessionWillStop() -> [Completion<Void>] { [] }
  }

  @Test func theWindowHasTheControlsOfTheListInItsOrderAndCanAlwaysBeClosed() async throws {
    let call = try await Call([])
    let controller = call.session.controller
    #expect(call.controls == ["close"])
    controller.configuration.controls = [.mute, .close, .backToApp, .playPause, .mute].map { .init($0) }
    #expect(call.controls == ["mute off", "close", "backToApp", "playPause on"], "each once")
    // Without the control, a double click does nothing, either.
    controller.configuration.controls = [.init(.playPause)]
    call.window.perform(.backToApp)
    call.window.perform(.mute)
    #expect(controller.isActive && !call.session.isMuted)
    call.window.perform(.playPause)
    #expect(call.controls == ["playPause off", "close"])
    call.window.perform(.close)
    #expect(!call.window.isOpen)
  }

  @Test func whatOnlyAnAppCanDoIsOfferedWhereTheAppDoesIt() async throws {
    let vote = PictureInPictureControl(.custom("vote"), label: "Vote", isOn: true)
    let call = try await Call(.call + [vote])
    #expect(call.controls == ["changeLayout", "backToApp", "close"])
    var used: [String] = []
    call.session.actionHandlers = [
      .hangUp: { used.append("hangUp") }, .custom("vote"): { used.append("vote") }, .raiseHand: { used.append("hand") },
    ]
    #expect(call.controls == ["raiseHand", "hangUp", "changeLayout", "backToApp", "vote on", "close"])
    #expect(call.window.presentation?.controls[4] == vote)
    let actions: [PictureInPictureAction] = [.custom("vote"), .custom("other"), .camera, .hangUp]
    for action in actions { call.window.perform(action) }
    #expect(used == ["vote", "hangUp"])
    #expect(call.events.withLock { $0 } == ["vote of anna", "hangUp of anna"])
    call.session.actionHandlers[.hangUp] = nil
    #expect(call.controls == ["raiseHand", "changeLayout", "backToApp", "vote on", "close"])
  }

  @Test func theAppDoesInsteadOfTheSessionWhatItHandles() async throws {
    let call = try await Call(.player)
    var count = 0
    call.session.actionHandlers[.mute] = { count += 1 }
    call.window.perform(.mute)
    call.window.perform(.playPause)
    #expect(count == 1 && !call.session.isMuted && call.session.isPaused)
  }

  @Test func microphoneAndCameraAreSwitchedWhereThePictureOfTheUserIsSent() async throws {
    let call = try await Call()
    #expect(
      call.controls == ["changeLayout", "backToApp", "close"], "nothing is sent, so that switching would have no effect"
    )
    let sender = Sender()
    try call.session.add(sender, to: "anna")
    #expect(call.controls == ["changeLayout", "backToApp", "close"], "what is sent is not the user")
    try call.session.add(sender, to: "me")
    #expect(call.controls == ["microphone on", "camera on", "changeLayout", "backToApp", "close"])
    call.window.perform(.microphone)
    #expect(await eventually { sender.isMicrophoneOff })
    #expect(call.controls == ["microphone off", "camera on", "changeLayout", "backToApp", "close"])
    #expect(call.session.participant(of: "me").isMicrophoneOff && !call.session.participant(of: "anna").isMicrophoneOff)
    call.window.perform(.camera)
    #expect(await eventually { sender.isCameraOff })
    #expect(call.controls == ["microphone off", "camera off", "changeLayout", "backToApp", "close"])
    // The app says it by another way.
    try call.session.setMicrophoneState(.on, of: "me")
    #expect(await eventually { call.controls.first == "microphone on" })
    call.window.perform(.camera)
    #expect(await eventually { !sender.isCameraOff && !sender.isMicrophoneOff })
    // A screen is not the user.
    try call.session.setScreenShare(true, of: "me")
    #expect(call.controls == ["changeLayout", "backToApp", "close"])
    try call.session.setScreenShare(false, of: "me")
    call.session.remove(sender, from: "me")
    #expect(call.controls == ["changeLayout", "backToApp", "close"])
  }

  @Test func anAppThatSwitchesTheDevicesItselfSeesTheirStatesToo() async throws {
    let call = try await Call()
    let session = call.session
    session.actionHandlers[.microphone] = { [weak session] in try? session?.setMicrophoneState(.off, of: "me") }
    #expect(call.controls == ["microphone on", "changeLayout", "backToApp", "close"])
    call.window.perform(.microphone)
    #expect(await eventually { call.controls.first == "microphone off" })
    try session.removeStream("me")
    #expect(
      call.controls == ["microphone", "backToApp", "close"],
      "without a picture of the user nothing is known")
  }

  @Test func aListOfAnotherProgramIsOfferedWithoutHandlers() async throws {
    let call = try await Call(.player)
    call.session.offer(try .init(text: "call,+vote:Vote"))
    #expect(
      call.controls == [
        "microphone on", "camera on", "raiseHand", "hangUp", "changeLayout", "backToApp", "vote on", "close",
      ])
    for action in [PictureInPictureAction.microphone, .custom("vote")] { call.window.perform(action) }
    #expect(call.events.withLock { $0 } == ["microphone of anna", "vote of anna"])
    #expect(call.controls.first == "microphone on", "the other program has to do it")
    call.session.offer(.player)
    #expect(
      call.controls == [
        "previousStream", "playPause on", "nextStream", "mute off", "changeLayout", "backToApp", "close",
      ])
  }

  // MARK: - Lists as texts

  @Test(
    arguments: [
      ("", []), (" , ", []), ("player", .player), ("call", .call), ("mute,mute", [.init(.mute)]),
      ("call, vote", .call + [.init(.custom("vote"))]),
      ("hangUp:Leave:call-stop-symbolic", [.init(.hangUp, label: "Leave", icon: .named("call-stop-symbolic"))]),
      (
        "+vote:Vote: /icons/vote:1.svg",
        [.init(.custom("vote"), label: "Vote", icon: .named("/icons/vote:1.svg"), isOn: true)]
      ),
      ("-vote", [.init(.custom("vote"), isOn: false)]), ("a::b", [.init(.custom("a"), icon: .named("b"))]),
      ("- vote:\u{7}Ja\nNein\u{202e} ", [.init(.custom("vote"), label: "Ja Nein", isOn: false)]),
      ("vote:e\u{301}:", [.init(.custom("vote"), label: "e\u{301}")]),
    ] as [(String, [PictureInPictureControl])])
  func aListIsReadAndWritten(text: String, controls: [PictureInPictureControl]) throws {
    let read = try [PictureInPictureControl](text: text)
    #expect(read == controls)
    #expect(try [PictureInPictureControl](text: read.text) == read)
  }

  @Test(arguments: [
    "vote now", ":Vote", "+", "++vote", "vöte", "a\u{301}", "a=b", String(repeating: "a", count: 65),
    (0...20).map { "c\($0)" }.joined(separator: ","),
  ])
  func aListThatIsNoListIsRefused(text: String) throws {
    let error = #expect(throws: PipSinkError.self) { try [PictureInPictureControl](text: text) }
    #expect("\(try #require(error))".contains("controls"))
  }

  // MARK: - What only windows on a desktop do

  /// A window that counts what it is asked to do.
  private final class DesktopWindow: DesktopPictureInPictureHost {
    private let inMemory: OffscreenPictureInPictureWindow
    var renderer: any VideoRenderer { inMemory.renderer }
    let unsupportedReason: String? = nil
    var eventHandler: (@MainActor (PictureInPictureWindowEvent) -> Void)?
    private(set) var presentation: PictureInPicturePresentation?
    private(set) var changes = 0
    private(set) var isFullscreen = false
    var abilities: Set<PictureInPictureAction> = [.fullscreen, .changeSize, .clickThrough]

    init() throws { inMemory = try OffscreenPictureInPictureWindow() }

    func open(_ presentation: PictureInPicturePresentation) { self.presentation = presentation }
    func update(_ presentation: PictureInPicturePresentation) { self.presentation = presentation }
    func close() {}
    func toggleFullscreen() { isFullscreen.toggle() }
    func changeSize() { changes += 1 }
    var canHaveKeyboard = true
    func takeKeyboard() -> Bool { canHaveKeyboard }
    var focusedAction: PictureInPictureAction?
    var focusChanged: (@MainActor () -> Void)?
  }

  @Test func theKeyboardGoesToAWindowThatIsOpenAndCanHaveIt() async throws {
    let window = try DesktopWindow()
    let session = try PictureInPictureSession(display: LayerDisplay(pictureInPictureHost: window))
    #expect(
      throws: PipSinkError.pictureInPicture(.illegalTransition(state: .initialized, trigger: "User Focuses PIP"))
    ) { try session.perform(.focusPictureInPicture) }
    try session.startStream("a", from: "videotestsrc ! appsink name=a")
    #expect(await eventually { session.controller.isPossible })
    try session.startPictureInPicture("a")
    try session.perform(.focusPictureInPicture)
    window.canHaveKeyboard = false
    #expect(throws: PipSinkError.pictureInPicture(.unsupported(reason: "its window cannot have the keyboard"))) {
      try session.perform(.focusPictureInPicture)
    }
    await session.stop()
  }

  @Test func whatTheWindowDoesItselfIsOfferedWhereItCan() async throws {
    let window = try DesktopWindow()
    let session = try PictureInPictureSession(display: LayerDisplay(pictureInPictureHost: window))
    let controller = session.controller
    let all: [PictureInPictureAction] = [.fullscreen, .changeSize, .clickThrough]
    controller.configuration.controls = all.map { .init($0) }
    var events: [Bool] = []
    session.observeEvents { if case .pictureInPicture(.clickThroughChanged(let isOn), _) = $0 { events.append(isOn) } }
    try session.addStream("anna").consume(try PlainFrame.make([255, 255, 255]))
    try session.startPictureInPicture("anna")
    #expect(await eventually { controller.isActive })
    #expect(window.presentation?.controls.map(\.action) == all + [.close])
    #expect(window.presentation?.controls.map(\.isOn) == [false, nil, false, nil])
    for action in all { window.eventHandler?(.action(action)) }
    #expect(window.isFullscreen && window.changes == 1 && controller.configuration.isClickThrough)
    #expect(window.presentation?.isClickThrough == true)
    #expect(window.presentation?.controls.map(\.isOn) == [true, nil, true, nil])
    // The app gives no such control any more, but there is a way back.
    controller.configuration.controls = []
    #expect(window.presentation?.controls.map(\.action) == [.close, .clickThrough])
    window.eventHandler?(.action(.clickThrough))
    #expect(window.presentation?.controls.map(\.action) == [.close] && window.presentation?.isClickThrough == false)
    #expect(await eventually { events == [true, false] })
    // A window that cannot do it does not offer it.
    controller.configuration.controls = all.map { .init($0) }
    window.abilities = []
    controller.configuration.isClickThrough = true
    #expect(window.presentation?.controls.map(\.action) == [.close])
    controller.perform(.fullscreen)
    #expect(window.isFullscreen)
  }

  @Test(arguments: [(0.5, 0.5), (0, 0.1), (-1, 0.1), (7, 1), (.nan, 1), (.infinity, 1)] as [(Double, Double)])
  func theOpacityIsLimitedSoThatTheWindowCanBeFound(wanted: Double, opacity: Double) async throws {
    let call = try await Call()
    call.session.controller.configuration.opacity = wanted
    #expect(call.window.presentation?.opacity == opacity)
  }

  @Test func everyActionHasItsName() {
    let names = PictureInPictureAction.known.map(\.name)
    #expect(Set(names).count == names.count)
    #expect(names.map { PictureInPictureAction(name: $0) } == PictureInPictureAction.known)
    #expect(PictureInPictureAction(name: "vote") == .custom("vote") && PictureInPictureAction.custom("x").name == "x")
  }
}
