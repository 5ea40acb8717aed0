/// The renderers of several streams together, the local one and the remote ones, by stream ID.
///
/// Every stream has a display layer, made when its first frame or its renderer is announced, whichever comes first: a
/// renderer that comes later begins with the newest frame. All calls are allowed from every thread.
public final class MultiStreamRenderer: Sendable {
  /// What the app's own stream is called where nobody says otherwise.
  public static let localStreamID: StreamID = "local"

  private let videoGravity: VideoGravity
  private let layers = Locked<[StreamID: SampleBufferDisplayLayer]>([:])

  public init(videoGravity: VideoGravity = .resizeAspect) {
    self.videoGravity = videoGravity
  }

  /// Shows a stream on `renderer` from now on.
  public func attach(_ renderer: any VideoRenderer, toStream streamID: StreamID) {
    layer(for: streamID).attach(to: renderer)
  }

  /// Shows a stream on another renderer, fitted in another way, while its frames flow: the old one shows nothing any
  /// more, the new one begins with the newest frame.
  public func updateView(_ renderer: any VideoRenderer, for streamID: StreamID, gravity: VideoGravity) {
    let layer = layer(for: streamID)
    layer.videoGravity = gravity
    layer.attach(to: renderer)
  }

  /// The stream's renderer shows nothing any more, and the stream is forgotten; consumers that were given out go on to
  /// take its frames.
  public func removeStream(_ streamID: StreamID) {
    layers.withLock { $0.removeValue(forKey: streamID) }?.detach()
  }

  /// The streams that are known, sorted.
  public var streamIDs: [StreamID] { layers.withLock { $0.keys.sorted() } }

  /// A stream's layer: its status, statistics, gravity.
  public func layer(for streamID: StreamID) -> SampleBufferDisplayLayer {
    layers.withLock { layers in
      if let layer = layers[streamID] { return layer }
      let layer = SampleBufferDisplayLayer(name: streamID, videoGravity: videoGravity)
      layers[streamID] = layer
      return layer
    }
  }

  /// What an engine gives a stream's frames to. It knows its layer, so that no frame waits for another stream.
  public func consumer(for streamID: StreamID) -> any SampleBufferConsumer {
    layer(for: streamID)
  }

  /// Shows a frame of an engine that calls back with stream IDs.
  ///
  /// - Returns: false when no renderer was attached to the stream, and none is told of it.
  @discardableResult
  public func render(_ sampleBuffer: SampleBuffer, streamID: StreamID) -> Bool {
    guard let layer = layers.withLock({ $0[streamID] }) else { return false }
    layer.enqueue(sampleBuffer)
    return true
  }
}
