/// Decoding of streams that nobody sees.
extension VideoEngine {
  /// Whether streams are decoded that nobody sees, as ``visibleStreamIDs`` says. By default they are not: their
  /// decoders stand still, and go on with a keyframe when the stream is seen again. The rest of their pipelines, audio
  /// for instance, goes on.
  public var isBackgroundDecodingEnabled: Bool {
    get { status.state.withLock { $0.isBackgroundDecodingEnabled } }
    set {
      status.state.withLock { $0.isBackgroundDecodingEnabled = newValue }
      updateDecoding()
    }
  }

  /// The streams that somebody can see; nil stands for all. A ``PictureInPictureController`` with this engine keeps it
  /// right; an app without one may.
  public var visibleStreamIDs: Set<StreamID>? {
    get { status.state.withLock { $0.visibleStreamIDs } }
    set {
      let isNew = status.state.withLock { state in
        defer { state.visibleStreamIDs = newValue }
        return state.visibleStreamIDs != newValue
      }
      if isNew { updateDecoding() }
    }
  }
}
