/// Which renderers show which streams: any number on each, attached before the stream is there or after.
///
/// A renderer that is attached while the stream flows begins with its newest frame. A stream's frames go from its
/// streaming thread into every renderer's own layer, so that no renderer waits for another. All calls are allowed from
/// every thread.
public final class StreamRegistry: Sendable {
  private let fanOuts = Locked<[StreamID: FanOut]>([:])

  public init() {}

  /// Shows a stream on `renderer` from now on, beside those that show it already.
  ///
  /// - Returns: whether the stream has delivered a frame. When it has not, the renderer waits for it, and shows nothing
  ///   until then.
  @discardableResult
  public func attach(
    _ renderer: any VideoRenderer, toStream streamID: StreamID, gravity: VideoGravity = .resizeAspect
  ) -> Bool {
    fanOut(of: streamID).add(renderer, gravity, name: streamID)
  }

  /// `renderer` shows nothing of the stream any more. The others go on.
  public func detach(_ renderer: any VideoRenderer, fromStream streamID: StreamID) {
    fanOuts.withLock { $0[streamID] }?.remove(renderer)
  }

  /// The stream is gone: its renderers show nothing any more, and are let go. A consumer that was given out has no
  /// effect any more; a stream that comes back needs another.
  public func removeStream(_ streamID: StreamID) {
    fanOuts.withLock { $0.removeValue(forKey: streamID) }?.removeAll()
  }

  /// The streams that have renderers or have delivered frames, sorted.
  public var streamIDs: [StreamID] { fanOuts.withLock { $0.keys.sorted() } }

  /// The layers that show a stream, in the order that their renderers were attached.
  public func layers(of streamID: StreamID) -> [SampleBufferDisplayLayer] {
    fanOuts.withLock { $0[streamID] }?.layers ?? []
  }

  /// What an engine gives a stream's frames to.
  ///
  /// - Parameter next: gets every frame, too: a ``FrameRouter``'s consumer, for instance.
  public func consumer(
    for streamID: StreamID, next: (any SampleBufferConsumer)? = nil
  ) -> any SampleBufferConsumer {
    let fanOut = fanOut(of: streamID)
    return next.map { Tee(fanOut, $0) } ?? fanOut
  }

  private func fanOut(of streamID: StreamID) -> FanOut {
    fanOuts.withLock { fanOuts in
      if let fanOut = fanOuts[streamID] { return fanOut }
      let fanOut = FanOut()
      fanOuts[streamID] = fanOut
      return fanOut
    }
  }
}

/// Gives a stream's frames to its layers, in the order that they come.
private final class FanOut: SampleBufferConsumer {
  private struct State {
    var members: [(renderer: any VideoRenderer, layer: SampleBufferDisplayLayer)] = []
    var latest: SampleBuffer?
  }

  private let state = Locked(State())

  var layers: [SampleBufferDisplayLayer] { state.withLock { $0.members.map(\.layer) } }

  func consume(_ sampleBuffer: SampleBuffer) {
    // The lock keeps frames in their order for a layer that is added meanwhile; the one that is replaced is let go
    // outside of it.
    let previous = state.withLock { state in
      for member in state.members { member.layer.enqueue(sampleBuffer) }
      let previous = state.latest
      state.latest = sampleBuffer
      return previous
    }
    _ = previous
  }

  func add(_ renderer: any VideoRenderer, _ gravity: VideoGravity, name: StreamID) -> Bool {
    state.withLock { state in
      if let member = state.members.first(where: { $0.renderer === renderer }) {
        member.layer.videoGravity = gravity
      } else {
        let layer = SampleBufferDisplayLayer(name: name, renderer: renderer, videoGravity: gravity)
        if let latest = state.latest { layer.enqueue(latest) }
        state.members.append((renderer, layer))
      }
      return state.latest != nil
    }
  }

  func remove(_ renderer: any VideoRenderer) {
    let removed = state.withLock { state in
      state.members.firstIndex { $0.renderer === renderer }.map { state.members.remove(at: $0).layer }
    }
    removed?.detach()
  }

  func removeAll() {
    let removed = state.withLock { state in
      defer { state = State() }
      return state.members.map(\.layer)
    }
    for layer in removed { layer.detach() }
  }
}

/// Gives every frame to two consumers.
private final class Tee: SampleBufferConsumer {
  private let first: any SampleBufferConsumer
  private let second: any SampleBufferConsumer

  init(_ first: any SampleBufferConsumer, _ second: any SampleBufferConsumer) {
    self.first = first
    self.second = second
  }

  var formatSeries: FrameFormatSeries { second.formatSeries }

  func consume(_ sampleBuffer: SampleBuffer) {
    first.consume(sampleBuffer)
    second.consume(sampleBuffer)
  }
}
