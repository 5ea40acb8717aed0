import Testing

@testable import PipSink
@testable import TestSupport

/// Streams that the app keeps out of picture-in-picture.
@MainActor @Suite(.timeLimit(.minutes(5))) struct ExcludedStreamTests {
  @MainActor
  private final class Call {
    let display: OffscreenDisplay
    let session: PictureInPictureSession
    private var inputs: [StreamID: StreamInput] = [:]
    private let picture: PixelBuffer
    var shown: [StreamID] { display.pictureInPictureWindow.presentation?.places.map(\.streamID) ?? [] }

    init(
      _ ids: [StreamID], _ layout: PictureInPictureLayout = .single,
      _ change: (inout PictureInPictureSession.Configuration) -> Void = { _ in }
    ) throws {
      display = try OffscreenDisplay()
      var configuration = PictureInPictureSession.Configuration()
      configuration.pictureInPicture.layout = layout
      change(&configuration)
      session = try PictureInPictureSession(display: display, configuration: configuration)
      picture = try PlainFrame.make([255, 255, 255]).pixelBuffer
      for id in ids { inputs[id] = try session.addInput(id, stallTimeout: nil) }
      push()
    }

    func push() { for input in inputs.values { input.push(picture) } }

    /// Waits until picture-in-picture shows these streams and no others.
    func shows(_ ids: StreamID...) async -> Bool {
      await eventually {
        self.push()
        return self.shown == ids && self.session.controller.isActive == !ids.isEmpty
      }
    }
  }

  private nonisolated static func refusal(_ reason: String) -> PipSinkError {
    .pictureInPicture(.notPossible(reason: reason))
  }

  @Test(arguments: PictureInPictureLayout.allCases)
  func aStreamThatMayNotBeInPictureInPictureIsInNoPlaceOfAnyLayout(layout: PictureInPictureLayout) async throws {
    let call = try Call(["a", "b", "c"], layout) { $0.localStreamIDs = ["c"] }
    try call.session.setPictureInPictureAllowed(false, of: "a")
    let mayNot = Self.refusal("\"a\" may not be in picture-in-picture")
    #expect(throws: mayNot) { try call.session.startPictureInPicture("a") }
    #expect(throws: mayNot) { try call.session.setPictureInPictureSource("a") }
    #expect(throws: mayNot) { try call.session.setSecondPictureInPictureStream("a") }
    #expect(throws: mayNot) { try call.session.addPictureInPictureWindow(for: "a") }
    try call.session.startPictureInPicture()
    #expect(layout == .single ? await call.shows("b") : await call.shows("b", "c"))
    #expect(call.display.placeholders["a"] == nil, "its picture is in the app")
    // It may again, and has its place where there is one.
    try call.session.setPictureInPictureAllowed(true, of: "a")
    try call.session.startPictureInPicture("a")
    #expect(
      await eventually {
        call.push()
        return call.shown.first == "a"
      })
  }

  @Test func whoeverMayNotBeThereAnyMoreLeavesTheWindowAtOnce() async throws {
    let call = try Call(["a", "b"], .split)
    try call.session.startPictureInPicture("a")
    #expect(await call.shows("a", "b"))
    try call.session.setPictureInPictureAllowed(false, of: "a")
    #expect(!call.shown.contains("a"))
    #expect(await call.shows("b"))
    try call.session.setPictureInPictureAllowed(false, of: "b")
    #expect(!call.shown.contains("b"))
    #expect(await eventually { !call.session.controller.isActive })
    #expect(throws: Self.refusal("no stream may be in picture-in-picture")) {
      try call.session.startPictureInPicture()
    }
    #expect(await eventually { call.display.placeholders.isEmpty }, "both are in the app")
    #expect(call.session.router.changes.allSatisfy { $0.framesLost == 0 && $0.framesRepeated == 0 })
  }

  /// The other stream's placeholder covers the window, and nobody has told the router of a stream without a picture.
  @Test(arguments: [false, true])
  func whoeverLeavesTheWindowToSomebodyWithoutAPictureIsInTheAppAgain(hasOwnWindow: Bool) async throws {
    let call = try Call(["b"])
    // Nobody has ever seen a frame of this one.
    _ = try call.session.addInput("a", stallTimeout: nil)
    try call.session.setCameraState(.off, of: "a")
    #expect(await eventually { call.display.placeholders["a"] == .cameraOff })
    try call.session.startPictureInPicture("b")
    #expect(await call.shows("b"))
    if hasOwnWindow {
      _ = try call.session.addPictureInPictureWindow(for: "b")
    } else {
      try call.session.setPictureInPictureAllowed(false, of: "b")
    }
    #expect(call.shown == ["a"])
    #expect(call.session.router.table.entries[.primary]?.streamID != "b")
    let before = call.session.summary(of: "b")?.statistics.inApp ?? 0
    call.push()
    #expect(call.session.summary(of: "b")?.statistics.inApp == before + 1)
    #expect(call.display.placeholders["b"] == nil)
  }

  @Test func pictureInPictureDoesNotStartByItselfWithoutAStreamForIt() async throws {
    let call = try Call(["a"]) { $0.excludedStreamIDs = ["a"] }
    call.session.startsAutomatically = true
    call.session.setBackground(true)
    #expect(!call.session.controller.isWaitingForPicture && !call.session.controller.isActive)
    call.session.setBackground(false)
    try call.session.setPictureInPictureAllowed(true, of: "a")
    call.session.setBackground(true)
    #expect(await call.shows("a"))
  }

  @Test func anExcludedStreamIsNotTheOneThatPictureInPictureStartsWith() async throws {
    let call = try Call(["a", "b"]) {
      $0.excludedStreamIDs = ["a"]
      $0.startsInPictureInPicture = true
      $0.pictureInPictureStreamID = "a"
    }
    try await call.session.start()
    #expect(await call.shows("b"))
  }

  @Test func anotherStreamWithTheIDOfOneThatHasGoneMayBeThere() async throws {
    let call = try Call(["a", "b"])
    try call.session.setPictureInPictureAllowed(false, of: "a")
    try call.session.removeStream("a")
    _ = try call.session.addInput("a")
    try call.session.setPictureInPictureSource("a")
    let own = try call.session.addPictureInPictureWindow(for: "b")
    #expect(own.currentStreamID == "b")
    #expect(throws: Self.refusal("\"b\" has a window for itself")) {
      try call.session.setPictureInPictureAllowed(false, of: "b")
    }
    #expect(throws: PipSinkError.stream(.unknown("c", known: ["a", "b"]))) {
      try call.session.setPictureInPictureAllowed(false, of: "c")
    }
  }
}
