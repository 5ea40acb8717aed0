import CGStreamer
import Glibc
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// Each test runs in a separate process, in which nothing else allocates memory, starts threads or traces.
@Suite(.timeLimit(.minutes(5))) struct LeakTests {
  @Test func aHundredStartsAndStopsLeaveNoGStreamerObject() async {
    let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
      setenv("GST_TRACERS", "leaks", 1)
      setenv("GST_DEBUG", "GST_TRACER:7", 1)
      setenv("GST_DEBUG_NO_COLOR", "1", 1)
      try await startAndStop(cycles: 100)
      try await stopUnseen()
      try useSurfaces()
      try await provokeErrors()
      try await useAudio()
      try await useElements()
      VideoFormatDescription.forgetUnused()
      gst_deinit()
    }
    let log = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    let leaks = log.split(separator: "\n").filter {
      $0.contains("object-alive, ") && $0.contains("address=(gpointer)0x")
    }
    #expect(leaks.isEmpty, "\(leaks.joined(separator: "\n"))")
    #expect(log.contains("leaks"), "the tracer was not active: \(log.prefix(500))")
  }

  @Test func aHundredStartsAndStopsLeaveNoThreadFileOrMemoryBehind() async {
    await #expect(processExitsWith: .success) {
      // GLib keeps some threads and some memory after its first use.
      try await startAndStop(cycles: 30)
      var before = ProcessCounts()
      try await startAndStop(cycles: 100)
      // The threads of the last pipeline may free their memory and files a little later.
      let deadline = MonotonicTime.now.advanced(by: .seconds(20))
      var after = ProcessCounts()
      while after.threads > before.threads || after.files > before.files {
        try #require(MonotonicTime.now < deadline, "\(before) became \(after)")
        try await Task.sleep(for: .milliseconds(10))
        after = ProcessCounts()
      }
      // A frame has 1.4 MB. If each cycle leaked one frame, this would be 140 MB each time. Beside other load, resident
      // memory also grows by 15 to 30 MB once in a while, and then it stays.
      var growths = ["\(before) became \(after)"]
      while after.bytes > before.bytes + before.slack(residentBytes: 16 * 1024 * 1024) {
        try #require(growths.count < 4, "\(growths)")
        before = ProcessCounts()
        try await startAndStop(cycles: 100)
        after = ProcessCounts()
        growths.append("\(before) became \(after)")
      }
    }
  }
}

private func startAndStop(cycles: Int) async throws {
  let router = FrameRouter()
  let engine = try VideoEngine(
    """
    videotestsrc ! video/x-raw,format=I420,width=1280,height=720 ! queue ! appsink name=a sync=false
    videotestsrc ! video/x-raw,format=NV12,width=1280,height=720 ! tee name=t ! queue ! appsink name=b sync=false
    t. ! queue ! fakesink
    """)
  for cycle in 0..<cycles {
    try await engine.start { router.input(for: $0) }
    let wanted = UInt64(cycle + 1)
    let seen = await eventually {
      router.statistics(of: "a")!.received >= wanted && router.statistics(of: "b")!.received >= wanted
    }
    try #require(seen, "no frames in cycle \(cycle)")
    if cycle % 2 == 0 {
      try router.enterPictureInPicture(cycle % 4 == 0 ? "a" : "b")
    } else {
      router.leavePictureInPicture()
    }
    await engine.stop()
  }
}

/// Stops streams while their decoders are suspended, and while they wait for a keyframe.
private func stopUnseen() async throws {
  let engine = try VideoEngine(
    """
    videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=60/1
      ! x264enc speed-preset=ultrafast tune=zerolatency key-int-max=1000 ! avdec_h264 ! appsink name=a
    """)
  for cycle in 0..<4 {
    try await engine.start { _ in CountingConsumer() }
    engine.visibleStreamIDs = []
    try #require(await eventually { engine.info(of: "a")?.isDecodingSuspended == true })
    if cycle % 2 == 1 { engine.visibleStreamIDs = nil }
    await engine.stop()
    engine.visibleStreamIDs = nil
  }
}

private func useSurfaces() throws {
  for format in PixelFormat.allCases {
    let layer = SampleBufferDisplayLayer(name: "a", renderer: try OffscreenRenderer(size: .init(width: 32, height: 32)))
    layer.enqueue(try TestFrame.sampleBuffer(TestFrame.testSource(format, 64, 64)))
    try #require(layer.waitUntilPresented(by: .now.advanced(by: .seconds(20))))
  }
  let image = try rendered(
    TestFrame.sampleBuffer(TestFrame.testSource(.i420, 64, 64)), size: .init(width: 64, height: 64))
  _ = try image.pngBytes()
}

private func useAudio() async throws {
  let engine = try VideoEngine(
    """
    videotestsrc is-live=true ! appsink name=a
    audiotestsrc is-live=true ! level interval=20000000 ! volume name=a-volume ! fakesink
    audiotestsrc is-live=true ! pulsesink server=unix:/nonexistent stream-properties=props,media.role=music
    """)
  for cycle in 0..<3 {
    let events = engine.events()
    engine.audioSession.volume = Double(cycle) / 10
    try await engine.start { _ in CountingConsumer() }
    try engine.audioSession.setMuted(cycle == 0, for: "a")
    for await event in events {
      if case .audioLevel = event { break }
    }
    engine.audioSession.beginInterruption(.pause)
    await engine.stop()
    engine.audioSession.endInterruption()
  }
}

/// Starts elements, asks them for picture-in-picture, and stops them.
private func useElements() async throws {
  for _ in 0..<10 {
    let harness = try ElementHarness("surface=offscreen sync=false mode=pip process=grayscale")
    harness.setCaps()
    for index in 0..<10 { harness.push(milliseconds: UInt(index) * 33) }
    try #require(!harness.elementMessages(until: "pip-did-start").isEmpty)
  }
  let filter = try FilterHarness(following: " ! x264enc speed-preset=ultrafast ! avdec_h264")
  filter.setCaps()
  filter.pushTag(.init(rotation: .quarter))
  for (index, process) in ["grayscale", "rotate:auto", "nosuch", "format:P010_10LE", nil, "rotate:90,nv12"].enumerated()
  {
    filter.set(process: process)
    for frame in 0..<5 { filter.push(number: index * 5 + frame) }
  }
  // The windows of the elements are released on the main actor.
  await withCheckedContinuation { done in MainActorHost.post { done.resume() } }
}

private func provokeErrors() async throws {
  for text in [
    "", "nosuchelement", "videotestsrc ! (", "videotestsrc ! audio/x-raw ! appsink name=a", "videotestsrc ! fakesink",
    "videotestsrc ! appsink videotestsrc ! appsink", "videotestsrc ! appsink name=a videotestsrc ! appsink name=a",
    "audiotestsrc ! appsink name=a",
    "appsink name=a", "videotestsrc ! appsink name=a caps=audio/x-raw",
  ] {
    #expect(throws: PipSinkError.self, "\(text)") { try VideoEngine(.text(text)) }
  }
  let engine = try VideoEngine("filesrc location=/nowhere ! decodebin ! appsink name=a")
  for _ in 0..<3 {
    await #expect(throws: PipSinkError.self) { try await engine.start { _ in CountingConsumer() } }
  }
}
