/// What takes a stream's frames from the engine.
public protocol SampleBufferConsumer: AnyObject, Sendable {
  /// The kind of pixels it would like. The engine negotiates that with the pipeline when it starts, and delivers
  /// another kind where the pipeline can do no better.
  var formatSeries: FrameFormatSeries { get }

  /// Takes one frame. Called on the stream's streaming thread, one frame at a time and in their order, so it must
  /// return at once: while it runs the pipeline's branch stands still.
  ///
  /// The frame is the consumer's from here on. A plain parameter will do as well.
  func consume(_ sampleBuffer: consuming SampleBuffer)
}

extension SampleBufferConsumer {
  public var formatSeries: FrameFormatSeries { .any }
}
