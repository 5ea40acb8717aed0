import CGStreamer

/// An element beside appsink that a stream of an engine can end in: one that makes frames of what it gets by itself.
///
/// Whoever has such an element says so (GstPipSink, of `pipsink`); the engine knows none.
package struct StreamElement: Sendable {
  package typealias Element = UnsafeMutablePointer<GstElement>

  /// The stream's ID, as the element's properties say.
  let streamID: @Sendable (Element) -> StreamID
  /// Has an element that is stopped give its frames to a consumer instead of showing them.
  let deliver: @Sendable (Element, any SampleBufferConsumer) -> Void

  private static let known = Locked<[GType: StreamElement]>([:])

  package static func register(
    _ type: GType, streamID: @escaping @Sendable (Element) -> StreamID,
    deliver: @escaping @Sendable (Element, any SampleBufferConsumer) -> Void
  ) {
    known.withLock { $0[type] = StreamElement(streamID: streamID, deliver: deliver) }
  }

  /// For an element whose frames an engine takes, when its stream ends: GStreamer itself says on the bus when the whole
  /// pipeline has ended, not one of its sinks.
  package static func postEnd(of element: Element) { BusMessage.postStreamEnd(of: element) }

  static func of(_ element: Element) -> StreamElement? {
    known.withLock { $0[element.pointee.object.object.g_type_instance.g_class.pointee.g_type] }
  }
}

/// The engine's side of such an element: what ``StreamSink`` is of an appsink.
///
/// `@unchecked Sendable`: `format` belongs to the streaming thread, of which a pad has one at a time.
final class StreamElementConsumer: SampleBufferConsumer, @unchecked Sendable {
  private let next: any SampleBufferConsumer
  private let flow: StreamFlow
  private let handlers: StreamSink.Handlers
  private var format: VideoFormatDescription?

  private init(next: any SampleBufferConsumer, flow: StreamFlow, handlers: StreamSink.Handlers) {
    self.next = next
    self.flow = flow
    self.handlers = handlers
  }

  static func install(
    on element: GstElementPointer, _ kind: StreamElement, consumer: any SampleBufferConsumer, flow: StreamFlow,
    handlers: StreamSink.Handlers
  ) {
    kind.deliver(element, StreamElementConsumer(next: consumer, flow: flow, handlers: handlers))
  }

  func consume(_ sampleBuffer: SampleBuffer) {
    guard !flow.isLeftOver(sampleBuffer.pixelBuffer.buffer) else { return }
    if format !== sampleBuffer.formatDescription {
      format = sampleBuffer.formatDescription
      handlers.formatChanged(sampleBuffer.formatDescription)
    }
    next.consume(sampleBuffer)
    if flow.noteDelivery(sampleBuffer.sequenceNumber) { handlers.flowing() }
  }
}
