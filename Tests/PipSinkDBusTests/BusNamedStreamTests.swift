import Testing

@testable import PipSink
@testable import PipSinkDBus
@testable import TestSupport

/// The stream that another process names is the one in picture-in-picture, whenever it comes. The calls are those of
/// the bus, without a bus.
@MainActor @Suite(.timeLimit(.minutes(2))) struct BusNamedStreamTests {
  fileprivate static let live = "videotestsrc is-live=true ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink"
  nonisolated private static let ids: [StreamID] = ["a", "b", "c"]

  @MainActor
  private final class Call {
    let session: PictureInPictureSession
    private let interface = BusInterface.session()

    init() throws { session = try PictureInPictureSession(display: try OffscreenDisplay()) }

    func call(_ method: String, _ arguments: BusValue...) throws {
      _ = try interface.perform(method, arguments, on: session)
    }

    func play(_ id: StreamID) throws {
      try call("StartPlayingStream", .string(id.rawValue), .string(BusNamedStreamTests.live))
    }

    func statistics(_ id: StreamID) -> RenderStatistics? { session.summary(of: id)?.statistics }

    /// Waits until all streams have delivered some more frames.
    func deliver() async -> Bool {
      let before = session.summaries.map(\.statistics)
      return await eventually {
        before.allSatisfy { (self.statistics($0.streamID)?.received ?? 0) >= $0.received + 5 }
      }
    }

    /// Waits until a stream is in picture-in-picture, and for some more frames, which must all be there.
    func shows(_ id: StreamID) async -> Bool {
      guard await eventually({ session.controller.isActive && session.pictureInPictureStreamID == id }) else {
        return false
      }
      let inApp = statistics(id)?.inApp
      return await deliver() && statistics(id)?.inApp == inApp
    }
  }

  @Test(arguments: ids, ["Enable", "SetSource", "EnableWhenBackground"])
  func theNamedStreamIsInPictureInPictureAndNoOtherEverIs(named: StreamID, method: String) async throws {
    let call = try Call()
    for id in Self.ids { try call.play(id) }
    let id = BusValue.string(named.rawValue)
    switch method {
    case "Enable": try call.call("Enable", id)
    case "SetSource":
      try call.call("SetSource", id)
      try call.call("Toggle")
    default:
      try call.call("SetSource", id)
      #expect(await call.deliver())
      try call.call("EnableWhenBackground")
      call.session.setBackground(true)
    }
    #expect(await call.shows(named))
    for id in Self.ids where id != named { #expect(call.statistics(id)?.pictureInPicture == 0, "\(id)") }
    await call.session.invalidate()
  }

  @Test func aNamedStreamTakesTheWindowWheneverItHasAPictureUntilTheNameIsWithdrawn() async throws {
    let call = try Call()
    for id: StreamID in ["a", "b"] { try call.play(id) }
    try call.call("Enable", "a")
    #expect(await call.shows("a"))
    try call.play("named")
    #expect(await call.deliver())
    try call.call("SetSource", "named")
    #expect(await call.shows("named"))
    let shown = call.statistics("a")?.pictureInPicture
    #expect(await call.deliver() && call.statistics("a")?.pictureInPicture == shown)
    // It ends and comes back.
    try call.call("StopPlayingStream", "named")
    #expect(await call.shows("a"))
    try call.play("named")
    #expect(await call.shows("named"))
    // Its camera goes off and on.
    try call.call("SetCameraState", "named", "off")
    #expect(await call.shows("a"))
    try call.call("SetCameraState", "named", "on")
    #expect(await call.shows("named"))
    #expect(call.statistics("b")?.pictureInPicture == 0)
    // Without the name, it does not take the window any more.
    try call.call("SetSource", "")
    #expect(await call.shows("named"))
    try call.call("SetCameraState", "named", "off")
    #expect(await call.shows("a"))
    try call.call("SetCameraState", "named", "on")
    #expect(await call.deliver())
    #expect(call.session.pictureInPictureStreamID == "a")
    await call.session.invalidate()
  }

  @Test func aScreenIsPreferredWhileAnotherProcessSaysSo() async throws {
    let call = try Call()
    for id in Self.ids { try call.play(id) }
    try call.call("Toggle")
    #expect(await call.shows("a"))
    #expect(await call.deliver())
    try call.call("SetScreenShare", "c", .bool(true))
    #expect(await call.shows("c"))
    try call.call("SetGravity", "c", "resizeAspectFill")
    #expect(call.session.layer(of: "c")?.videoGravity == .resizeAspect, "a screen is never cropped")
    // What the user names is shown before it.
    try call.call("SetSource", "b")
    #expect(await call.shows("b"))
    try call.call("SetSource", "")
    #expect(await call.shows("c"))
    try call.call("SetScreenShare", "c", .bool(false))
    #expect(call.session.layer(of: "c")?.videoGravity == .resizeAspectFill)
    #expect(throws: PipSinkError.stream(.unknown("d", known: Self.ids))) {
      try call.call("SetScreenShare", "d", .bool(true))
    }
    await call.session.invalidate()
  }
}
