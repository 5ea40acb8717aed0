/// Receives the frames of one stream, for instance a router's input or an app's own code.
public protocol SampleBufferConsumer: AnyObject, Sendable {
  /// The kind of pixels that the consumer prefers; ``FrameFormatSeries/any`` by default. The engine negotiates it with
  /// the pipeline at the start, and delivers another kind when the pipeline cannot make this one.
  var formatSeries: FrameFormatSeries { get }

  /// Receives one frame.
  ///
  /// The engine calls it on the stream's streaming thread, for one frame at a time and in order. It must return
  /// quickly, since the stream's branch of the pipeline waits for it.
  ///
  /// - Parameter sampleBuffer: the frame, which belongs to the consumer from now on. An implementation may declare a
  ///   plain parameter, without `consuming`.
  func consume(_ sampleBuffer: consuming SampleBuffer)
}

extension SampleBufferConsumer {
  /// The default: any kind of pixels, so that nothing is converted.
  public var formatSeries: FrameFormatSeries { .any }
}
