import Testing

@testable import PipSink
@testable import TestSupport

/// What the halves of the window show while streams come and go. The requests for both last until they are withdrawn.
@MainActor @Suite(.timeLimit(.minutes(2))) struct SecondStreamWishTests {
  /// A session with the local stream "cam", in picture-in-picture with two halves.
  @MainActor
  private final class Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    private let picture: PixelBuffer

    /// - Parameters:
    ///   - first: the stream that the user names for the left half.
    ///   - second: the one for the right half.
    init(first: StreamID?, second: StreamID) async throws {
      var configuration = PictureInPictureSession.Configuration()
      configuration.localStreamIDs = ["cam"]
      configuration.pictureInPictureStreamID = first
      configuration.secondPictureInPictureStreamID = second
      configuration.startsInPictureInPicture = true
      display = try OffscreenDisplay()
      session = try PictureInPictureSession(display: display, configuration: configuration)
      picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
      try await session.start()
    }

    func add(_ id: StreamID) throws { try session.addInput(id, stallTimeout: nil).push(picture) }

    /// The streams in the window, from the left, as the window is told and as frames are routed.
    func shows(_ ids: StreamID...) async -> Bool {
      await eventually(within: 10) {
        self.session.controller.isActive
          && self.display.pictureInPictureWindow.presentation?.places.map(\.streamID) == ids
          && Set(self.session.router.table.entries.values.map(\.streamID)) == Set(ids)
      }
    }
  }

  @Test(arguments: [["cam", "r1"], ["r1", "cam"]] as [[StreamID]])
  func theLocalStreamHasItsHalfAgainWhenARemoteOneComes(order: [StreamID]) async throws {
    let call = try await Call(first: "r1", second: "cam")
    let refused = Locked<[PipSinkError]>([])
    call.session.observeEvents { event in
      if case .refused(let error) = event { refused.withLock { $0.append(error) } }
    }
    for id in order { try call.add(id) }
    #expect(await call.shows("r1", "cam"))
    try call.add("r2")
    try call.session.removeStream("r1")
    #expect(await call.shows("r2", "cam"))
    // All others leave.
    try call.session.removeStream("r2")
    #expect(await call.shows("cam"))
    try call.add("r3")
    #expect(await call.shows("r3", "cam"))
    #expect(call.session.secondPictureInPictureStreamID == "cam")
    try call.session.removeStream("r3")
    try call.add("r1")
    #expect(await call.shows("r1", "cam"))
    #expect(refused.withLock { $0 } == [])
    await call.session.invalidate()
  }

  @Test func theLeftHalfStaysWhileTheRightOneIsTakenByOthers() async throws {
    let call = try await Call(first: "cam", second: "r1")
    for id: StreamID in ["cam", "r1", "r2"] { try call.add(id) }
    #expect(await call.shows("cam", "r1"))
    let moves = { call.session.router.changes.count { $0.streamID == "cam" } }
    let before = moves()
    try call.session.setCameraState(.off, of: "r1")
    #expect(await call.shows("cam", "r2"))
    try call.session.setCameraState(.on, of: "r1")
    #expect(await call.shows("cam", "r1"))
    try call.session.removeStream("r1")
    #expect(await call.shows("cam", "r2"))
    try call.add("r1")
    #expect(await call.shows("cam", "r1"))
    #expect(moves() == before, "the local stream has not left its half")
    try call.session.setSecondPictureInPictureStream(nil)
    #expect(await call.shows("cam"))
    await call.session.invalidate()
  }

  @Test func theConfiguredSecondStreamIsWishedForOnlyOnce() async throws {
    let call = try await Call(first: "r1", second: "cam")
    for id: StreamID in ["cam", "r1", "r2"] { try call.add(id) }
    #expect(await call.shows("r1", "cam"))
    // The app withdraws it, or chooses another one. It does not come back by itself.
    for second: StreamID? in [nil, "r2"] {
      try call.session.setSecondPictureInPictureStream(second)
      try call.session.removeStream("cam")
      try call.add("cam")
      #expect(await eventually { call.session.playStates["cam"] == .playing })
      #expect(call.session.secondPictureInPictureStreamID == second)
    }
    #expect(await call.shows("r1", "r2"))
    await call.session.invalidate()
  }
}
