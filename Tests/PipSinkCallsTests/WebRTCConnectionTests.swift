import CGStreamer
import CWebRTC
import Foundation
import Testing

@testable import PipSink
@testable import PipSinkCalls
@testable import TestSupport

/// Calls with a peer in the same process, over the loopback interface.
@Suite(.timeLimit(.minutes(2)), .enabled(if: CallFixture.isUsable, "the elements for WebRTC are not installed"))
@MainActor struct WebRTCConnectionTests {
  private let session: PictureInPictureSession
  private let configuration = CallFixture.configuration

  init() throws { session = try CallFixture.makeSession() }

  private func receiver(from peer: WebRTCPeer, video: Int = 1, audio: Int = 0) -> WebRTCConnection {
    WebRTCConnection(
      into: session, configuration: configuration,
      signalling: .offering(video: video, audio: audio) { await peer.answer($0) })
  }

  /// A receiver that answers the offers of a peer.
  private func receiver(answering peer: WebRTCPeer) -> WebRTCConnection {
    WebRTCConnection(
      into: session, configuration: configuration,
      signalling: .answering(offer: { await peer.offer() }, answer: { peer.take($0) }))
  }

  private func shows(
    _ id: StreamID, _ blue: ClosedRange<UInt8>, _ green: ClosedRange<UInt8>, _ red: ClosedRange<UInt8>
  ) async throws -> Bool {
    guard await eventually(within: 20, { session.router.statistics(of: id)?.received ?? 0 > 10 }) else { return false }
    let picture = try #require(session.router.latestSampleBuffer(of: id))
    #expect(picture.pixelBuffer.size == PictureSize(width: 320, height: 240))
    let pixel = try rendered(picture, size: PictureSize(width: 32, height: 24)).pixel(16, 12)
    return blue.contains(pixel[0]) && green.contains(pixel[1]) && red.contains(pixel[2])
  }

  @Test func twoVideosAndASoundBecomeStreamsByTheNamesOfTheirMediaStreams() async throws {
    let peer = WebRTCPeer(.video("red", of: "anna"), .video("blue", of: "ben"), .sound(of: "anna"))
    let receiver = receiver(from: peer, video: 2, audio: 1)
    let levels = session.events()
    receiver.start()
    #expect(receiver.state == .connecting)
    try #require(
      await eventually(within: 6) { receiver.streamIDs == ["anna", "ben"] }, "\(receiver.state) \(receiver.streamIDs)")
    #expect(try await shows("anna", 0...40, 0...40, 220...255))
    #expect(try await shows("ben", 220...255, 0...40, 0...40))
    #expect(receiver.state == .connected)
    #expect(session.info(of: "anna")?.state == .playing)
    for await event in levels {
      guard case .engine(.audioLevel(let id, let level)) = event else { continue }
      #expect(id == "anna" && level.linear > 0.1)
      break
    }
    try session.engine.audioSession.setVolume(0.5, for: "anna")
    let pipeline = try #require(receiver.connection?.pipeline)
    let volume = try #require(gst_bin_get_by_name(pipeline.asBin, "volume"))
    defer { gst_object_unref(volume) }
    #expect(volume.property("volume") { g_value_get_double(&$0) } == 0.5)
    await receiver.stop()
    #expect(receiver.state == .stopped && session.streams.isEmpty)
  }

  /// The peer sends a keyframe by itself every 100 seconds only.
  @Test func aStreamThatNobodySeesIsNotDecodedAndComesBackWithAKeyframe() async throws {
    let session = try PictureInPictureSession(display: NoDisplay())
    let place = TestPlace(160, 120)
    session.attach(place, toStream: "anna")
    let peer = WebRTCPeer(.video("red", of: "anna"))
    let receiver = WebRTCConnection(
      into: session, configuration: configuration,
      signalling: .offering(video: 1, audio: 0) { await peer.answer($0) })
    receiver.start()
    func received() -> UInt64 { session.router.statistics(of: "anna")?.received ?? 0 }
    try #require(await eventually(within: 20) { session.playStates["anna"] == .playing && received() > 10 })
    let upstream = try #require(session.known["anna"]?.upstream)
    for _ in 0..<2 {
      place.set(isVisible: false)
      #expect(await eventually { session.info(of: "anna")?.isDecodingSuspended == true })
      let withheld = upstream.flow.withheld.load(ordering: .relaxed)
      #expect(await eventually { upstream.flow.withheld.load(ordering: .relaxed) > withheld + 30 })
      #expect(session.playStates["anna"] == .playing, "this is no stall")
      let count = received()
      place.set(isVisible: true)
      #expect(await eventually { received() > count + 20 })
    }
    await receiver.stop()
  }

  @Test func thePeerMayOffer() async throws {
    let peer = WebRTCPeer(.video("red"))
    let receiver = receiver(answering: peer)
    receiver.start()
    #expect(await eventually(within: 20) { receiver.streamIDs.count == 1 })
    #expect(try await shows(#require(receiver.streamIDs.first), 0...40, 0...40, 220...255))
    await receiver.stop()
  }

  private func goesOn(_ id: StreamID) async -> Bool {
    let count = session.router.statistics(of: id)?.received ?? 0
    return await eventually(within: 10) { session.router.statistics(of: id)?.received ?? 0 > count + 20 }
  }

  @Test func streamsComeAndLeaveAsThePeersFurtherOffersSay() async throws {
    let peer = WebRTCPeer(.video("red", of: "anna"), .video("blue", of: "ben"), .sound(of: "ben"))
    let receiver = receiver(answering: peer)
    /// Between the answer and the peer's taking it, the peer sends what it sent before.
    func offerAgain(_ ids: [StreamID]) async throws {
      let offer = await Task.detached { await peer.offer() }.value
      let answer = try await receiver.answer(offer)
      #expect(offer.split(separator: "inactive").count == answer.split(separator: "inactive").count)
      #expect(await goesOn("anna"))
      await Task.detached { peer.take(answer) }.value
      #expect(await eventually(within: 20) { receiver.streamIDs == ids && session.streams.map(\.id) == ids })
      for id in ids { #expect(await goesOn(id), "\(id) of \(ids)") }
    }
    receiver.start()
    try #require(
      await eventually(within: 20) { receiver.streamIDs == ["anna", "ben"] && receiver.state == .connected })
    #expect(await eventually(within: 20) { receiver.received.sounds.count == 1 })
    for _ in 0..<2 {
      for track in 1...2 { peer.send(track, false) }
      try await offerAgain(["anna"])
      #expect(receiver.received.sounds.isEmpty)
      for track in 1...2 { peer.send(track, true) }
      try await offerAgain(["anna", "ben"])
      #expect(try await shows("ben", 220...255, 0...40, 0...40))
      #expect(receiver.received.sounds.count == 1)
    }
    peer.add(.video("green", of: "carl"))
    try await offerAgain(["anna", "ben", "carl"])
    #expect(try await shows("carl", 0...40, 220...255, 0...40))
    await #expect(throws: PipSinkError.self) { try await receiver.answer("no SDP") }
    #expect(receiver.state == .connected && receiver.streamIDs == ["anna", "ben", "carl"])
    await receiver.stop()
    await #expect(throws: PipSinkError.self) { try await receiver.answer("v=0") }
  }

  /// The sound never has a first buffer, and the elements of a video are gone.
  @Test func aTrackThatDoesNotFlowLeavesTheOthersAlone() async throws {
    let peer = WebRTCPeer(.sound(of: "anna"), .video("red", of: "anna"), .video("blue", of: "ben"))
    var configuration = configuration
    configuration.audioSink = "valve drop=true ! fakesink"
    let receiver = WebRTCConnection(
      into: session, configuration: configuration,
      signalling: .answering(offer: { await peer.offer() }, answer: { peer.take($0) }))
    receiver.start()
    try #require(await eventually(within: 20) { receiver.streamIDs == ["anna", "ben"] })
    let pad = try #require(receiver.received.streams["ben"]?.track?.pad)
    let next = try #require(gst_pad_get_peer(pad))
    gst_pad_unlink(pad, next)
    gst_object_unref(next)
    let statistics = try #require(await receiver.statistics(of: "ben"))
    #expect(
      await eventually(within: 10) {
        await receiver.statistics(of: "ben")?.packetsReceived ?? 0 > statistics.packetsReceived + 9
      })
    #expect(await goesOn("anna"))
    await receiver.stop()
  }

  @Test func theSnippetOfTheDocumentShowsThePeersTracks() async throws {
    let page = try String(contentsOf: Demo.root.appendingPathComponent("docs/embedding.md"), encoding: .utf8)
    let file = Demo.root.appendingPathComponent("Tests/PipSinkCallsTests/CallSnippet.swift")
    let snippets = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n\n").suffix(2)
    for snippet in snippets {
      #expect(page.contains("```swift\n\(snippet.trimmingCharacters(in: .newlines))\n```"), "\(snippet)")
    }
    let peer = WebRTCPeer(.video("red", of: "anna"))
    let server = CallServer(peer)
    let receiver = call(server, session)
    #expect(try await shows("anna", 0...40, 0...40, 220...255))
    try #require(await eventually(within: 20) { receiver.state == .connected })
    peer.add(.video("blue", of: "ben"))
    let answer = try #require(try await server.onOffer?(await Task.detached { await peer.offer() }.value))
    await Task.detached { peer.take(answer) }.value
    #expect(try await shows("ben", 220...255, 0...40, 0...40))
    await receiver.stop()
  }

  @Test func aKilledPeerIsNoticedAndTheNextOneContinuesItsStream() async throws {
    let peers = Locked([
      WebRTCPeer(.video("red", of: "anna")), WebRTCPeer(.video("blue", of: "anna")),
    ])
    var configuration = configuration
    configuration.retryPolicy = RetryPolicy(limit: 3, firstPause: .milliseconds(50))
    configuration.silenceTimeout = .seconds(1)
    let receiver = WebRTCConnection(
      into: session, configuration: configuration,
      signalling: .offering(video: 1, audio: 0) { await peers.withLock { $0[0] }.answer($0) })
    let states = receiver.states()
    receiver.start()
    try #require(await shows("anna", 0...40, 0...40, 220...255))
    let killed = peers.withLock { $0.removeFirst() }
    killed.kill()
    var seen: [WebRTCConnection.State] = []
    for await state in states {
      seen.append(state)
      if seen.count == 4 { break }
    }
    let error = PipSinkError.call(.connectionLost(reason: "nothing has come from the peer for 1.0 s"))
    #expect(seen == [.connecting, .connected, .reconnecting(attempt: 1, after: error), .connected])
    #expect(await goesOn("anna"))
    #expect(try await shows("anna", 220...255, 0...40, 0...40))
    await receiver.stop()
  }

  @Test func lostPacketsAreSentAgain() async throws {
    let peer = WebRTCPeer(.video("ball", of: "anna"))
    let receiver = receiver(from: peer)
    receiver.start()
    #expect(await eventually(within: 20) { session.router.statistics(of: "anna")?.received ?? 0 > 10 })
    let connection = try #require(receiver.connection)
    let elements = collectObjects(gst_bin_iterate_recurse(connection.pipeline.asBin), as: GstElement.self)
    defer { for element in elements { gst_object_unref(element) } }
    func element(_ factory: String) throws -> UnsafeMutablePointer<GstElement> {
      try #require(
        elements.first {
          String(taking: pipsink_webrtc_factory_name($0)) == factory
        })
    }
    let buffer = try element("rtpjitterbuffer")
    #expect(buffer.property("do-retransmission") { g_value_get_boolean(&$0) } != 0)
    let decoder = try element("vp8dec")
    for property in ["automatic-request-sync-points", "discard-corrupted-frames"] {
      #expect(decoder.property(property) { g_value_get_boolean(&$0) } != 0)
    }
    let loss = try #require(PacketLoss(in: connection.pipeline, ofOneIn: 10))
    defer { loss.end() }
    #expect(await eventually(within: 60) { PacketLoss.repairedCount(in: connection.pipeline) >= 30 })
    #expect(
      PacketLoss.lostCount(in: connection.pipeline) <= PacketLoss.repairedCount(in: connection.pipeline) / 4)
    let statistics = try #require(await receiver.statistics(of: "anna"))
    #expect(statistics.packetsReceived > 20 && statistics.bytesReceived > 1000 && statistics.bitRate == nil)
    try await Task.sleep(for: .milliseconds(300))
    #expect(try #require(await receiver.statistics(of: "anna")?.bitRate) > 1000)
    #expect(await receiver.statistics(of: "ben") == nil)
    await receiver.stop()
  }

  /// The other picture and the sounds take the same way.
  @Test func statisticsAreThoseOfTheStreamsPicturesAlone() async throws {
    let peer = WebRTCPeer(.video("red", of: "anna"), .video("blue", of: "ben"), .sound(of: "anna"), .sound(of: "ben"))
    let receiver = receiver(from: peer, video: 2, audio: 2)
    receiver.start()
    func arrived() -> UInt64 { session.router.statistics(of: "anna")?.received ?? 0 }
    try #require(await eventually(within: 20) { arrived() > 10 && receiver.received.sounds.count == 2 })
    let first = try #require(await receiver.statistics(of: "anna")).packetsReceived
    let count = arrived()
    #expect(await eventually(within: 30) { arrived() > count + 90 })
    let packets = try #require(await receiver.statistics(of: "anna")).packetsReceived - first
    let frames = arrived() - count
    // Each frame is one packet. The others would be more than four times as many.
    #expect(packets > frames / 2 && packets < frames * 2, "\(packets) packets, \(frames) frames")
    await receiver.stop()
  }

  /// libnice would ask by UPnP, and wait 200 ms for an answer.
  @Test func noRouterIsAskedForOpenPorts() throws {
    let connection = try PeerConnection(configuration)
    defer { connection.close() }
    /// The object in a property, as what has the helpers for properties.
    func object(_ name: String, of element: UnsafeMutablePointer<GstElement>) throws -> UnsafeMutablePointer<GstElement>
    {
      let object = element.property(name) { g_value_dup_object(&$0) }
      return try #require(object).assumingMemoryBound(to: GstElement.self)
    }
    let ice = try object("ice-agent", of: connection.webrtc)
    defer { g_object_unref(ice) }
    let agent = try object("agent", of: ice)
    defer { g_object_unref(agent) }
    #expect(agent.property("upnp") { g_value_get_boolean(&$0) } == 0)
  }

  /// Two threads start and stop the pipeline.
  @Test func aConnectionThatIsClosedAtOnceEndsStopped() async throws {
    var pipelines: [UnsafeMutablePointer<GstElement>] = []
    defer { for pipeline in pipelines { gst_object_unref(pipeline) } }
    for _ in 0..<100 {
      let connection = try PeerConnection(configuration)
      gst_object_ref(connection.pipeline)
      pipelines.append(connection.pipeline)
      #expect(await connection.close().value(by: .now.advanced(by: .seconds(20))) != nil)
    }
    let last = try PeerConnection(configuration)
    #expect(await last.signals.started.value(by: .now.advanced(by: .seconds(20))) != nil)
    await last.close().value(by: .now.advanced(by: .seconds(20)))
    #expect(pipelines.allSatisfy { $0.pointee.current_state == GST_STATE_NULL })
  }

  // MARK: - Errors

  private struct Refusal: Error, CustomStringConvertible {
    let description = "404"
  }

  @Test(arguments: [
    "an error", "silence", "no SDP", "no fingerprint", "another fingerprint", "10 MB", "nobody",
  ])
  func whatGoesWrongIsNamed(case name: String) async throws {
    var configuration = configuration
    configuration.signallingTimeout = .milliseconds(name == "silence" ? 200 : 20_000)
    configuration.connectionTimeout = .milliseconds(500)
    let peer = WebRTCPeer(.video("red"))
    let receiver = WebRTCConnection(
      into: session, configuration: configuration,
      signalling: .offering(video: 1, audio: 0) { offer in
        switch name {
        case "an error": throw Refusal()
        case "silence":
          try await Task.sleep(for: .seconds(60))
          return ""
        case "no SDP": return "<html>"
        case "no fingerprint":
          return await peer.answer(offer).split(separator: "\r\n").filter { !$0.hasPrefix("a=fingerprint") }
            .joined(separator: "\r\n") + "\r\n"
        case "another fingerprint":
          return await peer.answer(offer).replacing(
            /a=fingerprint:sha-256 ..:..:/, with: "a=fingerprint:sha-256 00:00:")
        case "10 MB": return "v=0\r\n" + String(repeating: "a", count: 10_000_000)
        default:
          let answer = await peer.answer(offer)
          peer.kill()
          return answer
        }
      })
    receiver.start()
    #expect(await eventually(within: 20) { if case .failed = receiver.state { true } else { false } })
    guard case .failed(.call(let error)) = receiver.state else {
      Issue.record("\(receiver.state)")
      return
    }
    switch name {
    case "an error": #expect(error == .signallingFailed(reason: "404"))
    case "silence": #expect(error == .signallingFailed(reason: "no answer for 0.2 s"))
    case "nobody": #expect(error == .notConnected(after: .milliseconds(500)))
    case "another fingerprint":
      #expect(
        error == .invalidDescription(reason: "its fingerprint is not that of the certificate which the peer has"))
    default:
      guard case .invalidDescription = error else {
        Issue.record("\(error)")
        return
      }
    }
    #expect(receiver.streamIDs.isEmpty && receiver.connection == nil)
    // It can be started again, and stops at once.
    receiver.start()
    #expect(receiver.state == .connecting)
    await receiver.stop()
    #expect(receiver.state == .stopped)
  }

  @Test func nothingStaysOfAConnectionThatHasEnded() async throws {
    weak var connection: PeerConnection?
    weak var signals: PeerSignals?
    weak var receiver: WebRTCConnection?
    do {
      let peer = WebRTCPeer(.video("red", of: "anna"))
      let made = self.receiver(from: peer)
      made.start()
      #expect(await eventually(within: 20) { session.router.statistics(of: "anna")?.received ?? 0 > 10 })
      (connection, signals, receiver) = (made.connection, made.connection?.signals, made)
      await made.stop()
    }
    #expect(await eventually(within: 20) { connection == nil && signals == nil && receiver == nil })
  }
}
