import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// A shared screen is shown as a whole, and before the people who talk about it.
@MainActor @Suite(.timeLimit(.minutes(2))) struct ScreenShareTests {
  /// Makes a session with people whose pictures are there.
  private func session(
    _ ids: [StreamID] = ["a", "b"], _ configuration: PictureInPictureSession.Configuration = .init()
  ) async throws -> (session: PictureInPictureSession, display: OffscreenDisplay) {
    let display = try OffscreenDisplay(inAppSize: .init(width: 160, height: 90))
    let session = try PictureInPictureSession(display: display, configuration: configuration)
    for id in ids { try add(id, to: session) }
    #expect(await eventually { session.playStates.values.allSatisfy { $0 == .playing } })
    return (session, display)
  }

  private func add(_ id: StreamID, to session: PictureInPictureSession) throws {
    try session.addInput(id, stallTimeout: nil).push(try PlainFrame.make([255, 255, 255], 32, 24).pixelBuffer)
  }

  @Test(arguments: [PictureInPictureStreamSelector.Policy.first, .mostRecent, .activeSpeaker])
  func aScreenIsPreferredWhileItIsThere(policy: PictureInPictureStreamSelector.Policy) async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.streamSelectorPolicy = policy
    configuration.screenShareStreamIDs = ["screen"]
    let session = try await session(["a"], configuration).session
    try session.startPictureInPicture()
    #expect(await eventually { session.controller.isActive })
    try add("screen", to: session)
    #expect(await eventually { session.pictureInPictureStreamID == "screen" })
    // Somebody who comes later does not take its place.
    try add("b", to: session)
    #expect(await eventually { session.playStates["b"] == .playing })
    #expect(session.pictureInPictureStreamID == "screen")
    // A stream that shows a screen only for a while is as good.
    try session.removeStream("screen")
    let after: StreamID = session.pictureInPictureStreamID ?? ""
    let other: StreamID = after == "a" ? "b" : "a"
    try session.setScreenShare(true, of: other)
    #expect(session.pictureInPictureStreamID == other)
    #expect(throws: PipSinkError.stream(.unknown("screen", known: ["a", "b"]))) {
      try session.setScreenShare(true, of: "screen")
    }
    await session.invalidate()
  }

  @Test func theStreamThatTheUserNamesIsShownBeforeAScreen() async throws {
    let session = try await session().session
    try session.startPictureInPicture("a")
    #expect(await eventually { session.controller.isActive })
    try session.setScreenShare(true, of: "b")
    #expect(session.pictureInPictureStreamID == "a")
    try session.setCameraState(.off, of: "a")
    #expect(await eventually { session.pictureInPictureStreamID == "b" })
    try session.setCameraState(.on, of: "a")
    #expect(await eventually { session.pictureInPictureStreamID == "a" })
    try session.setPictureInPictureSource(nil)
    #expect(session.pictureInPictureStreamID == "b", "without a wish, the screen is shown")
    await session.invalidate()
  }

  @Test func aScreenKeepsItsEdgesWhereOtherPicturesAreCropped() async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.videoGravity = .resizeAspectFill
    configuration.pictureInPicture.videoGravity = .resizeAspectFill
    // The shape of the window is not that of the picture, which has 4:3.
    configuration.pictureInPicture.preferredContentSize = PictureSize(width: 16, height: 9)
    configuration.screenShareStreamIDs = ["screen"]
    let (session, display) = try await session(["screen", "a"], configuration)
    /// Whether there are bars beside a picture.
    func hasBars(_ image: BGRAImage?) -> Bool? {
      guard let image, image.pixel(image.size.width / 2, image.size.height / 2)[0] > 200 else { return nil }
      return image.pixel(2, image.size.height / 2)[0] < 50
    }
    #expect(await eventually { hasBars(display.image(of: "screen")) == true })
    #expect(await eventually { hasBars(display.image(of: "a")) == false })
    // Other gravities apply only when it is no screen any more.
    try session.setVideoGravity(.resize, of: "screen")
    #expect(session.layer(of: "screen")?.videoGravity == .resizeAspect)
    try session.startPictureInPicture("screen")
    #expect(await eventually { session.controller.isActive && hasBars(display.pictureInPictureWindow.image()) == true })
    try session.setPictureInPictureSource("a")
    #expect(await eventually { hasBars(display.pictureInPictureWindow.image()) == false })
    try session.setScreenShare(true, of: "a")
    #expect(await eventually { hasBars(display.pictureInPictureWindow.image()) == true })
    session.stopPictureInPicture()
    #expect(await eventually { hasBars(display.image(of: "a")) == true })
    for id: StreamID in ["a", "screen"] { try session.setScreenShare(false, of: id) }
    #expect(session.layer(of: "a")?.videoGravity == .resizeAspectFill)
    #expect(session.layer(of: "screen")?.videoGravity == .resize)
    #expect(await eventually { hasBars(display.image(of: "a")) == false })
    await session.invalidate()
  }

  /// A busy main thread must not let the first stream into the window before the second one is known.
  @Test(arguments: [false, true])
  func streamsThatAreStartedInOneGoAreAllKnownBeforeTheirFirstFrames(beforeTheSession: Bool) async throws {
    var configuration = PictureInPictureSession.Configuration()
    configuration.screenShareStreamIDs = ["screen"]
    configuration.startsInPictureInPicture = true
    let session = try PictureInPictureSession(display: OffscreenDisplay(), configuration: configuration)
    if !beforeTheSession { try await session.start() }
    let live: PipelineDescription =
      "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink"
    try session.startStream("a", from: live)
    // The main thread is busy. Without the rule, some frames come meanwhile.
    usleep(300_000)
    try session.startStream("screen", from: live)
    if beforeTheSession { try await session.start() }
    #expect(await eventually { session.controller.isActive })
    #expect(await eventually { session.summaries.allSatisfy { $0.statistics.received > 5 } })
    let shown = Dictionary(uniqueKeysWithValues: session.summaries.map { ($0.statistics.streamID, $0.statistics) })
    #expect(shown["a"]?.pictureInPicture == 0)
    #expect(shown["screen"]?.inApp == 0)
    await session.invalidate()
  }
}
