import Testing

@testable import PipSink
@testable import TestSupport

/// What a session shows about cameras and microphones that are off.
@MainActor @Suite(.timeLimit(.minutes(5))) struct StreamDeviceTests {
  @MainActor
  private final class Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    private var inputs: [StreamID: StreamInput] = [:]

    init(_ ids: [StreamID]) throws {
      display = try OffscreenDisplay()
      session = try PictureInPictureSession(display: display)
      for id in ids { inputs[id] = try session.addInput(id, stallTimeout: nil) }
    }

    func play() async throws {
      let picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
      for input in inputs.values { input.push(picture) }
      #expect(await eventually { self.inputs.keys.allSatisfy { self.session.playStates[$0] == .playing } })
    }

    /// Brings a stream into a state, and waits until the session knows it.
    func set(_ id: StreamID, _ state: StreamPlayState) async {
      session.engine.setInput(id, to: state)
      #expect(await eventually { self.session.playStates[id] == state })
    }

    func open(_ id: StreamID) async throws -> PictureInPicturePresentation {
      try session.startPictureInPicture(id)
      #expect(await eventually { self.session.controller.isActive })
      return try #require(presentation)
    }

    /// The streams of which the app's places say that the microphone is off.
    var microphonesOff: Set<StreamID> { Set(display.participants.filter(\.value.isMicrophoneOff).keys) }

    var presentation: PictureInPicturePresentation? { display.pictureInPictureWindow.presentation }
  }

  @Test func aCameraThatIsSaidToBeOffIsOffWhileNoFramesComeToo() async throws {
    let call = try Call(["a"])
    try await call.play()
    try call.session.setCameraState(.off, of: "a")
    #expect(await eventually { call.session.placeholder(of: "a") == .cameraOff })
    let states: [StreamPlayState] = [.stalled, .requesting, .playing, .stopped]
    for state in states {
      await call.set("a", state)
      #expect(call.session.placeholder(of: "a") == .cameraOff, "\(state)")
    }
    await call.set("a", .ended)
    #expect(call.session.placeholder(of: "a") == .ended, "a stream that has ended has no camera")
    await call.set("a", .playing)
    #expect(call.session.placeholder(of: "a") == .cameraOff)
    try call.session.setCameraState(.unknown, of: "a")
    #expect(await eventually { call.session.placeholder(of: "a") == nil })
  }

  @Test func aCameraThatIsOffIsNotSaidToBeReconnectingInPictureInPicture() async throws {
    let call = try Call(["a"])
    try await call.play()
    #expect(try await call.open("a").placeholder == nil)
    try call.session.setCameraState(.off, of: "a")
    #expect(await eventually { call.presentation?.placeholder == .cameraOff })
    await call.set("a", .stalled)
    #expect(call.presentation?.placeholder == .cameraOff)
    // The camera is on again, but its frames have not arrived yet.
    try call.session.setCameraState(.on, of: "a")
    #expect(await eventually { call.presentation?.placeholder == .reconnecting })
    await call.set("a", .playing)
    #expect(call.presentation?.places.map(\.placeholder) == [nil])
  }

  /// The stream stands still, so no other frame takes the picture's place.
  @Test(arguments: [false, true])
  func thePictureOfACameraThatGoesOffIsRemovedWhereverItIs(hasOwnWindow: Bool) async throws {
    let call = try Call(["a"])
    try await call.play()
    #expect(await eventually { call.display.image(of: "a") != nil })
    let controller = hasOwnWindow ? try call.session.addPictureInPictureWindow(for: "a") : call.session.controller
    try controller.start()
    #expect(await eventually { controller.isActive })
    let window = try #require(controller.window as? OffscreenPictureInPictureWindow)
    #expect(await eventually { window.image() != nil && call.display.image(of: "a") != nil })
    try call.session.setCameraState(.off, of: "a")
    #expect(await eventually { window.image() == nil && call.display.image(of: "a") == nil })
    // Nothing of it comes back with the camera, in the app neither.
    try call.session.setCameraState(.on, of: "a")
    #expect(await eventually { call.session.placeholder(of: "a") != .cameraOff })
    #expect(controller.displayLayer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(window.image() == nil && call.display.image(of: "a") == nil)
    controller.stop()
    #expect(await eventually { call.session.placeholder(of: "a") == nil })
  }

  @Test func thePictureInTheSecondHalfIsRemovedToo() async throws {
    let call = try Call(["a", "b"])
    try await call.play()
    try call.session.setSecondPictureInPictureStream("b")
    #expect(try await call.open("a").secondStreamID == "b")
    let half = try #require(call.session.controller.window.otherRenderers[0] as? OffscreenRenderer)
    #expect(await eventually { half.image() != nil })
    try call.session.setCameraState(.off, of: "b")
    #expect(await eventually { half.image() == nil && call.presentation?.secondStreamID == nil })
    try call.session.setCameraState(.on, of: "b")
    #expect(await eventually { call.presentation?.secondStreamID == "b" })
    let layer = try #require(call.session.controller.others[1]?.layer)
    #expect(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
    #expect(half.image() == nil)
  }

  @Test func aWindowForOneStreamHidesItsLastPictureToo() async throws {
    let call = try Call(["a", "b"])
    try await call.play()
    let own = try call.session.addPictureInPictureWindow(for: "a")
    try own.start()
    #expect(await eventually { own.isActive })
    try call.session.setCameraState(.off, of: "a")
    #expect(await eventually { own.streamSelector.places.map(\.placeholder) == [.cameraOff] })
    #expect(own.isActive && call.session.controller.streamSelector.places.map(\.placeholder) == [nil])
    try call.session.setCameraState(.on, of: "a")
    #expect(await eventually { own.streamSelector.places.map(\.placeholder) == [nil] })
    await call.set("a", .ended)
    #expect(own.streamSelector.places.map(\.placeholder) == [.ended])
    await call.set("a", .playing)
    #expect(own.streamSelector.places.map(\.placeholder) == [nil])
    try call.session.setMicrophoneState(.off, of: "a")
    #expect(await eventually { own.presentation.places.map(\.participant.isMicrophoneOff) == [true] })
    #expect(call.session.controller.presentation.places.map(\.participant.isMicrophoneOff) == [false])
    // A window that is made later shows the state as well.
    try call.session.setCameraState(.off, of: "b")
    #expect(await eventually { call.session.placeholder(of: "b") == .cameraOff })
    #expect(
      try call.session.addPictureInPictureWindow(for: "b").streamSelector.places.map(\.placeholder) == [.cameraOff])
  }

  @Test func aMicrophoneThatIsOffIsMarkedInTheAppAndInPictureInPictureUntilItIsOn() async throws {
    let call = try Call(["a", "b"])
    try await call.play()
    #expect(try await call.open("a").places.map(\.participant.isMicrophoneOff) == [false])
    try call.session.setMicrophoneState(.off, of: "a")
    #expect(await eventually { call.microphonesOff == ["a"] })
    #expect(
      call.presentation?.places.map(\.participant.isMicrophoneOff) == [true]
        && call.session.participant(of: "a").isMicrophoneOff)
    // The mark belongs to the stream, and not to the window.
    try call.session.setPictureInPictureSource("b")
    #expect(call.presentation?.places.map(\.participant.isMicrophoneOff) == [false] && call.microphonesOff == ["a"])
    try call.session.setPictureInPictureSource("a")
    #expect(call.presentation?.places.map(\.participant.isMicrophoneOff) == [true])
    await call.set("a", .stalled)
    #expect(call.microphonesOff == ["a"], "the state that was set stays")
    await call.set("a", .playing)
    try call.session.setMicrophoneState(.on, of: "a")
    #expect(await eventually { call.microphonesOff.isEmpty })
    #expect(call.presentation?.places.map(\.participant.isMicrophoneOff) == [false])
  }

  @Test func aStreamThatIsOverHasNoMicrophone() async throws {
    let call = try Call(["a", "b"])
    try await call.play()
    for id: StreamID in ["a", "b"] { try call.session.setMicrophoneState(.off, of: id) }
    #expect(await eventually { call.microphonesOff == ["a", "b"] })
    await call.set("a", .ended)
    #expect(call.microphonesOff == ["b"])
    try call.session.removeStream("b")
    #expect(call.microphonesOff.isEmpty && !call.session.participant(of: "b").isMicrophoneOff)
    // Nothing is known about a new stream with the same ID.
    _ = try call.session.addInput("b", stallTimeout: nil)
    #expect(call.microphonesOff.isEmpty)
  }

  @Test func silenceMarksAMicrophoneOnlyWhileItsStreamPlays() async throws {
    let call = try Call(["a"])
    try await call.play()
    let status = call.session.engine.status
    for state in [DeviceState.on, .off] { status.observe(.microphone, of: "a", state) }
    #expect(await eventually { call.microphonesOff == ["a"] })
    await call.set("a", .stalled)
    #expect(call.microphonesOff.isEmpty, "nothing arrives from the stream at all")
  }

  @Test func whatIsStoppedKeepsItsLastPicture() async throws {
    let session = try PictureInPictureSession(
      "videotestsrc is-live=true ! appsink name=a", display: try OffscreenDisplay())
    try await session.start()
    #expect(await eventually { session.playStates["a"] == .playing })
    #expect(session.placeholder(of: "a") == nil)
    await session.stop()
    #expect(await eventually { session.playStates["a"] == .stopped })
    #expect(session.placeholder(of: "a") == nil)
  }
}
