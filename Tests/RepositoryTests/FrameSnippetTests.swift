import CGStreamer
import Foundation
import Testing

@testable import PipSink
@testable import TestSupport

/// What docs/frames.md says of frames that come from an app's own engine.
@Suite @MainActor struct FrameSnippetTests {
  private let session: PictureInPictureSession

  init() throws {
    session = try PictureInPictureSession(display: OffscreenDisplay())
  }

  /// The newest frame of the stream with the ID "a".
  private var newest: SampleBuffer? { session.router.latestSampleBuffer(of: "a") }

  /// Calls `body` with a frame of 35x21, of which the planes have the values 1, 2 and 3, on a thread of its own.
  private func withFrameOfAnEngine(_ body: @escaping @Sendable (EngineFrame) throws -> Void) async throws {
    try await withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            try withUnsafeTemporaryAllocation(byteCount: 3 * 1024, alignment: 16) { bytes in
              for index in bytes.indices { bytes[index] = UInt8(index / 1024 + 1) }
              let base = try #require(UnsafeRawPointer(bytes.baseAddress))
              try body(
                EngineFrame(
                  y: base, u: base + 1024, v: base + 2048, yStride: 40, uvStride: 20, width: 35, height: 21,
                  rotation: 90, microseconds: 1_500_000))
            }
          })
      }
    }
  }

  @Test(arguments: [("docs/frames.md", 8), ("README.md", 1)])
  func theSnippetsOfTheDocumentsAreThoseThatAreTested(name: String, count: Int) throws {
    let page = try String(contentsOf: Demo.root.appendingPathComponent(name), encoding: .utf8)
    let tested = try String(
      contentsOf: Demo.root.appendingPathComponent("Tests/RepositoryTests/Support/FrameSnippets.swift"), encoding: .utf8
    )
    let snippets = page.components(separatedBy: "```swift\n").dropFirst().compactMap {
      $0.components(separatedBy: "```").first
    }
    .filter { !$0.hasPrefix("import ") }
    #expect(snippets.count == count)
    for snippet in snippets { #expect(tested.contains("\n\n" + snippet), "\(snippet)") }
  }

  @Test func everyRowOfTheTableLeadsToASnippetThatCallsWhatItSays() throws {
    let text = try String(contentsOf: Demo.root.appendingPathComponent("docs/frames.md"), encoding: .utf8)
    let rows = try #require(DocumentTable("| your engine gives |", in: text)).rows
    #expect(rows.count == 7)
    for cells in rows {
      let link = try #require(cells[1].firstMatch(of: /\[(.+)\]\(#(.+)\)/))
      let sections = text.components(separatedBy: "\n## ")
      let section = try #require(
        sections.first { Document.anchor(of: $0.split(separator: "\n")[0].description) == link.2 })
      #expect(section.contains("```swift"), "\(cells)")
      let name = link.1.firstMatch(of: /`(?:\w+\.)?(\w+)\(/)?.1
      if let name { #expect(section.contains("\(name)("), "\(cells)") }
    }
  }

  @Test func planesThatAreValidDuringTheCallAreShown() async throws {
    let input = try session.addInput("a")
    try await withFrameOfAnEngine { try receive($0, input) }
    let frame = try #require(newest)
    #expect(try Oracle.planes(frame.pixelBuffer).map { Set($0) } == [[1], [2], [3]])
    #expect(frame.timing.presentationTimeStamp.seconds == 1.5)
    #expect(frame.orientation.rotation == .quarter)
    #expect(frame.formatDescription.colorimetry.matrix == .bt709)
    #expect(await eventually { session.info(of: "a")?.state == .playing })
  }

  @Test func theCallbackOfTheREADMEShowsFramesUntilTheParticipantLeaves() async throws {
    let sdk = CallSDK()
    try join("a", sdk, session)
    let (onFrame, onLeave) = (try #require(sdk.onFrame), try #require(sdk.onLeave))
    try await withFrameOfAnEngine { try onFrame($0) }
    #expect(try Oracle.planes(try #require(newest).pixelBuffer).map { Set($0) } == [[1], [2], [3]])
    onLeave()
    #expect(await eventually { session.streams.isEmpty })
  }

  @Test func planesThatAreLentAreShownAndGivenBack() async throws {
    let input = try session.addInput("a")
    let released = Locked(false)
    try await withFrameOfAnEngine { try show($0, input) { released.withLock { $0 = true } } }
    #expect(newest?.pixelBuffer.size == PictureSize(width: 35, height: 21))
    #expect(released.withLock { $0 } == false)
    try session.removeStream("a")
    #expect(await eventually { released.withLock { $0 } })
  }

  @Test func theBottomRowOfOpenGLIsAtTheBottom() throws {
    let input = try session.addInput("a")
    try [UInt8](0..<24).withUnsafeBytes { bytes in
      try show(try #require(bytes.baseAddress), width: 2, height: 3, input)
    }
    let frame = try #require(newest)
    #expect(try Oracle.tightBytes(frame.pixelBuffer) == Array(16..<24) + Array(8..<16) + Array(0..<8))
  }

  @Test func samplesAndBuffersOfGStreamerAreShownAsTheyAre() throws {
    let input = try session.addInput("a")
    let sample = try TestFrame.sample(TestFrame.testSource(.nv12, 64, 36))
    defer { gst_sample_unref(sample) }
    try show(sample, input)
    #expect(newest?.pixelBuffer.pixelFormat == .nv12)
    #expect(newest?.timing.presentationTimeStamp == .zero)
    let (buffer, caps) = (try #require(gst_sample_get_buffer(sample)), try #require(gst_sample_get_caps(sample)))
    try show(buffer, caps, input)
    #expect(newest?.sequenceNumber == 2)
    #expect(newest?.pixelBuffer.buffer == buffer, "the buffer was not copied")
  }

  @Test func aPipelineWithAnAppsinkIsAStream() async throws {
    try join("a", "videotestsrc num-buffers=5 ! appsink", session)
    #expect(await eventually { newest != nil })
    await session.invalidate()
  }

  @Test func anEncodedStreamIsDecoded() async throws {
    let folder = try TemporaryFolder()
    try TestFrame.run(
      "videotestsrc num-buffers=30 ! video/x-raw,width=64,height=36 ! x264enc key-int-max=5 tune=zerolatency"
        + " ! video/x-h264,stream-format=byte-stream ! filesink location=\(folder.path("stream.h264"))")
    let bytes = try [UInt8](Data(contentsOf: URL(fileURLWithPath: folder.path("stream.h264"))))
    try joinEncoded("a", session)
    #expect(
      await eventually {
        decode(bytes, "a", session.engine)
        return newest?.pixelBuffer.size == PictureSize(width: 64, height: 36)
      })
    await session.invalidate()
  }

  @Test func memoryOfAGPUIsRefusedWithAnError() throws {
    try PipSink.initialize()
    func sample(_ caps: String) throws -> OpaquePointer {
      let caps = try #require(gst_caps_from_string(caps))
      defer { gst_caps_unref(caps) }
      let buffer = gst_buffer_new_allocate(nil, 64 * 36 * 4, nil)
      defer { gst_buffer_unref(buffer) }
      return try #require(gst_sample_new(buffer, caps, nil, nil))
    }
    for (caps, isShown) in [
      ("video/x-raw,format=BGRx,width=64,height=36", true),
      ("video/x-raw(memory:DMABuf),format=DMA_DRM,drm-format=XR24:0x0100000000000002,width=64,height=36", false),
    ] {
      let sample = try sample(caps)
      defer { gst_sample_unref(sample) }
      #expect(canShow(sample) == isShown, "\(caps)")
    }
  }

  @Test func theButtonsOfTheWindowsActOnTheEngine() throws {
    let engine = CallEngine()
    connect(session, engine)
    session.isMuted = true
    #expect(engine.isMuted)
    #expect(session.isMuted)
  }

  @Test func whatElseAnEngineTellsIsCalledAsThePageSays() throws {
    _ = try session.addInput("anna")
    try session.setName("Anna", of: "anna")
    #expect(session.participant(of: "anna").name == "Anna")
    session.endInput("anna")
    #expect(session.info(of: "anna")?.state == .ended)
    session.reconnectInput("anna")
    #expect(session.placeholder(of: "anna") == .reconnecting)
    session.pauseInput("anna")
    _ = try session.addInput("slides", stallTimeout: nil)
    try session.setCameraState(.off, of: "anna")
    try session.setMicrophoneState(.off, of: "anna")
    try session.setScreenShare(true, of: "anna")
    session.controller.streamSelector.setAudioLevel("anna", 0.5)
    try session.removeStream("anna")
    let consumer = try session.addStream("anna")
    consumer.consume(try PlainFrame.make([255, 255, 255]))
    #expect(session.router.latestSampleBuffer(of: "anna") != nil)
  }
}
