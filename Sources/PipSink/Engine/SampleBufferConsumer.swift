/// What takes a stream's frames from the engine.
public protocol SampleBufferConsumer: AnyObject, Sendable {
  /// Takes one frame. Called on the stream's streaming thread, one frame at a time and in their order, so it must
  /// return at once: while it runs the pipeline's branch stands still.
  func consume(_ sampleBuffer: SampleBuffer)
}
