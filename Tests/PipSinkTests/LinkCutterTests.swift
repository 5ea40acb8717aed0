import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// Links that are cut while frames may pass through them.
@Suite struct LinkCutterTests {
  /// Two linked pads. The far end blocks each pushed buffer until the test lets it go.
  private final class Link: @unchecked Sendable {
    // `@unchecked Sendable`: the pads are constant and lock themselves.
    let source: UnsafeMutablePointer<GstPad>
    private let sink: UnsafeMutablePointer<GstPad>
    let state = Locked((isHeld: false, mayGo: false))
    private var thread: WorkerThread?

    init() throws {
      try PipSink.initialize()
      source = try #require(gst_pad_new("src", GST_PAD_SRC))
      sink = try #require(gst_pad_new("sink", GST_PAD_SINK))
      gst_object_ref_sink(source)
      gst_object_ref_sink(sink)
      gst_pad_set_chain_function_full(
        sink,
        { pad, _, buffer in
          gst_buffer_unref(buffer)
          guard let context = pad?.pointee.chaindata else { return GST_FLOW_ERROR }
          let link = Unmanaged<Link>.fromOpaque(context).takeUnretainedValue()
          link.state.withLock { $0.isHeld = true }
          link.state.wakeAll()
          link.state.wait { $0.mayGo ? () : nil }
          return GST_FLOW_OK
        }, Unmanaged.passUnretained(self).toOpaque(), nil)
      for pad in [sink, source] { gst_pad_set_active(pad, 1) }
      #expect(gst_pad_link(source, sink) == GST_PAD_LINK_OK)
      gst_pad_push_event(source, gst_event_new_stream_start("link"))
      var segment = GstSegment()
      gst_segment_init(&segment, GST_FORMAT_TIME)
      gst_pad_push_event(source, gst_event_new_segment(&segment))
    }

    deinit {
      for pad in [source, sink] {
        gst_pad_set_active(pad, 0)
        gst_object_unref(pad)
      }
    }

    var isLinked: Bool { gst_pad_is_linked(source) != 0 }
    var references: Int32 { source.withMemoryRebound(to: GObject.self, capacity: 1) { Int32($0.pointee.ref_count) } }

    /// Pushes a buffer, and returns when the buffer has reached the far end.
    func push() {
      thread = WorkerThread(name: "push") { [self] in gst_pad_push(source, gst_buffer_new()) }
      state.wait { $0.isHeld ? () : nil }
    }

    func letGo() {
      state.withLock { $0.mayGo = true }
      state.wakeAll()
    }

    func cut() -> LinkCutter {
      gst_object_ref(source)
      return LinkCutter(source)
    }
  }

  private var soon: MonotonicTime { .now.advanced(by: .seconds(20)) }

  @Test func aLinkThroughWhichNothingPassesIsCutAtOnce() throws {
    let link = try Link()
    let cutter = link.cut()
    #expect(!link.isLinked)
    cutter.wait(until: .now)
  }

  @Test func aFrameOnItsWayArrivesFirst() async throws {
    let link = try Link()
    link.push()
    let cutter = link.cut()
    #expect(link.isLinked)
    link.letGo()
    let deadline = soon
    cutter.wait(until: deadline)
    #expect(!link.isLinked)
    #expect(.now < deadline, "the cutter does not wait longer than necessary")
  }

  @Test func aLinkThatIsHeldForTooLongIsLeftAloneFromThenOn() async throws {
    let link = try Link()
    link.push()
    do {
      let cutter = link.cut()
      cutter.wait(until: .now)
    }
    link.letGo()
    // The pad is idle after the push has returned, and another buffer passes as well.
    #expect(await eventually { link.references == 1 }, "the cutter has left nothing behind")
    gst_pad_push(link.source, gst_buffer_new())
    #expect(link.isLinked)
  }

  @Test func aPadThatIsLinkedNowhereIsDoneWith() throws {
    try PipSink.initialize()
    let pad = try #require(gst_pad_new("src", GST_PAD_SRC))
    gst_object_ref_sink(pad)
    gst_object_ref(pad)
    do {
      let cutter = LinkCutter(pad)
      cutter.wait(until: soon)
    }
    #expect(pad.withMemoryRebound(to: GObject.self, capacity: 1) { $0.pointee.ref_count } == 1)
    gst_object_unref(pad)
  }
}
