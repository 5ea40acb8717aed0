import CGStreamer

/// What an engine gives to a ``StreamElement`` for its frames.
package protocol StreamElementConsumer: SampleBufferConsumer {
  /// Takes note, on the streaming thread, of a frame in memory that the processor cannot read.
  func skipFrame(caps: String)
}

/// An element beside appsink that a stream of an engine can end in: one that makes frames of what it gets by itself.
///
/// Whoever has such an element says so (GstPipSink, of `pipsink`); the engine knows none.
package struct StreamElement: Sendable {
  package typealias Element = UnsafeMutablePointer<GstElement>

  /// The stream's ID, as the element's properties say.
  let streamID: @Sendable (Element) -> StreamID
  /// Has an element that is stopped give its frames to a consumer instead of showing them.
  let deliver: @Sendable (Element, any StreamElementConsumer) -> Void

  private static let known = Locked<[GType: StreamElement]>([:])

  package static func register(
    _ type: GType, streamID: @escaping @Sendable (Element) -> StreamID,
    deliver: @escaping @Sendable (Element, any StreamElementConsumer) -> Void
  ) {
    known.withLock { $0[type] = StreamElement(streamID: streamID, deliver: deliver) }
  }

  /// For an element whose frames an engine takes, when its stream ends: GStreamer itself says on the bus when the whole
  /// pipeline has ended, not one of its sinks.
  package static func postEnd(of element: Element) { BusNote.streamEnded.post(from: element) }

  static func of(_ element: Element) -> StreamElement? {
    known.withLock { $0[element.pointee.object.object.g_type_instance.g_class.pointee.g_type] }
  }
}
