/// Streams whose frames come from outside of the engine: an app or a `pipsink` element pushes them. The engine keeps
/// their states and sends their events as it does for its own streams.
extension VideoEngine {
  /// Adds a stream that waits for its first frame.
  ///
  /// - Throws: ``PipSinkError/Stream/duplicate(_:)``, ``PipSinkError/System/invalidArgument(_:reason:)``.
  func addInput(_ id: StreamID) throws(PipSinkError) {
    try Self.check(id)
    let isNew = status.state.withLock { state in
      guard state.add(id) else { return false }
      state.inputIDs.insert(id)
      return true
    }
    guard isNew else { throw .stream(.duplicate(id)) }
    status.setStream(id, to: .requesting)
  }

  /// - Throws: ``PipSinkError/System/invalidArgument(_:reason:)`` for an ID that is empty or contains a NUL.
  static func check(_ id: StreamID) throws(PipSinkError) {
    guard id.rawValue.isEmpty || id.rawValue.utf8.contains(0) else { return }
    throw .system(
      .invalidArgument("stream", reason: id.rawValue.isEmpty ? "it is empty" : "it contains a NUL character"))
  }

  /// Sets the state of a stream that ``addInput(_:)`` added.
  func setInput(_ id: StreamID, to state: StreamPlayState) {
    if inputIDs.contains(id) { status.setStream(id, to: state) }
  }

  /// Notes whether a stream that ``addInput(_:)`` added has sound alone.
  func noteInput(_ id: StreamID, hasNoVideo: Bool) {
    guard inputIDs.contains(id) else { return }
    status.update(id) { $0.hasNoVideo = hasNoVideo }
    if hasNoVideo { status.broadcast.send(.streamHasNoVideo(id)) }
  }

  /// Notes the format of the next frames of a stream that ``addInput(_:)`` added. Any thread may call it.
  func noteInput(_ id: StreamID, format: VideoFormatDescription) {
    guard inputIDs.contains(id) else { return }
    status.update(id) { $0.format = format }
    status.broadcast.send(.formatChanged(id, format))
  }

  func removeInput(_ id: StreamID) {
    guard status.state.withLock({ $0.inputIDs.remove(id) }) != nil else { return }
    status.retire(id)
    status.finishWithoutStopped()
  }

  /// Reports how loud a stream of ``addInput(_:)`` is. Any thread may call it.
  package func noteLevel(_ level: AudioLevel, of id: StreamID) { status.broadcast.send(.audioLevel(id, level)) }

  /// The streams that ``addInput(_:)`` added, sorted by their IDs.
  var inputIDs: [StreamID] { status.state.withLock { $0.inputIDs.sorted() } }
}
