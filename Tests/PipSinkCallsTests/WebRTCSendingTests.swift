import CGStreamer
import CWebRTC
import Testing

@testable import PipSink
@testable import PipSinkCalls
@testable import TestSupport

/// Streams of a session that are sent: to a server of WHIP, and to the other participant of a call.
@Suite(.timeLimit(.minutes(2)), .enabled(if: CallFixture.isUsable, "the elements for WebRTC are not installed"))
@MainActor struct WebRTCSendingTests {
  private let session: PictureInPictureSession
  private var configuration = CallFixture.configuration

  init() throws {
    session = try CallFixture.makeSession()
    configuration.sending = .init("me")
  }

  /// Starts the local stream, with a camera that shows one colour.
  private func startCamera(_ color: String = "red", in session: PictureInPictureSession? = nil) throws {
    try (session ?? self.session).startStream(
      "me",
      from: .text(
        "videotestsrc is-live=true pattern=\(color) ! video/x-raw,width=320,height=240,framerate=30/1 ! appsink"))
  }

  private func publish(
    to server: WHEPServer, sound: String? = nil, change: (inout WebRTCConnection.Configuration) -> Void = { _ in }
  ) throws -> WebRTCConnection {
    var configuration = configuration
    configuration.sending?.audioSource = sound
    change(&configuration)
    return try session.publishStream("me", whip: server.url("whip", scheme: "whip"), configuration: configuration)
  }

  private func says(_ server: WHEPServer, _ line: String, after count: Int = 0) async -> Bool {
    await eventually(within: 20) { server.log.dropFirst(count).contains(line) }
  }

  private static let tone = "audiotestsrc is-live=true volume=0.5"

  // MARK: - WHIP

  @Test func aServerGetsThePictureAndTheSoundUntilTheStreamIsRemoved() async throws {
    let server = try await WHEPServer()
    try startCamera()
    let connection = try publish(to: server, sound: Self.tone)
    #expect(connection.state == .connecting)
    try #require(await says(server, "picture red 320x240"), "\(connection.state) \(server.log)")
    #expect(await says(server, "sound"), "\(server.log)")
    #expect(connection.state == .connected && connection.streamIDs.isEmpty)
    #expect(session.streams.map(\.id) == ["me"])
    let first = try #require(await connection.statistics(of: "me"))
    #expect(first.packetsSent > 0 && first.bytesSent > 0 && first.packetsReceived == 0 && first.bitRate == nil)
    #expect(try #require(await connection.statistics(of: "me")).bitRate != nil)
    try session.removeStream("me")
    #expect(connection.state == .stopped)
    #expect(await says(server, "DELETE /session/1 200"), "\(server.log)")
    connection.start()
    #expect(connection.state == .failed(.stream(.unknown("me", known: []))))
  }

  @Test(.enabled(if: WHEPServer.hasAiortc, "aiortc could not be downloaded"))
  func aiortcReceivesPictureAndSound() async throws { try await expectToReceive(.aiortc, hasFeedback: false) }

  @Test(.enabled(if: WHEPServer.hasChromium, "chromium-headless-shell is not installed"))
  func chromiumReceivesPictureAndSound() async throws { try await expectToReceive(.chromium, hasFeedback: true) }

  private func expectToReceive(_ peer: WHEPServer.Kind, hasFeedback: Bool) async throws {
    let server = try await WHEPServer(peer)
    try startCamera("blue")
    let connection = try publish(to: server, sound: Self.tone)
    try #require(await says(server, "picture blue 320x240"), "\(connection.state) \(server.log)")
    #expect(await says(server, "sound"), "\(server.log)")
    #expect(connection.sent?.hasFeedback == hasFeedback)
    #expect(await eventually { await connection.statistics(of: "me")?.targetBitRate == 1_500_000 })
    await connection.stop()
    #expect(server.log.contains("DELETE /session/1 200"))
    #expect(session.streams.map(\.id) == ["me"], "the stream stays in the session")
  }

  /// How to watch what a server has, which offers it.
  private func offers(of server: WHEPServer) throws -> WebRTCConnection.Signalling {
    let (http, place) = (HTTPClient(), Locked<HTTPAddress?>(nil))
    let address = try HTTPAddress(server.url("offer"))
    return .answering(
      offer: {
        let offer = try await http.response(to: .init(url: address, timeout: .seconds(20)))
        let location = try #require(offer.values(of: "location").first)
        let resource = try HTTPAddress(#require(HTTPAddress.resolve(location, from: offer.url)))
        place.withLock { $0 = resource }
        return offer.body
      },
      answer: { answer in
        let resource = try #require(place.withLock { $0 })
        _ = try await http.response(to: .init(method: "POST", url: resource, body: answer, timeout: .seconds(20)))
      })
  }

  /// Janus forwards what it gets to those who watch, and requests a keyframe for each of them.
  @Test(.enabled(if: WHEPServer.hasJanus, "janus is not installed"))
  func janusForwardsPictureAndSoundToThoseWhoWatch() async throws {
    let server = try await WHEPServer(.janus)
    try startCamera("blue")
    let connection = try publish(to: server, sound: Self.tone)
    try #require(await eventually(within: 20) { connection.state == .connected }, "\(server.log)")
    #expect(connection.sent?.hasFeedback == true)
    for _ in 0..<2 {
      let watching = try CallFixture.makeSession()
      let events = watching.events()
      let viewer = WebRTCConnection(
        into: watching, configuration: CallFixture.configuration, signalling: try offers(of: server))
      viewer.start()
      let isPlaying = await eventually(within: 20) {
        viewer.streamIDs.contains { watching.router.statistics(of: $0)?.received ?? 0 > 30 }
      }
      try #require(isPlaying, "\(viewer.state) \(viewer.streamIDs) \(server.log)")
      let id = try #require(viewer.streamIDs.first)
      let picture = try #require(watching.router.latestSampleBuffer(of: id))
      #expect(picture.pixelBuffer.size == PictureSize(width: 320, height: 240))
      let pixel = try rendered(picture, size: PictureSize(width: 32, height: 24)).pixel(16, 12)
      #expect(pixel[0] > 220 && pixel[1] < 40 && pixel[2] < 40)
      for await event in events {
        guard case .engine(.audioLevel(let speaker, let level)) = event, level.linear > 0.1 else { continue }
        #expect(speaker == id)
        break
      }
      await viewer.stop()
    }
    await connection.stop()
    #expect(server.log.last == "DELETE /session/1 200", "\(server.log)")
  }

  @Test func theStopOfTheSessionWaitsForTheServer() async throws {
    let server = try await WHEPServer()
    try startCamera()
    let connection = try publish(to: server)
    try #require(await says(server, "picture red 320x240"), "\(connection.state) \(server.log)")
    #expect(await session.stop())
    #expect(connection.state == .stopped && server.log.last == "DELETE /session/1 200")
  }

  @Test func aCameraThatIsOffIsBlackAndAMicrophoneThatIsOffIsSilent() async throws {
    let server = try await WHEPServer()
    try startCamera()
    let connection = try publish(to: server, sound: Self.tone)
    try #require(await says(server, "picture red 320x240"), "\(connection.state) \(server.log)")
    try #require(await says(server, "sound"), "\(server.log)")
    var count = server.log.count
    try session.setCameraState(.off, of: "me")
    try session.setMicrophoneState(.off, of: "me")
    #expect(await says(server, "picture black 320x240", after: count), "\(server.log)")
    #expect(await says(server, "silence", after: count), "\(server.log)")
    #expect(
      server.log.dropFirst(count).filter { $0.hasPrefix("picture") } == ["picture black 320x240"],
      "nothing of the camera comes after the black picture")
    count = server.log.count
    try session.setCameraState(.on, of: "me")
    try session.setMicrophoneState(.on, of: "me")
    #expect(await says(server, "picture red 320x240", after: count), "\(server.log)")
    #expect(await says(server, "sound", after: count), "\(server.log)")
    await connection.stop()
  }

  /// An app may stop the camera itself, so that no frame follows.
  @Test func aCameraThatIsOffAndSendsNoFramesIsBlackNevertheless() async throws {
    let server = try await WHEPServer()
    let input = try session.addInput("me")
    let format = try VideoFormatDescription.make(.i420, size: PictureSize(width: 64, height: 48))
    var picture = try PixelBufferPool().makePixelBuffer(format)
    for plane in 0..<3 {
      try picture.withMutablePlane(plane) { bytes, _ in
        bytes.withUnsafeMutableBytes { bytes in
          for index in bytes.indices { bytes[index] = plane == 0 ? 81 : plane == 1 ? 90 : 240 }
        }
      }
    }
    input.push(picture.finish())
    let connection = try publish(to: server)
    try #require(await says(server, "picture red 64x48"), "\(connection.state) \(server.log)")
    try session.setCameraState(.off, of: "me")
    #expect(await says(server, "picture black 64x48"), "\(connection.state) \(server.log)")
    await connection.stop()
  }

  /// A server that connects anew while the camera is off gets a black picture, too.
  @Test func aConnectionThatIsMadeWhileTheCameraIsOffBeginsBlack() async throws {
    let server = try await WHEPServer()
    try startCamera()
    #expect(await eventually(within: 20) { session.router.statistics(of: "me")?.received ?? 0 > 0 })
    try session.setCameraState(.off, of: "me")
    #expect(await eventually { session.placeholder(of: "me") == .cameraOff })
    let connection = try publish(to: server)
    try #require(await says(server, "picture black 320x240"), "\(connection.state) \(server.log)")
    await connection.stop()
    #expect(!server.log.contains { $0.hasPrefix("picture red") }, "\(server.log)")
  }

  /// The peer sends nothing either then.
  @Test func aConnectionWithoutAPictureYetIsNotLost() async throws {
    let server = try await WHEPServer()
    _ = try session.addInput("me")
    let connection = try publish(to: server) { $0.silenceTimeout = .milliseconds(200) }
    try #require(await eventually(within: 20) { connection.state == .connected }, "\(connection.state)")
    #expect(await !eventually(within: 1) { connection.state != .connected })
    await connection.stop()
  }

  @Test func aPictureThatStandsStillIsSentAgainForThoseWhoComeLater() async throws {
    let server = try await WHEPServer()
    let input = try session.addInput("me")
    let format = try VideoFormatDescription.make(.i420, size: PictureSize(width: 64, height: 48))
    input.push(try PixelBufferPool().makePixelBuffer(format).finish())
    #expect(await eventually { session.router.statistics(of: "me")?.received == 1 })
    let connection = try publish(to: server)
    try #require(await eventually(within: 20) { connection.state == .connected }, "\(connection.state)")
    let before = try #require(await connection.statistics(of: "me")).packetsSent
    #expect(
      await eventually(within: 20, { await connection.statistics(of: "me")?.packetsSent ?? 0 > before + 2 }))
    #expect(session.router.statistics(of: "me")?.received == 1)
    await connection.stop()
  }

  @Test func aLargePictureIsSentAsLargeAsWantedAndUpright() async throws {
    let server = try await WHEPServer()
    try session.startStream(
      "me",
      from: .text(
        "videotestsrc is-live=true pattern=red ! video/x-raw,width=1280,height=720,framerate=10/1 "
          + "! taginject tags=image-orientation=rotate-90 ! appsink"))
    let connection = try publish(to: server) { $0.sending?.maximumSize = PictureSize(width: 320, height: 240) }
    // It is higher than wide, and so is the largest size then.
    try #require(await says(server, "picture red 180x320"), "\(connection.state) \(server.log)")
    await connection.stop()
  }

  @Test func whatIsSentGoesOnByANewSessionWhenTheServerIsGone() async throws {
    let server = try await WHEPServer()
    try startCamera()
    let connection = try publish(to: server) {
      $0.retryPolicy = RetryPolicy(limit: 3, firstPause: .milliseconds(50))
    }
    try #require(await says(server, "picture red 320x240"), "\(connection.state) \(server.log)")
    let count = server.log.count
    connection.connection?.signals.fail(.call(.connectionLost(reason: "the test says so")))
    #expect(await says(server, "picture red 320x240", after: count), "\(connection.state) \(server.log)")
    #expect(server.log.filter { $0 == "POST /whip 201" }.count == 2 && server.log.contains("DELETE /session/1 200"))
    await connection.stop()
    #expect(server.log.last == "DELETE /session/2 200")
    #expect(session.router.attachedLayers(ofStream: "me").isEmpty, "nobody else gets the frames")
  }

  /// Every picture is answered with a request for a keyframe.
  @Test nonisolated func thePeerGetsAtMostTwoKeyframesASecond() throws {
    let keyframes = Locked(0)
    let encoder = OutgoingTracks.encoder(.init("me"))
    try TestFrame.withPipeline(
      "videotestsrc num-buffers=90 ! video/x-raw,format=I420,width=64,height=48,framerate=30/1 ! \(encoder) "
        + "! fakesink"
    ) { pipeline in
      let encoder = try #require(gst_bin_get_by_name(pipeline.asBin, OutgoingTracks.encoderName))
      defer { gst_object_unref(encoder) }
      let pad = try #require(gst_element_get_static_pad(encoder, "src"))
      defer { gst_object_unref(pad) }
      gst_pad_add_probe(
        pad, GST_PAD_PROBE_TYPE_BUFFER,
        { pad, info, data in
          guard let data, let buffer = info.flatMap(gst_pad_probe_info_get_buffer) else { return GST_PAD_PROBE_OK }
          if gst_buffer_has_flags(buffer, GST_BUFFER_FLAG_DELTA_UNIT) == 0 {
            Unmanaged<Locked<Int>>.fromOpaque(data).takeUnretainedValue().withLock { $0 += 1 }
          }
          gst_pad_send_event(pad, gst_video_event_new_upstream_force_key_unit(PIPSINK_CLOCK_TIME_NONE, 1, 0))
          return GST_PAD_PROBE_OK
        }, Unmanaged.passUnretained(keyframes).toOpaque(), nil)
      try TestFrame.run(pipeline)
    }
    #expect(keyframes.withLock { $0 } == 6)
  }

  // MARK: - A call

  /// Connects two participants, of whom each sends one stream with sound.
  private func call(
    _ other: PictureInPictureSession, offers: AsyncStream<String>.Continuation, _ offered: AsyncStream<String>,
    change: (inout WebRTCConnection.Configuration) -> Void = { _ in }
  ) -> (WebRTCConnection, WebRTCConnection) {
    let answered = Completion<String>()
    let both = ["anna", "ben"].map { name in
      var configuration = configuration
      configuration.sending?.name = name
      configuration.sending?.audioSource = Self.tone
      change(&configuration)
      return configuration
    }
    let caller = WebRTCConnection(
      into: session, configuration: both[0],
      signalling: .offering(video: 1, audio: 1) { offer in
        offers.yield(offer)
        return await answered.value() ?? ""
      })
    let called = WebRTCConnection(
      into: other, configuration: both[1],
      signalling: .answering(
        offer: {
          for await offer in offered { return offer }
          return ""
        }, answer: { answered.complete($0) }))
    return (caller, called)
  }

  private func sees(
    _ id: StreamID, in session: PictureInPictureSession, _ isRight: ([UInt8]) -> Bool
  ) async throws -> Bool {
    try await eventually(within: 20) {
      guard let picture = session.router.latestSampleBuffer(of: id),
        picture.pixelBuffer.size == PictureSize(width: 320, height: 240)
      else { return false }
      return isRight(Array(try rendered(picture, size: PictureSize(width: 32, height: 24)).pixel(16, 12)))
    }
  }

  @Test func twoParticipantsSeeAndHearEachOtherInOneConnection() async throws {
    let other = try CallFixture.makeSession()
    try startCamera("red")
    try startCamera("blue", in: other)
    let (offered, offers) = AsyncStream.makeStream(of: String.self)
    let (caller, called) = call(other, offers: offers, offered)
    caller.start()
    called.start()
    try #require(await sees("ben", in: session) { $0[0] > 215 && $0[2] < 40 }, "\(caller.state) \(called.state)")
    try #require(await sees("anna", in: other) { $0[2] > 215 && $0[0] < 40 }, "\(caller.state) \(called.state)")
    #expect(await eventually { caller.received.sounds.values.map(\.streamID) == ["ben"] })
    #expect(await eventually { called.received.sounds.values.map(\.streamID) == ["anna"] })
    #expect(session.streams.map(\.id).sorted() == ["ben", "me"] && other.streams.map(\.id).sorted() == ["anna", "me"])
    // Each can show the other's picture with its sound.
    for connection in [caller, called] {
      let reports = SenderReports(in: try #require(connection.connection?.pipeline))
      #expect(await eventually(within: 30) { reports.usefulCounts.count { $0 >= 3 } == 2 })
    }
    // Another camera takes the place of the first one.
    try session.removeStream("me")
    try startCamera("green")
    #expect(try await sees("anna", in: other) { $0[1] > 215 && $0[2] < 40 })
    // The call goes on when a participant takes the local picture away, of which the other one keeps nothing.
    try session.removeStream("me")
    #expect(try await sees("anna", in: other) { $0.prefix(3).allSatisfy { $0 < 40 } })
    let count = try #require(session.router.statistics(of: "ben")).received
    #expect(await eventually(within: 20) { session.router.statistics(of: "ben")?.received ?? 0 > count + 20 })
    #expect(caller.state == .connected && called.state == .connected)
    await caller.stop()
    await called.stop()
    #expect(session.streams.isEmpty && other.streams.map(\.id) == ["me"])
  }

  /// One of ten packets from the network is dropped, on both sides.
  @Test func packetsThatAreLostInACallAreSentAgainInBothDirections() async throws {
    let other = try CallFixture.makeSession()
    try startCamera()
    try startCamera(in: other)
    let (offered, offers) = AsyncStream.makeStream(of: String.self)
    let (caller, called) = call(other, offers: offers, offered)
    caller.start()
    called.start()
    func receives(_ id: StreamID, _ session: PictureInPictureSession) async -> Bool {
      await eventually(within: 20) { session.router.statistics(of: id)?.received ?? 0 > 10 }
    }
    try #require(await receives("ben", session), "\(caller.state)")
    try #require(await receives("anna", other), "\(called.state)")
    let pipelines = try [#require(caller.connection?.pipeline), #require(called.connection?.pipeline)]
    let losses = try pipelines.map { try #require(PacketLoss(in: $0, ofOneIn: 10)) }
    defer { for loss in losses { loss.end() } }
    for pipeline in pipelines {
      #expect(await eventually(within: 30) { PacketLoss.repairedCount(in: pipeline) >= 10 })
    }
    await caller.stop()
    await called.stop()
  }

  /// Somebody who is called receives only.
  @Test func thePeerThatAnswersSaysWhatArrives() async throws {
    let other = try CallFixture.makeSession()
    try startCamera()
    let (offered, offers) = AsyncStream.makeStream(of: String.self)
    let (caller, called) = call(other, offers: offers, offered) { configuration in
      configuration.sending?.bitRate = 600_000
      if configuration.sending?.name == "ben" { configuration.sending = nil }
    }
    caller.start()
    called.start()
    try #require(await eventually(within: 20) { caller.state == .connected }, "\(caller.state) \(called.state)")
    #expect(caller.sent?.hasFeedback == true)
    #expect(await eventually(within: 20) { await caller.statistics(of: "me")?.targetBitRate == 600_000 })
    await caller.stop()
    await called.stop()
  }

  /// The other participant sends what the caller's network carries, which drops what is more, or lets it wait.
  @Test(arguments: [false, true])
  func theBitRateFollowsANetworkThatBecomesNarrowAndWideAgain(hasQueue: Bool) async throws {
    let other = try CallFixture.makeSession()
    try startCamera()
    try other.startStream(
      "me",
      from: .text(
        "videotestsrc is-live=true pattern=smpte100 horizontal-speed=3 ! video/x-raw,width=640,height=360,framerate=30/1 "
          + "! appsink"))
    let (offered, offers) = AsyncStream.makeStream(of: String.self)
    let (caller, called) = call(other, offers: offers, offered) { $0.sending?.bitRate = 800_000 }
    caller.start()
    called.start()
    func target() async -> Int { await called.statistics(of: "me")?.targetBitRate ?? 0 }
    try #require(await eventually(within: 30) { await target() == 800_000 }, "\(caller.state)")
    let pipeline = try #require(caller.connection?.pipeline)
    let network = try #require(PacketLoss(in: pipeline, above: 250_000, hasQueue: hasQueue))
    #expect(await eventually(within: 30) { await target() < 250_000 })
    let count = session.router.statistics(of: "ben")?.received ?? 0
    #expect(await eventually(within: 30) { session.router.statistics(of: "ben")?.received ?? 0 > count + 10 })
    network.end()
    let rate = await target()
    #expect(await eventually(within: 30) { await target() > rate + rate / 4 })
    await caller.stop()
    await called.stop()
  }

  // MARK: - Errors

  @Test func aStreamThatDoesNotExistIsNotPublished() async throws {
    #expect(throws: PipSinkError.stream(.unknown("me", known: []))) {
      try session.publishStream("me", whip: "whip://127.0.0.1:9/")
    }
    try startCamera()
    #expect(throws: PipSinkError.self) { try session.publishStream("me", whip: "rtmp://127.0.0.1:9/") }
    let server = try await WHEPServer()
    let connection = try session.publishStream(
      "me", whip: server.url("status/403", scheme: "whip"), configuration: configuration)
    #expect(
      await eventually(within: 20) {
        connection.state
          == .failed(.call(.refused(url: server.url("status/403"), status: 403, reason: "because of 403")))
      }, "\(connection.state)")
    #expect(session.info(of: "me")?.state == .playing, "the stream itself has not failed")
  }

  @Test(arguments: [
    ("audiotestsrc !", "syntax error"), ("nosuchelement", "missing element: nosuchelement"),
    ("filesrc location=/nonexistent", "filesrc"),
  ])
  func aMicrophoneThatCannotBeUsedIsNamed(source: String, word: String) async throws {
    let server = try await WHEPServer()
    try startCamera()
    let connection = try publish(to: server, sound: source)
    try #require(await eventually(within: 20) { if case .failed = connection.state { true } else { false } })
    guard case .failed(let error) = connection.state else { return }
    #expect("\(error)".contains(word), "\(error)")
    #expect(!server.log.contains { $0.hasPrefix("POST") }, "nothing is offered without the microphone")
  }

  /// The state of a connection's pipeline after its end.
  private func stateAfterEnd(of connection: PeerConnection) async -> GstState {
    let pipeline = connection.pipeline
    gst_object_ref(pipeline)
    defer { gst_object_unref(pipeline) }
    _ = await connection.close().value(by: .now.advanced(by: .seconds(20)))
    var state = GST_STATE_VOID_PENDING
    gst_element_get_state(pipeline, &state, nil, 0)
    return state
  }

  @Test func aConnectionEndsWholeWhoseMicrophoneCannotBeOpened() async throws {
    let connection = try PeerConnection(configuration)
    _ = try #require(await connection.signals.started.value()).get()
    var sending = WebRTCConnection.Sending("me")
    sending.audioSource = "filesrc location=/nonexistent"
    let video = OutgoingTracks.Line(isVideo: true, payloadType: 96, isReceived: false)
    let audio = OutgoingTracks.Line(isVideo: false, payloadType: 111, isReceived: false)
    let tracks = try #require(await connection.makeTracks(sending, video: video, audio: audio).value())
    #expect(throws: PipSinkError.self) { try tracks.get() }
    #expect(await stateAfterEnd(of: connection) == GST_STATE_NULL)
  }

  /// The pictures go on without the sound.
  @Test func aConnectionEndsWholeWhoseLoudspeakerCannotBeOpened() async throws {
    let server = try await WHEPServer()
    var configuration = CallFixture.configuration
    configuration.audioSink = "filesink location=/nonexistent/file"
    let receiver = try session.startStream("anna", whep: server.url("red"), configuration: configuration)
    try #require(
      await eventually(within: 20) { session.router.statistics(of: "anna")?.received ?? 0 > 10 }, "\(receiver.state)")
    let connection = try #require(receiver.connection)
    #expect(await eventually(within: 20) { connection.signals.elementError != nil })
    #expect(await stateAfterEnd(of: connection) == GST_STATE_NULL)
    await receiver.stop()
  }

  @Test func aPeerThatTakesNoVideoIsNamed() async throws {
    try startCamera()
    let peer = WebRTCPeer()
    let connection = WebRTCConnection(
      into: session, configuration: configuration,
      signalling: .offering(video: 0, audio: 0) { offer in
        await peer.answer(offer).replacing("m=video 9", with: "m=video 0")
      })
    connection.start()
    let error = PipSinkError.call(.invalidDescription(reason: "the peer receives no video in VP8"))
    #expect(await eventually(within: 20) { connection.state == .failed(error) }, "\(connection.state)")
  }

  // MARK: - Values

  /// videotestsrc makes the same values for each colorimetry: 235 for white, which is 218 in the limited range where it
  /// was in the full one, and 126 for gray, which stands for 94 cd/m² by the perceptual quantizer.
  @Test(arguments: [("1:4:0:0", "0xffffffff", 218), ("2:6:14:7", "0xff808080", 175), ("2:3:5:1", "0xffffffff", 235)])
  func whatIsSentHasTheLimitedRangeAndTheStandardDynamicRange(
    colorimetry: String, color: String, luma: Int
  ) async throws {
    let pipeline = try #require(gst_parse_launch("appsrc name=source ! appsink name=sink", nil))
    let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
    let (source, sink) = try (
      #require(gst_bin_get_by_name(bin, "source")), #require(gst_bin_get_by_name(bin, "sink"))
    )
    defer {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      for object in [source, sink, pipeline] { gst_object_unref(object) }
    }
    gst_element_set_state(pipeline, GST_STATE_PLAYING)
    let picture = OutgoingPicture(source, limit: PictureSize(width: 320, height: 320))
    picture.frameSizeDidChange(to: PictureSize(width: 64, height: 48))
    let pattern = "solid-color foreground-color=\(color)"
    try picture.render(
      TestFrame.sampleBuffer(TestFrame.testSource(.i420, 64, 48, pattern: pattern, colorimetry: colorimetry)),
      gravity: .resize)
    let appsink = UnsafeMutableRawPointer(sink).assumingMemoryBound(to: GstAppSink.self)
    let sample = try #require(gst_app_sink_try_pull_sample(appsink, 10 * 1_000_000_000))
    let bytes = try Oracle.tightBytes(TestFrame.pixelBuffer(owning: sample))
    #expect(bytes.allSatisfy { abs(Int($0) - luma) <= 1 }, "\(Set(bytes))")
  }

  // MARK: - Sizes and names

  @Test(arguments: [
    (1280, 720, 1280, 720, 1280, 720), (1920, 1080, 1280, 720, 1280, 720), (1080, 1920, 1280, 720, 720, 1280),
    (320, 240, 1280, 720, 320, 240), (321, 241, 1280, 720, 322, 242), (640, 480, 320, 320, 320, 240),
    (1, 1, 1280, 720, 2, 2), (0, 0, 1280, 720, 2, 2),
  ])
  func sizesThatAreSentKeepTheirShape(width: Int, height: Int, wide: Int, high: Int, sentWidth: Int, sentHeight: Int) {
    let size = OutgoingPicture.size(
      for: PictureSize(width: width, height: height), PictureSize(width: wide, height: high))
    #expect(size == PictureSize(width: sentWidth, height: sentHeight))
  }

  /// There and back, and straight to it.
  @Test(arguments: [
    (1280, 720, 1_500_000, 1), (1280, 720, 700_000, 2), (1280, 720, 100_000, 4), (1280, 720, 50_000, 4),
    (320, 240, 500_000, 1), (320, 240, 50_000, 2), (0, 0, 50_000, 1),
  ])
  func aPictureIsSentSmallerWhereThereAreFewBits(width: Int, height: Int, bitRate: Int, divisor: Int) {
    let size = PictureSize(width: width, height: height)
    for before in [1, 2, 4] {
      #expect(OutgoingPicture.divisor(for: size, bitRate: bitRate, before: before) == divisor)
    }
  }

  @Test func theSizeDoesNotChangeBackAndForth() {
    let size = PictureSize(width: 1280, height: 720)
    // It has 921,600 pixels.
    let rates = [930_000, 730_000, 800_000, 920_000, 922_000, 740_000]
    var divisor = 1
    let divisors = rates.map { rate in
      divisor = OutgoingPicture.divisor(for: size, bitRate: rate, before: divisor)
      return divisor
    }
    #expect(divisors == [1, 2, 2, 2, 1, 1])
  }

  @Test(arguments: [("anna", "anna"), ("Jörg Ü\r\na=x", "J--rg-----a-x"), ("", "-")])
  func namesAreSafeInADescription(id: String, name: String) {
    #expect(WebRTCConnection.Sending(StreamID(id)).mediaStreamName == name)
  }
}
