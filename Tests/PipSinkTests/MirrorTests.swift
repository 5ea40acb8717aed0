import Testing

@testable import PipSink
@testable import TestSupport

/// The local picture, which its user sees as in a mirror.
@MainActor @Suite(.timeLimit(.minutes(2))) struct MirrorTests {
  /// Which side of a picture is white.
  fileprivate enum Side { case left, right }

  private struct Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    /// A frame whose left half is white, and whose right half is black.
    let frame: SampleBuffer
    private var consumers: [StreamID: any SampleBufferConsumer] = [:]

    @MainActor
    init(_ change: (inout PictureInPictureSession.Configuration) -> Void = { _ in }) throws {
      display = try OffscreenDisplay()
      var configuration = PictureInPictureSession.Configuration()
      configuration.localStreamIDs = ["me"]
      change(&configuration)
      session = try PictureInPictureSession(display: display, configuration: configuration)
      frame = try TestFrame.sampleBuffer(
        "videotestsrc num-buffers=1 pattern=white ! video/x-raw,format=BGRx,width=32,height=36 "
          + "! videobox left=0 right=-32 fill=black ! video/x-raw,width=64")
      for id: StreamID in ["me", "anna"] { consumers[id] = try session.addStream(id) }
      for consumer in consumers.values { consumer.consume(frame) }
    }

    @MainActor func side(of id: StreamID) async -> Side? {
      _ = session.layer(of: id)?.waitUntilPresented(by: .now.advanced(by: .seconds(20)))
      return Side(display.image(of: id))
    }
  }

  @Test func aLocalPictureIsMirroredInTheAppAndInPictureInPicture() async throws {
    let call = try Call()
    #expect(await call.side(of: "me") == .right)
    #expect(await call.side(of: "anna") == .left)
    try call.session.startPictureInPicture("me")
    #expect(await eventually { Side(call.display.pictureInPictureWindow.image()) == .right })
    try call.session.setPictureInPictureSource("anna")
    #expect(await eventually { Side(call.display.pictureInPictureWindow.image()) == .left })
    // The layer has shown the local picture mirrored, and the other one not.
    try call.session.setPictureInPictureSource("me")
    #expect(await eventually { Side(call.display.pictureInPictureWindow.image()) == .right })
    #expect(await call.side(of: "anna") == .left)
  }

  /// The first frame may come before the session reacts to anything.
  @Test func aLocalStreamOfThePipelineIsMirroredFromItsFirstFrameOn() throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.localStreamIDs = ["me", "screen"]
    configuration.screenShareStreamIDs = ["screen"]
    let session = try PictureInPictureSession(
      "videotestsrc ! appsink name=me  videotestsrc ! appsink name=anna  videotestsrc ! appsink name=screen",
      display: OffscreenDisplay(), configuration: configuration)
    let mirrored = ["me", "anna", "screen"].filter { session.router.route($0)?.conversions.isMirrored == true }
    #expect(mirrored == ["me"])
  }

  @Test func aScreenIsNeverMirroredUnlessTheAppSaysSo() async throws {
    let call = try Call()
    try call.session.setScreenShare(true, of: "me")
    #expect(await eventually { await call.side(of: "me") == .left })
    try call.session.setMirrored(true, of: "me")
    #expect(await eventually { await call.side(of: "me") == .right })
    try call.session.setMirrored(nil, of: "me")
    #expect(await eventually { await call.side(of: "me") == .left })
    try call.session.setScreenShare(false, of: "me")
    #expect(await eventually { await call.side(of: "me") == .right })
    #expect(throws: PipSinkError.stream(.unknown("ben", known: ["anna", "me"]))) {
      try call.session.setMirrored(true, of: "ben")
    }
  }

  @Test func anAppMaySwitchMirroringOffForAllAndOnForOne() async throws {
    let call = try Call { $0.mirrorsLocalStreams = false }
    #expect(await call.side(of: "me") == .left)
    try call.session.setMirrored(true, of: "anna")
    #expect(await eventually { await call.side(of: "anna") == .right })
    #expect(await call.side(of: "me") == .left)
    // Somebody else who comes as "anna" is not mirrored.
    try call.session.removeStream("anna")
    try call.session.addStream("anna").consume(call.frame)
    #expect(await call.side(of: "anna") == .left)
  }

  /// What is sent, and what the app's own code gets, is not what the user sees.
  @Test func othersSeeThePictureAsItIs() async throws {
    let call = try Call()
    let frame = try #require(call.session.router.latestSampleBuffer(of: "me"))
    #expect(frame.orientation == .upright)
    #expect(frame.pixelBuffer === call.frame.pixelBuffer)
    // A turned picture is mirrored as it is seen: left and right of the upright picture are exchanged.
    let layer = try #require(call.session.layer(of: "me"))
    layer.orientation = VideoOrientation(rotation: .half)
    #expect(await eventually { await call.side(of: "me") == .left })
  }
}

extension MirrorTests.Side {
  fileprivate init?(_ image: BGRAImage?) {
    guard let image else { return nil }
    let (left, right) = (
      image.pixel(image.size.width / 4, image.size.height / 2)[0],
      image.pixel(image.size.width * 3 / 4, image.size.height / 2)[0]
    )
    switch (left > 200, right > 200) {
    case (true, false): self = .left
    case (false, true): self = .right
    default: return nil
    }
  }
}
