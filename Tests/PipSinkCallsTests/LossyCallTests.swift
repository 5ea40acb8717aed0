import CGStreamer
import CWebRTC
import Testing

@testable import PipSink
@testable import PipSinkCalls
@testable import TestSupport

/// What somebody sees whose network loses packets, compared with what was sent.
@Suite(.timeLimit(.minutes(2)), .enabled(if: CallFixture.isUsable, "the elements for WebRTC are not installed"))
@MainActor struct LossyCallTests {
  private let session: PictureInPictureSession

  // Somebody sees its streams.
  init() throws { session = try PictureInPictureSession(display: OffscreenDisplay()) }

  /// - Parameter isOffering: whether PipSink makes the offer.
  private func receiver(from peer: WebRTCPeer, isOffering: Bool = true) -> WebRTCConnection {
    let signalling: WebRTCConnection.Signalling =
      isOffering
      ? .offering(video: 1, audio: 0) { await peer.answer($0) }
      : .answering(offer: { await peer.offer() }, answer: { peer.take($0) })
    return WebRTCConnection(into: session, configuration: CallFixture.configuration, signalling: signalling)
  }

  /// Starts a receiver of a moving picture, and waits until that is shown. From then on its pictures are noted.
  private func start(
    _ receiver: WebRTCConnection, from peer: WebRTCPeer
  ) async throws -> (pipeline: Element, sent: PictureLog, shown: PictureLog) {
    let sent = try #require(PictureLog(atElement: "sent", in: peer.pipeline))
    receiver.start()
    let arrived = { session.router.statistics(of: "anna")?.received ?? 0 }
    try #require(await eventually(within: 20) { arrived() > 10 }, "\(receiver.state)")
    let pipeline = try #require(receiver.connection?.pipeline)
    return (pipeline, sent, try #require(PictureLog(atElement: "sink", in: pipeline)))
  }

  /// One of ten packets is lost on its way to PipSink.
  @Test(arguments: ["vp8", "h264"], [true, false])
  func whatIsShownIsWhatWasSent(codec: String, isOffering: Bool) async throws {
    let peer = WebRTCPeer(.moving(codec, of: "anna"))
    let receiver = receiver(from: peer, isOffering: isOffering)
    let (pipeline, sent, shown) = try await start(receiver, from: peer)
    let loss = try #require(PacketLoss(in: pipeline, ofOneIn: 10))
    #expect(await eventually(within: 30) { shown.pictures.count >= 60 && loss.count >= 20 })
    loss.end()
    #expect(await eventually(within: 20) { !shown.hasOthers(than: sent) })
    let pictures = shown.pictures
    #expect(Set(pictures).count == pictures.count)
    #expect(PacketLoss.repairedCount(in: pipeline) > 0)
    await receiver.stop()
  }

  /// A shared screen sends nothing while it does not change, for longer than the jitter buffer waits for lost packets.
  @Test(arguments: ["vp8", "h264"])
  func afterAPauseNoPictureIsMissing(codec: String) async throws {
    let peer = WebRTCPeer(.moving(codec, of: "anna"))
    let receiver = receiver(from: peer)
    let (_, sent, shown) = try await start(receiver, from: peer)
    for _ in 0..<3 {
      try await peer.pause(for: .milliseconds(600))
      let count = sent.pictures.count
      try #require(await eventually(within: 20) { sent.pictures.count > count + 10 })
      let pictures = Set(sent.pictures[count...])
      #expect(await eventually(within: 5) { pictures.isSubset(of: shown.pictures) })
    }
    await receiver.stop()
  }

  @Test func theOfferHasOneFormatForPacketsThatAreSentAgainForEachCodec() async throws {
    let peer = WebRTCPeer(.video("red", of: "anna"))
    let (offers, offered) = AsyncStream.makeStream(of: String.self)
    let receiver = WebRTCConnection(
      into: session, configuration: CallFixture.configuration,
      signalling: .offering(video: 1, audio: 0) { offer in
        offered.yield(offer)
        return await peer.answer(offer)
      })
    receiver.start()
    var iterator = offers.makeAsyncIterator()
    let lines = await iterator.next()?.split(whereSeparator: \.isNewline) ?? []
    #expect(lines.filter { $0.contains("apt=") }.map { $0.suffix(6) }.sorted() == ["apt=96", "apt=97"])
    await receiver.stop()
  }

  /// Nothing comes through in either direction, for two seconds more than it takes to be noticed.
  @Test(arguments: ["vp8", "h264"])
  func afterAnOutageThePictureComesBackWhole(codec: String) async throws {
    let peer = WebRTCPeer(.moving(codec, of: "anna"))
    let receiver = receiver(from: peer)
    let (pipeline, sent, shown) = try await start(receiver, from: peer)
    let losses = try [pipeline, peer.pipeline].map { try #require(PacketLoss(in: $0, ofOneIn: 1)) }
    #expect(await eventually(within: 20) { session.info(of: "anna")?.state == .stalled })
    try await Task.sleep(for: .seconds(2))
    let count = shown.pictures.count
    for loss in losses { loss.end() }
    #expect(await eventually(within: 20) { shown.pictures.count > count + 30 })
    #expect(await eventually(within: 20) { !shown.hasOthers(than: sent) })
    #expect(session.info(of: "anna")?.state == .playing && receiver.state == .connected)
    await receiver.stop()
  }
}
