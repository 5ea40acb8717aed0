/// Decoding of hidden streams.
extension VideoEngine {
  /// Whether hidden streams are decoded; false by default. ``visibleStreamIDs`` says which streams are visible.
  ///
  /// While a stream is hidden, its decoder is suspended; when the stream is visible again, decoding resumes with a
  /// keyframe. The rest of its pipeline, for instance its audio branch, is not affected. May be set from any thread.
  public var isBackgroundDecodingEnabled: Bool {
    get { status.state.withLock { $0.isBackgroundDecodingEnabled } }
    set {
      status.state.withLock { $0.isBackgroundDecodingEnabled = newValue }
      updateDecoding()
    }
  }

  /// The IDs of the visible streams; nil, the default, means that all are visible.
  ///
  /// A ``PictureInPictureController`` that knows this engine updates the set. An app without a controller may set it
  /// itself, from any thread.
  public var visibleStreamIDs: Set<StreamID>? {
    get { status.state.withLock { $0.visibleStreamIDs } }
    set {
      let isNew = status.state.exchange(\.visibleStreamIDs, newValue) != newValue
      if isNew { updateDecoding() }
    }
  }

  /// Has keyframes requested for a stream as long as it is frozen.
  func setFrozen(_ isFrozen: Bool, of id: StreamID) {
    status.update(id) { $0.isFrozen = isFrozen }
    updateDecoding()
  }

  /// Sets how large a stream's pictures have to be, which its pipeline is told of.
  func setDemand(_ demand: StreamDemand, of id: StreamID) {
    status.update(id) { $0.demand = demand }
    updateDecoding()
  }
}
