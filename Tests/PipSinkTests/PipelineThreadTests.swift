import CGStreamer
import Testing

@testable import PipSink
@testable import TestSupport

/// The thread of a pipeline, and the messages that wait for it.
@Suite(.timeLimit(.minutes(2))) struct PipelineThreadTests {
  private typealias Message = UnsafeMutablePointer<GstMessage>

  private static func message(_ name: String) throws -> Message {
    try #require(gst_message_new_application(nil, gst_structure_new_empty(name)))
  }

  private static func withThread(_ body: (PipelineThread, UnsafeMutablePointer<GstBus>) async throws -> Void)
    async throws
  {
    let pipeline = try Pipeline("videotestsrc ! appsink name=a")
    let bus = try #require(gst_element_get_bus(pipeline.element))
    defer { gst_object_unref(bus) }
    try await body(PipelineThread(of: pipeline.element, clock: .system), bus)
  }

  /// The queue of GStreamer's bus loses one of a million messages of many threads.
  @Test func noMessageIsLostWhenManyThreadsPostAtOnce() async throws {
    let (posters, count) = (16, 100)
    try await Self.withThread { thread, bus in
      let received = Locked<[String: [Int]]>([:])
      try thread.start {
        thread.serve(interval: .seconds(60), perform: { _ in }, tick: {}) { message in
          guard let name = gst_structure_get_name(gst_message_get_structure(message)) else { return }
          let words = String(cString: name).split(separator: "-")
          received.withLock { $0[String(words[0]), default: []].append(Int(words[1]) ?? -1) }
        }
        thread.end()
      }
      let address = UInt(bitPattern: bus)
      let threads = (0..<posters).map { poster in
        WorkerThread(name: "poster") {
          let bus = UnsafeMutablePointer<GstBus>(bitPattern: address)
          for number in 0..<count { gst_bus_post(bus, try? Self.message("p\(poster)-\(number)")) }
        }
      }
      for thread in threads { try #require(thread).join() }
      #expect(await eventually { received.withLock { $0.values.reduce(0) { $0 + $1.count } } == posters * count })
      #expect(received.withLock { $0.values.allSatisfy { $0 == Array(0..<count) } }, "each thread's keep their order")
      thread.want { $0.isStopping = true }
      thread.join()
    }
  }

  @Test func theFirstErrorIsTakenWithTheMessagesBeforeIt() async throws {
    try await Self.withThread { thread, bus in
      let error = g_error_new_literal(gst_core_error_quark(), 1, "e")
      defer { g_error_free(error) }
      gst_bus_post(bus, try Self.message("before"))
      gst_bus_post(bus, gst_message_new_error(nil, error, nil))
      gst_bus_post(bus, try Self.message("after"))
      let first = try #require(thread.takeFirstError())
      #expect(first.pointee.type == GST_MESSAGE_ERROR)
      gst_message_unref(first)
      #expect(thread.takeFirstError() == nil)
      thread.end()
    }
  }

  @Test(arguments: ["forgotten", "left at the end", "posted after the end"])
  func whatIsNotHandledIsReleased(case name: String) async throws {
    try await Self.withThread { thread, bus in
      let message = try Self.message("a")
      defer { gst_message_unref(message) }
      if name == "posted after the end" { thread.end() }
      gst_bus_post(bus, gst_message_ref(message))
      if name == "forgotten" { thread.forgetMessages() }
      if name == "left at the end" { thread.end() }
      #expect(message.pointee.mini_object.refcount == 1)
    }
  }
}
