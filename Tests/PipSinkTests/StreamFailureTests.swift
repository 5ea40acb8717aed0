import CGStreamer
import Foundation
import Glibc
import Testing

@testable import PipSink
@testable import TestSupport

/// Which failures are permanent, and when all streams of an engine have finished.
@Suite(.timeLimit(.minutes(5))) struct StreamFailureTests {
  private func quick() -> PipelineConfiguration {
    var configuration = PipelineConfiguration()
    configuration.retryPolicy = RetryPolicy(limit: .max, firstPause: .seconds(0.02), longestPause: .seconds(0.1))
    return configuration
  }

  /// Returns the states of a stream until it has failed for good or is about to be tried for the second time.
  private func fate(of description: PipelineDescription) async throws -> [StreamPlayState] {
    let engine = try VideoEngine()
    let events = engine.events()
    try engine.startPlayingStream("a", from: description, configuration: quick()) { _ in
      CountingConsumer(keepsFrames: false)
    }
    var seen: [StreamPlayState] = []
    for await event in events {
      guard case .streamStateChanged(_, let state) = event else { continue }
      seen.append(state)
      if case .failed = state { break }
      if case .reconnecting(2, _, _) = state { break }
    }
    await engine.stop()
    return seen
  }

  private static func decoded(_ uri: String) -> String { "uridecodebin uri=\(uri) ! videoconvert ! appsink name=x" }

  /// As of a film whose file is deleted while it plays.
  @Test func aRestartThatIsRefusedIsAFailureOfTheStreamAndNotOfTheStart() async throws {
    let folder = try TemporaryFolder()
    let path = folder.path("frames")
    try Data(repeating: 128, count: 384 * 9).write(to: URL(fileURLWithPath: path))
    let engine = try VideoEngine(
      .text(
        "filesrc location=\(path) blocksize=384 ! rawvideoparse format=i420 width=16 height=16 "
          + "! identity error-after=3 ! appsink name=a sync=false"))
    engine.configuration = quick()
    let tries = Locked(0)
    engine.status.broadcast.observe { event in
      guard case .streamStateChanged(_, .reconnecting) = event else { return }
      tries.withLock { $0 += 1 }
      unlink(path)
    }
    try await engine.start { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { engine.player(of: "a")?.isOver == true })
    guard case .failed(.pipeline(.elementFailed(_, _, _, .notFound))) = engine.playState(of: "a") else {
      Issue.record("\(engine.playState(of: "a"))")
      return
    }
    #expect(tries.withLock { $0 } == 1)
    await engine.stop()
  }

  @Test(arguments: [
    (GST_CORE_ERROR_NEGOTIATION, ElementFailureKind.notNegotiated), (GST_CORE_ERROR_CAPS, .notNegotiated),
    (GST_CORE_ERROR_MISSING_PLUGIN, .unsupported), (GST_CORE_ERROR_THREAD, .other),
  ]) func anErrorOfGStreamersCoreHasAKind(code: GstCoreError, kind: ElementFailureKind) async throws {
    let engine = try VideoEngine()
    try engine.startPlayingStream(
      "a", from: "videotestsrc is-live=true name=source ! appsink name=x", configuration: quick()
    ) { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { engine.playState(of: "a") == .playing })
    engine.run(of: "a")?.withUnsafeElement(named: "source") { source in
      let error = g_error_new_literal(gst_core_error_quark(), gint(code.rawValue), "told to fail")
      defer { g_error_free(error) }
      gst_element_post_message(source, gst_message_new_error(source.asObject, error, nil))
    }
    #expect(await eventually { engine.info(of: "a")?.failure != nil })
    guard case .pipeline(.elementFailed("source", "told to fail", _, let found)) = engine.info(of: "a")?.failure else {
      Issue.record("\(String(describing: engine.info(of: "a")?.failure))")
      return
    }
    #expect(found == kind)
    await engine.stop()
  }

  struct Hopeless: Sendable, CustomTestStringConvertible {
    let description: String
    let kind: ElementFailureKind?
    init(_ description: String, _ kind: ElementFailureKind?) {
      self.description = description
      self.kind = kind
    }
    var testDescription: String { description }
  }

  @Test(arguments: [
    Hopeless("filesrc location=/nowhere/a.mkv ! decodebin ! videoconvert ! appsink name=x", .notFound),
    Hopeless(decoded("file:///nowhere/a.mkv"), .notFound),
    Hopeless(decoded("nosuchscheme://host/a"), .unsupported),
    Hopeless(decoded("nonsense"), .notFound),
    Hopeless(decoded("file:///tmp"), .notReadable),
    Hopeless(decoded("file:///etc/passwd"), .badData),
    Hopeless("fakesrc ! video/x-raw,format=I420,width=0,height=0,framerate=30/1 ! appsink name=x", nil),
    Hopeless(
      "videotestsrc ! video/x-raw,format=I420 ! capssetter caps=video/x-h264 replace=true ! video/x-h264 ! vp8dec "
        + "! appsink name=x", .notNegotiated),
    Hopeless("audiotestsrc num-buffers=10 ! decodebin ! videoconvert ! appsink name=x", nil),
  ])
  func whatCanOnlyFailAgainIsNotTriedAgain(_ hopeless: Hopeless) async throws {
    do throws(PipSinkError) {
      _ = try Pipeline(.text(hopeless.description))
    } catch {
      // Some errors are found before the pipeline runs.
      #expect(error.isPermanent && hopeless.kind == .notNegotiated, "\(error)")
      return
    }
    let seen = try await fate(of: .text(hopeless.description))
    guard case .failed(let error) = seen.last, seen.count == 2 else {
      Issue.record("\(seen)")
      return
    }
    #expect(error.isPermanent)
    if let kind = hopeless.kind {
      guard case .pipeline(.elementFailed(_, _, _, kind)) = error else {
        Issue.record("\(error)")
        return
      }
    }
  }

  @Test(arguments: [
    (401, ElementFailureKind.notAuthorized), (403, .notAuthorized), (404, .unavailable), (503, .unavailable),
  ])
  func aServersAnswerSaysWhetherItIsAskedAgain(status: Int, kind: ElementFailureKind) async throws {
    try #require(ElementInspection.exists("souphttpsrc"))
    let server = try StatusServer(status)
    let seen = try await fate(of: .text(Self.decoded("http://127.0.0.1:\(server.port)/a.mkv")))
    switch seen.last {
    case .failed(.pipeline(.elementFailed(_, _, _, let found))),
      .reconnecting(_, _, .pipeline(.elementFailed(_, _, _, let found))):
      #expect(found == kind, "\(seen)")
    default: Issue.record("\(seen)")
    }
    if case .failed = seen.last { #expect(kind.isPermanent) } else { #expect(!kind.isPermanent) }
  }

  @Test(arguments: [
    "tcpclientsrc host=127.0.0.1 port=1 ! gdpdepay ! appsink name=x", decoded("http://127.0.0.1:1/a.mkv"),
    "v4l2src device=/dev/video987 ! videoconvert ! appsink name=x",
    "videotestsrc ! identity error-after=3 ! appsink name=x",
  ])
  func whatMayComeIsTriedAgain(description: String) async throws {
    let seen = try await fate(of: .text(description))
    guard case .reconnecting(2, _, let error) = seen.last else {
      Issue.record("\(seen)")
      return
    }
    #expect(!error.isPermanent)
  }

  @Test func aFileThatIsBrokenInItsMiddleIsNotPlayedAgainAndAgain() async throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("pipsink-\(UUID().uuidString).pnm")
    defer { try? FileManager.default.removeItem(at: url) }
    try TestFrame.run(
      "videotestsrc num-buffers=3 ! video/x-raw,width=64,height=48 ! pnmenc ! filesink location=\(url.path)")
    var data = try Data(contentsOf: url)
    data.append(Data("no picture".utf8))
    try data.write(to: url)
    let seen = try await fate(of: .text("filesrc location=\(url.path) ! pnmdec ! videoconvert ! appsink name=x"))
    #expect(seen.count <= 3, "\(seen)")
    if case .reconnecting = seen.last { Issue.record("\(seen)") }
  }

  // MARK: - The end of all streams

  /// A consumer that holds frames back until it is opened.
  private final class Gate: SampleBufferConsumer {
    private let isOpen = Locked(false)

    func consume(_ sampleBuffer: SampleBuffer) { isOpen.wait { $0 ? () : nil } }

    func open() {
      isOpen.withLock { $0 = true }
      isOpen.wakeAll()
    }
  }

  private static func film(_ frames: Int) -> String {
    "videotestsrc is-live=true num-buffers=\(frames) ! video/x-raw,width=64,height=36,framerate=60/1 ! appsink name=x"
  }

  @Test func finishedComesOnceWhenTheLastStreamHasEndedWhicheverPipelineItHas() async throws {
    for (own, others) in [(5, [30, 10]), (30, [5, 5]), (5, [5, 5])] {
      let engine = try VideoEngine(.text(Self.film(own)))
      let events = engine.events()
      // No stream may end before all streams have started.
      let gate = Gate()
      for (index, frames) in others.enumerated() {
        try engine.startPlayingStream("s\(index)", from: .text(Self.film(frames))) { _ in gate }
      }
      try engine.startPlayingStream("broken", from: .text(Self.decoded("file:///nowhere/a.mkv"))) { _ in
        CountingConsumer(keepsFrames: false)
      }
      try await engine.start { _ in gate }
      gate.open()
      var over: Set<StreamID> = []
      for await event in events {
        if case .streamStateChanged(let id, let state) = event, state.isOver { over.insert(id) }
        if case .finished = event { break }
      }
      #expect(over == ["x", "s0", "s1", "broken"])
      await engine.stop()
    }
  }

  @Test func anEngineWithoutAPipelineFinishesAsWellAndAgainAfterAnotherStream() async throws {
    let engine = try VideoEngine()
    let events = Locked<[String]>([])
    engine.status.broadcast.observe { event in
      switch event {
      case .finished: events.withLock { $0.append("finished") }
      case .streamStateChanged(let id, let state): events.withLock { $0.append("\(id) \(state.name)") }
      default: break
      }
    }
    let finishes = { events.withLock { $0.count { $0 == "finished" } } }
    try engine.startPlayingStream("a", from: .text(Self.film(3))) { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { finishes() == 1 })
    #expect(events.withLock { $0 } == ["a requesting", "a playing", "a ended", "finished"])
    try engine.startPlayingStream("b", from: .text(Self.film(3))) { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { finishes() == 2 })
    // The last playing stream is stopped, and the others have ended.
    try engine.startPlayingStream("c", from: .text(Self.film(-1))) { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { engine.playState(of: "c") == .playing })
    try await engine.stopPlayingStream("c")
    #expect(finishes() == 3)
    // All streams are stopped by the app, which does not count as finished.
    try engine.startPlayingStream("d", from: .text(Self.film(-1))) { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { engine.playState(of: "d") == .playing })
    await engine.stop()
    #expect(finishes() == 3)
  }

  @Test func aFailureIsRememberedUntilFramesCome() async throws {
    let engine = try VideoEngine()
    try engine.startPlayingStream("a", from: .text(Self.decoded("http://127.0.0.1:1/a.mkv")), configuration: quick()) {
      _ in CountingConsumer(keepsFrames: false)
    }
    #expect(await eventually { engine.info(of: "a")?.failure != nil })
    for _ in 0..<50 {
      #expect(engine.info(of: "a")?.failure != nil)
      try await Task.sleep(for: .milliseconds(5))
    }
    try await engine.stopPlayingStream("a")
    try engine.startPlayingStream("a", from: .text(Self.film(-1))) { _ in CountingConsumer(keepsFrames: false) }
    #expect(await eventually { engine.playState(of: "a") == .playing })
    #expect(engine.info(of: "a")?.failure == nil)
    await engine.stop()
  }
}

/// An HTTP server that answers every request with the same status.
private final class StatusServer: Sendable {
  let port: UInt16
  private let listener: Int32

  init(_ status: Int) throws {
    let listener = Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
        bind(listener, address, length) == 0 && listen(listener, 8) == 0 && getsockname(listener, address, &length) == 0
      }
    }
    try #require(isBound)
    port = UInt16(bigEndian: address.sin_port)
    self.listener = listener
    Thread.detachNewThread {
      while true {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        var request = [UInt8](repeating: 0, count: 4096)
        _ = recv(client, &request, request.count, 0)
        let answer = "HTTP/1.1 \(status) Status\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
        _ = answer.withCString { send(client, $0, strlen($0), Int32(MSG_NOSIGNAL)) }
        close(client)
      }
    }
  }

  deinit {
    shutdown(listener, Int32(SHUT_RDWR))
    close(listener)
  }
}
