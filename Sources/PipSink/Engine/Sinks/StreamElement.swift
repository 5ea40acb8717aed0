import CGStreamer

/// Receives the frames of a ``StreamElement`` for an engine.
package protocol StreamElementConsumer: SampleBufferConsumer {
  /// Notes that a frame was skipped because the processor cannot read its memory. Called on the streaming thread.
  func skipFrame(caps: String)
}

/// A kind of element other than appsink that can be the end of an engine's stream, and that makes the frames itself.
///
/// A module with such an element registers it, as GstPipSink does for `pipsink`. The engine itself knows none.
package struct StreamElement: Sendable {
  package typealias Element = UnsafeMutablePointer<GstElement>

  /// Returns the stream's ID from the element's properties.
  let streamID: @Sendable (Element) -> StreamID
  /// Makes a stopped element deliver its frames to a consumer instead of showing them.
  let deliver: @Sendable (Element, any StreamElementConsumer) -> Void

  private static let known = Locked<[GType: StreamElement]>([:])

  /// Registers a type of element for all engines of the process.
  package static func register(
    _ type: GType, streamID: @escaping @Sendable (Element) -> StreamID,
    deliver: @escaping @Sendable (Element, any StreamElementConsumer) -> Void
  ) {
    known.withLock { $0[type] = StreamElement(streamID: streamID, deliver: deliver) }
  }

  /// Tells the engine that the stream of an element has ended. GStreamer posts a message of its own only when the whole
  /// pipeline has ended, not when one of its sinks has.
  package static func postEnd(of element: Element) { BusNote.streamEnded.post(from: element) }

  /// The registered kind of an element; nil for all other elements.
  static func of(_ element: Element) -> StreamElement? {
    known.withLock { $0[element.pointee.object.object.g_type_instance.g_class.pointee.g_type] }
  }
}
