import CGStreamer
import Testing

@testable import GstPipSink
@testable import PipSink
@testable import TestSupport

/// An element whose frames stay away while its pipeline plays tells its application.
@Suite(.timeLimit(.minutes(5))) struct ElementStallTests {
  /// A pipeline with several elements `pipsink`, of which each is in the same session.
  private final class Host {
    let pipeline: UnsafeMutablePointer<GstElement>
    private let bus: UnsafeMutablePointer<GstBus>

    init(_ description: String) throws {
      try PipSinkPlugin.register()
      pipeline = try #require(gst_parse_launch(description, nil))
      bus = try #require(gst_element_get_bus(pipeline))
      gst_element_set_state(pipeline, GST_STATE_PLAYING)
    }

    deinit {
      gst_element_set_state(pipeline, GST_STATE_NULL)
      gst_object_unref(bus)
      gst_object_unref(pipeline)
    }

    private func element(_ name: String) throws -> UnsafeMutablePointer<GstElement> {
      let bin = UnsafeMutableRawPointer(pipeline).assumingMemoryBound(to: GstBin.self)
      let element = try #require(gst_bin_get_by_name(bin, name))
      // The pipeline keeps it.
      gst_object_unref(element)
      return element
    }

    func member(_ name: String) throws -> SessionMember? { PipSinkElement.state(of: try element(name)).member }

    func set(_ property: String, _ value: String, of name: String) throws {
      gst_util_set_object_arg(
        UnsafeMutableRawPointer(try element(name)).assumingMemoryBound(to: GObject.self), property, value)
    }

    func received(_ name: String) throws -> UInt64 { try member(name)?.statistics?.received ?? 0 }

    /// The shortest gap between frames that would be a freeze now, in nanoseconds.
    func leastFreeze(of name: String) throws -> UInt64 {
      guard let statistics = try member(name)?.statistics, let last = statistics.lastArrival else { return .max }
      return statistics.freezesAt?.nanoseconds(since: last) ?? .max
    }

    func placeholder(of name: String) async throws -> StreamPlaceholder? {
      let member = try #require(try member(name))
      return await withCheckedContinuation { continuation in
        member.session.post(for: member) { adapter in
          continuation.resume(returning: adapter.session.placeholder(of: member.streamID))
        }
      }
    }

    /// Returns the streams of the messages "stalled" and "resumed" up to one about a stream: "stalled a".
    func messages(until last: String) -> [String] {
      var messages: [String] = []
      while messages.last != last, let message = gst_bus_timed_pop_filtered(bus, 20_000_000_000, GST_MESSAGE_ELEMENT) {
        defer { gst_message_unref(message) }
        guard let structure = gst_message_get_structure(message),
          let id = gst_structure_get_string(structure, "stream-id")
        else { continue }
        let name = String(cString: gst_structure_get_name(structure))
        if ["stalled", "resumed"].contains(name) { messages.append("\(name) \(String(cString: id))") }
      }
      return messages
    }
  }

  private static let source = "videotestsrc is-live=true ! video/x-raw,format=I420,width=64,height=48,framerate=30/1"

  @Test func aStreamWhoseFramesStayAwayStallsAndResumesWithTheNextOne() async throws {
    let host = try Host(
      """
      \(Self.source) ! valve name=v ! pipsink name=a surface=offscreen session=stalling stall-timeout=300000000
      """)
    for _ in 0..<2 {
      // Each gap is a freeze, too, once enough frames have come at their rate.
      let before = try host.received("a")
      #expect(try await eventually { try host.received("a") > before + 5 && host.leastFreeze(of: "a") < 250_000_000 })
      try host.set("drop", "true", of: "v")
      #expect(host.messages(until: "stalled a") == ["stalled a"])
      #expect(try await host.placeholder(of: "a") == .reconnecting)
      try host.set("drop", "false", of: "v")
      #expect(host.messages(until: "resumed a") == ["resumed a"])
      #expect(try await host.placeholder(of: "a") == nil)
    }
    let statistics = try #require(try host.member("a")?.statistics)
    #expect(statistics.freezes(at: .now, mayBeFrozen: false).count >= 2)
  }

  /// The stream "b" shows that enough time has passed. An application that pushes pictures of a variable rate pushes them
  /// when there is something new.
  @Test(arguments: [
    ("identity", "stall-timeout=0"), ("identity", "camera-off=true"), ("identity", "screen-share=true"),
    ("capssetter caps=video/x-raw,framerate=0/1", ""),
  ])
  func aStreamThatNeedNotSendAnythingDoesNotStall(filter: String, settings: String) async throws {
    let host = try Host(
      """
      \(Self.source) ! \(filter) ! valve name=v
        ! pipsink name=a surface=offscreen session=silent stall-timeout=100000000 \(settings)
      \(Self.source) ! valve name=w ! pipsink name=b surface=offscreen session=silent stall-timeout=600000000
      """)
    #expect(try await eventually { try host.received("a") > 5 && host.received("b") > 5 })
    try host.set("drop", "true", of: "v")
    try host.set("drop", "true", of: "w")
    #expect(host.messages(until: "stalled b") == ["stalled b"])
  }

  @Test func aPausedPipelineDoesNotStall() async throws {
    let paused = try Host(
      "\(Self.source) ! pipsink name=a surface=offscreen session=pausing stall-timeout=100000000")
    let other = try Host(
      "\(Self.source) ! valve name=w ! pipsink name=b surface=offscreen session=pausing stall-timeout=600000000")
    #expect(try await eventually { try paused.received("a") > 5 && other.received("b") > 5 })
    gst_element_set_state(paused.pipeline, GST_STATE_PAUSED)
    #expect(try await eventually { try paused.member("a")?.isPaused == true })
    try other.set("drop", "true", of: "w")
    #expect(other.messages(until: "stalled b") == ["stalled b"])
    #expect(try await paused.placeholder(of: "a") == nil)
    gst_element_set_state(paused.pipeline, GST_STATE_PLAYING)
    let count = try paused.received("a")
    #expect(try await eventually { try paused.received("a") > count + 5 })
    #expect(try await paused.placeholder(of: "a") == nil)
  }
}
