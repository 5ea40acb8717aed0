import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// A frozen stream asks for a keyframe as long as encoded frames arrive. A valve after the decoder withholds the
/// pictures, as a decoder does that waits for a keyframe; one before it withholds the encoded frames.
@MainActor @Suite(.timeLimit(.minutes(5))) struct KeyframeRequestTests {
  private static let description = """
    videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=60/1
      ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=600 ! identity name=i ! valve name=packets
      ! h264parse ! avdec_h264 ! valve name=pictures
    """

  @Test func thereIsOneRequestAtTheFirstFrameThatArrivesAndThenOneASecond() async throws {
    let clock = ManualClock()
    let app = try AppPipeline("\(Self.description) ! appsink name=s sync=false drop=true max-buffers=1")
    let upstream = UpstreamDemand(before: app.sinkPad, clock: clock.clock) { _, _ in }
    gst_element_set_state(app.pipeline, GST_STATE_PLAYING)
    try app.set("drop", "true", of: "packets")
    // No frame is on its way from there any more.
    #expect(try await eventually { try !app.isBusy("packets") })
    upstream.isFrozen = true
    #expect(await eventually { upstream.keyframeRequests.probeCount == 1 })
    #expect(app.events.keyframeRequestCount == 0, "nothing arrives")
    try app.set("drop", "false", of: "packets")
    #expect(await eventually { upstream.keyframeRequests.count == 1 })
    // The next encoded frames ask for nothing before a second has passed.
    let passed = try app.countBuffers(behind: "packets")
    #expect(await eventually { passed.value > 30 })
    #expect(upstream.keyframeRequests.count == 1)
    clock.advance(by: 0.999)
    let before = passed.value
    #expect(await eventually { passed.value > before + 30 })
    #expect(upstream.keyframeRequests.count == 1)
    clock.advance(by: 0.002)
    #expect(await eventually { upstream.keyframeRequests.count == 2 })
    upstream.isFrozen = false
    #expect(await eventually { upstream.keyframeRequests.probeCount == 0 })
    // Another freeze at once does not make more of them.
    upstream.isFrozen = true
    #expect(await eventually { upstream.keyframeRequests.probeCount == 1 })
    let again = passed.value
    #expect(await eventually { passed.value > again + 30 })
    #expect(upstream.keyframeRequests.count == 2)
    upstream.end()
    #expect(upstream.keyframeRequests.probeCount == 0)
  }

  @Test(arguments: [true, false])
  func aStreamWhosePicturesDoNotComeAsksTheEncoder(isOfTheApp: Bool) async throws {
    let session = try PictureInPictureSession(display: NoDisplay())
    session.attach(TestPlace(320, 180), toStream: "a")
    let frozen = isOfTheApp ? try AppPipeline("\(Self.description) ! appsink name=s max-buffers=8") : nil
    var thread: WorkerThread?
    if let frozen {
      thread = frozen.deliver(to: try session.addInput("a", unsafeSinkPad: frozen.sinkPad))
    } else {
      try session.startStream("a", from: .text("\(Self.description) ! appsink"))
    }
    func received() -> UInt64 { session.router.statistics(of: "a")?.received ?? 0 }
    #expect(await eventually { session.playStates["a"] == .playing && received() > 30 })
    var events: UpstreamEvents?
    func withElement(_ name: String, _ body: (UnsafeMutablePointer<GstElement>) -> Void) throws {
      if let frozen {
        try frozen.withElement(name, body)
      } else {
        try #require(session.engine.run(of: "a")).withUnsafeElement(named: name, body)
      }
    }
    try withElement("i") { element in element.withSinkPads { events = UpstreamEvents(at: $0[0]) } }
    func set(_ isDropping: Bool) throws {
      try withElement("pictures") { element in
        gst_util_set_object_arg(
          UnsafeMutableRawPointer(element).assumingMemoryBound(to: GObject.self), "drop", "\(isDropping)")
      }
    }
    try set(true)
    #expect(await eventually { events?.keyframeRequestCount ?? 0 > 0 })
    #expect(session.router.statistics(of: "a")?.freezeTime(at: .now) != nil)
    try set(false)
    let count = received()
    #expect(await eventually { received() > count + 5 })
    #expect(await eventually { session.known["a"]?.isFrozen == false })
    if let frozen { gst_element_set_state(frozen.pipeline, GST_STATE_NULL) }
    thread?.join()
    await session.stop()
  }
}
