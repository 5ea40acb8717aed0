import CGStreamer
import Testing

@testable import PipSink
@testable import PipSinkCalls
@testable import TestSupport

/// Streams that a server sends by WHEP. The server is a program in Python with GStreamer's own webrtcbin.
@Suite(.timeLimit(.minutes(2)), .enabled(if: CallFixture.isUsable, "the elements for WebRTC are not installed"))
@MainActor struct WHEPTests {
  private let server: WHEPServer
  private let session: PictureInPictureSession
  private let configuration = CallFixture.configuration

  init() async throws {
    server = try await WHEPServer()
    session = try CallFixture.makeSession()
  }

  private func isRed(_ id: StreamID) async throws -> Bool {
    guard await eventually(within: 30, { session.router.statistics(of: id)?.received ?? 0 > 10 }) else { return false }
    let picture = try #require(session.router.latestSampleBuffer(of: id))
    #expect(picture.pixelBuffer.size == PictureSize(width: 320, height: 240))
    let pixel = try rendered(picture, size: PictureSize(width: 32, height: 24)).pixel(16, 12)
    return pixel[0] < 40 && pixel[1] < 40 && pixel[2] > 215
  }

  private func failure(_ id: StreamID) async -> PipSinkError? {
    guard await eventually(within: 30, { session.info(of: id)?.failure != nil }) else { return nil }
    return session.info(of: id)?.failure
  }

  @Test(arguments: ["red", "h264/red", "moved/red"])
  func aServersStreamIsShownWithItsSoundUntilItIsRemoved(path: String) async throws {
    let receiver = try session.startStream("anna", whep: server.url(path), configuration: configuration)
    #expect(session.info(of: "anna")?.state == .requesting)
    #expect(throws: PipSinkError.stream(.duplicate("anna"))) {
      try session.startStream("anna", whep: server.url(path))
    }
    try #require(await isRed("anna"), "\(receiver.state) \(server.log)")
    #expect(session.info(of: "anna")?.state == .playing)
    #expect(receiver.streamIDs == ["anna"] && session.streams.count == 1)
    #expect(await eventually { receiver.received.sounds.values.map(\.streamID) == ["anna"] })
    try session.removeStream("anna")
    #expect(receiver.state == .stopped && receiver.streamIDs.isEmpty)
    // The server is told, and the ID is free.
    #expect(await eventually(within: 20) { server.log.last == "DELETE /session/1 200" }, "\(server.log)")
    let again = try session.startStream("anna", whep: server.url(path), configuration: configuration)
    #expect(try await isRed("anna"))
    #expect(await session.stop())
    #expect(again.state == .stopped && session.info(of: "anna")?.state == .stopped)
    #expect(server.log.last == "DELETE /session/2 200", "the session has waited for the server")
    let count = try #require(session.router.statistics(of: "anna")).received
    again.start()
    #expect(await eventually(within: 20) { session.router.statistics(of: "anna")?.received ?? 0 > count + 10 })
    await again.stop()
    #expect(session.streams.isEmpty)
  }

  @Test(.enabled(if: WHEPServer.hasAiortc, "aiortc could not be downloaded"), arguments: ["vp8", "h264"])
  func aStreamOfAiortcIsShownWithItsSound(codec: String) async throws { try await expectStream(of: .aiortc, codec) }

  @Test(.enabled(if: WHEPServer.hasChromium, "chromium-headless-shell is not installed"), arguments: ["vp8", "h264"])
  func aStreamOfChromiumIsShownWithItsSound(codec: String) async throws { try await expectStream(of: .chromium, codec) }

  private func expectStream(of peer: WHEPServer.Kind, _ codec: String) async throws {
    let server = try await WHEPServer(peer)
    let receiver = try session.startStream("anna", whep: server.url(codec), configuration: configuration)
    try #require(await isRed("anna"), "\(receiver.state) \(server.log)")
    #expect(await eventually { receiver.received.sounds.values.map(\.streamID) == ["anna"] })
    await receiver.stop()
    #expect(server.log == ["OPTIONS /\(codec) 405", "POST /\(codec) 201", "DELETE /session/1 200"])
  }

  @Test func aStreamWithSoundAloneSaysSo() async throws {
    let receiver = try session.startStream("anna", whep: server.url("sound"), configuration: configuration)
    try #require(
      await eventually(within: 30) { session.info(of: "anna")?.hasNoVideo == true }, "\(receiver.state) \(server.log)")
    #expect(session.info(of: "anna")?.state == .playing && session.placeholder(of: "anna") == .audioOnly)
    #expect(await eventually { receiver.received.sounds.values.map(\.streamID) == ["anna"] })
    await receiver.stop()
  }

  @Test func theTokenGoesToTheServerAndNotToAnotherOne() async throws {
    let receiver = try session.startStream(
      "anna", whep: server.url("token/away/red"), token: "secret", configuration: configuration)
    try #require(await isRed("anna"), "\(receiver.state) \(server.log)")
    await receiver.stop()
    #expect(session.streams.isEmpty)
    #expect(
      server.log == [
        "OPTIONS /token/away/red 405 token", "POST /token/away/red 201 token", "DELETE /session/1 200",
      ])
    // It may begin again, and ends with its stream then, too.
    receiver.start()
    try #require(await isRed("anna"), "\(receiver.state) \(server.log)")
    try session.removeStream("anna")
    #expect(receiver.state == .stopped && session.streams.isEmpty)
    #expect(await eventually(within: 20) { server.log.last == "DELETE /session/2 200" }, "\(server.log)")
  }

  @Test(arguments: ["user/red", "user/whole/red", "user/away/red"])
  func userAndPasswordGoToTheServerOfTheirAddressAlone(path: String) async throws {
    let url = server.url(path, user: "a:b%40@")
    let receiver = try session.startStream("anna", whep: url, configuration: configuration)
    try #require(await isRed("anna"), "\(receiver.state) \(server.log)")
    await receiver.stop()
    let end = "DELETE /session/1 200" + (path == "user/away/red" ? "" : " password")
    #expect(server.log == ["OPTIONS /\(path) 405 password", "POST /\(path) 201 password", end])
  }

  @Test func aWrongPasswordIsNotInTheError() async throws {
    let url = server.url("user/red", user: "a:wrong@")
    let receiver = try session.startStream("anna", whep: url, configuration: configuration)
    try #require(await eventually(within: 30) { if case .failed = receiver.state { true } else { false } })
    let error = PipSinkError.call(
      .refused(url: server.url("user/red"), status: 401, reason: "a password is missing"))
    #expect(receiver.state == .failed(error))
  }

  /// The server says nothing at its end, so that the stream comes back after a while, by a new session.
  @Test func aStreamWhoseServerFallsSilentComesBackByANewSession() async throws {
    var configuration = configuration
    configuration.retryPolicy = RetryPolicy(limit: 3, firstPause: .milliseconds(50))
    configuration.silenceTimeout = .seconds(1)
    let receiver = try session.startStream("anna", whep: server.url("ending/red"), configuration: configuration)
    let states = receiver.states()
    var seen: [WebRTCConnection.State] = []
    for await state in states {
      if state != .connecting { seen.append(state) }
      if seen.count == 3 { break }
    }
    let lost = PipSinkError.call(.connectionLost(reason: "nothing has come from the peer for 1.0 s"))
    #expect(seen == [.connected, .reconnecting(attempt: 1, after: lost), .connected])
    #expect(session.streams.map(\.id) == ["anna"])
    let count = try #require(session.router.statistics(of: "anna")).received
    #expect(await eventually(within: 20) { session.router.statistics(of: "anna")?.received ?? 0 > count + 5 })
    await receiver.stop()
    let posts = server.log.filter { $0 == "POST /ending/red 201" }
    #expect(posts.count == 2 && server.log.contains("DELETE /session/1 200"), "\(server.log)")
  }

  @Test func theServersForSTUNAndTURNAreUsed() async throws {
    let receiver = try session.startStream("anna", whep: server.url("ice/red"), configuration: configuration)
    try #require(await isRed("anna"), "\(receiver.state) \(server.log)")
    let webrtc = try #require(receiver.connection?.webrtc)
    let address = webrtc.property("stun-server") { value in g_value_get_string(&value).map { String(cString: $0) } }
    #expect(address == "stun://127.0.0.1:9")
    await receiver.stop()
  }

  // MARK: - Errors

  @Test(arguments: [
    ("status/401", 401, true), ("status/403", 403, true), ("status/404", 404, false), ("status/409", 409, false),
    ("status/500", 500, false), ("token/red", 401, true),
  ])
  func aRefusalIsNamedAndRepeatedOnlyWhereItMayPass(path: String, status: Int, isPermanent: Bool) async throws {
    var configuration = configuration
    configuration.retryPolicy = RetryPolicy(limit: 1, firstPause: .milliseconds(10))
    let receiver = try session.startStream("anna", whep: server.url(path), configuration: configuration)
    try #require(await eventually(within: 30) { if case .failed = receiver.state { true } else { false } })
    let reason = path == "token/red" ? "a token is missing" : "because of \(status)"
    let error = PipSinkError.call(.refused(url: server.url(path), status: status, reason: reason))
    #expect(receiver.state == .failed(error) && session.info(of: "anna")?.state == .failed(error))
    #expect(error.isPermanent == isPermanent)
    #expect(server.log.filter { $0.hasPrefix("POST") }.count == (isPermanent ? 1 : 2), "\(server.log)")
    // It can be started again, and removed.
    receiver.start()
    #expect(receiver.state == .connecting && session.info(of: "anna")?.state == .requesting)
    try session.removeStream("anna")
    #expect(receiver.state == .stopped && session.streams.isEmpty)
  }

  @Test(arguments: [
    ("loop", "it is redirected more than 5 times"), ("silent", "no answer for 0.5 s"),
    ("huge", "the answer has more than 262144 bytes"),
  ])
  func anAnswerThatCannotBeUsedIsNamed(path: String, reason: String) async throws {
    var configuration = configuration
    if path == "silent" { configuration.signallingTimeout = .milliseconds(500) }
    try session.startStream("anna", whep: server.url(path), configuration: configuration)
    #expect(await failure("anna") == .call(.requestFailed(url: server.url(path), reason: reason)))
  }

  @Test func anAnswerThatIsNoDescriptionIsNamed() async throws {
    try session.startStream("anna", whep: server.url("text"), configuration: configuration)
    #expect(
      await failure("anna") == .call(.invalidDescription(reason: "it does not begin with v=0")))
  }

  @Test func aServerThatIsNotThereIsNamed() async throws {
    server.stop()
    try session.startStream("anna", whep: server.url("red"), configuration: configuration)
    guard case .call(.requestFailed(server.url("red"), _)) = await failure("anna") else {
      Issue.record("\(String(describing: session.info(of: "anna")))")
      return
    }
  }

  @Test(arguments: ["", "anna", "whep://", "ftp://host/path", "file:///etc/passwd", "whep://a b/", "http://\0"])
  func aURLThatCannotBeUsedIsRefusedAtOnce(url: String) {
    #expect(throws: PipSinkError.self) { try session.startStream("anna", whep: url) }
    #expect(session.streams.isEmpty)
  }

  /// A stream is stopped while its server is silent.
  @Test func aStreamWhoseServerIsSilentIsRemovedAtOnce() async throws {
    let receiver = try session.startStream("anna", whep: server.url("silent"), configuration: configuration)
    #expect(await eventually(within: 20) { server.log.contains("OPTIONS /silent 405") })
    await receiver.stop()
    #expect(receiver.state == .stopped && session.streams.isEmpty)
    try session.startStream("anna", whep: server.url("red"), configuration: configuration)
    #expect(try await isRed("anna"))
    await session.stop()
  }

  @Test func theTextsForPeopleHaveNoPassword() throws {
    let address = try HTTPAddress("wheps://user:pass@example.org:8443/a/b?jwt=secret#part")
    #expect(address.text == "https://user:pass@example.org:8443/a/b?jwt=secret#part")
    #expect(!address.shown.contains("pass") && !address.shown.contains("secret"))
    #expect(address.origin == "https://example.org:8443" && address.isEncrypted)
    #expect(HTTPAddress.resolve("/session/1", from: "http://a/b/c") == "http://a/session/1")
    #expect(HTTPAddress.resolve("https://c/d", from: "http://a/b/c") == "https://c/d")
  }

  @Test(arguments: [
    ("<stun:a.example>; rel=\"ice-server\"", ["stun://a.example:3478"]),
    ("<stun:a:19302>;rel=ice-server,<stun:[::1]:1>; REL=\"x ice-server\"", ["stun://a:19302", "stun://[::1]:1"]),
    (
      "<turn:a?transport=udp>; rel=\"ice-server\"; username=\"u:1\"; credential=\"p\\\"@/\"; credential-type=\"password\"",
      ["turn://u%3A1:p%22%40%2F@a:3478"]
    ),
    ("<turns:a?transport=tcp>; username=u; credential=p; rel=ice-server", ["turns://u:p@a:5349?transport=tcp"]),
    ("<turn:a>; rel=ice-server", []), ("<stun:>; rel=ice-server", []), ("<stun:a/b>; rel=ice-server", []),
    ("<https://a/>; rel=ice-server", []), ("<stun:a>; rel=next", []), ("<stun:a>", []), ("stun:a; rel=ice-server", []),
    ("<stun:a; rel=ice-server", []), ("", []), ("<stun:a>; rel=\"ice-server", ["stun://a:3478"]),
    (String(repeating: "<stun:a>;rel=ice-server,", count: 20), Array(repeating: "stun://a:3478", count: 8)),
  ])
  func theServersOfALinkAreRead(link: String, servers: [String]) {
    #expect(ICEServer.servers(inLinks: [link]).map(\.url) == servers)
  }
}
