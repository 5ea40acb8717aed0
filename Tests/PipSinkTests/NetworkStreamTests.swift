import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Streams as they occur in calls.
@Suite struct NetworkStreamTests {
  /// Two peers in one process exchange encrypted media over the loopback interface.
  @Test(
    .enabled(
      if: ["webrtcbin", "nicesrc", "dtlssrtpenc"].allSatisfy(ElementInspection.exists),
      "the elements for WebRTC are not installed"))
  func aWebRTCPeersPictureArrives() async throws {
    let engine = try VideoEngine(
      """
      videotestsrc is-live=true pattern=red ! video/x-raw,format=I420,width=320,height=240,framerate=30/1
        ! vp8enc deadline=1 keyframe-max-dist=30 ! rtpvp8pay
        ! application/x-rtp,media=video,encoding-name=VP8,payload=96,clock-rate=90000 ! webrtcbin name=sender bundle-policy=max-bundle
      webrtcbin name=receiver bundle-policy=max-bundle ! rtpvp8depay ! vp8dec ! videoconvert ! appsink name=remote-1
      """)
    let router = FrameRouter()
    try await engine.start { router.input(for: $0) }
    _ = engine.withUnsafeElement(named: "sender") { sender in
      engine.withUnsafeElement(named: "receiver") { WebRTCLoopback.connect(sender, $0) }
    }
    #expect(await eventually { router.statistics(of: "remote-1")?.received ?? 0 > 30 })
    let picture = try #require(router.latestSampleBuffer(of: "remote-1"))
    #expect(picture.pixelBuffer.size == PictureSize(width: 320, height: 240))
    let pixel = try rendered(picture, size: PictureSize(width: 32, height: 24)).pixel(16, 12)
    #expect(pixel[2] > 220 && pixel[0] < 40 && pixel[1] < 40, "red, not \(pixel)")
    // The stream is not visible for a while. When it becomes visible again, the sender is asked for a keyframe.
    engine.visibleStreamIDs = []
    #expect(await eventually { engine.info(of: "remote-1")?.isDecodingSuspended == true })
    engine.visibleStreamIDs = nil
    let count = router.statistics(of: "remote-1")?.received ?? 0
    #expect(await eventually { router.statistics(of: "remote-1")?.received ?? 0 > count + 30 })
    await engine.stop()
    #expect(engine.playState(of: "remote-1") == .stopped)
  }
}
