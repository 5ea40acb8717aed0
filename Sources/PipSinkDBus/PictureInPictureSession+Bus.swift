import PipSink

extension PictureInPictureSession {
  /// What every stream that there is does.
  var streamStates: [StreamID: StreamPlayState] {
    Dictionary(uniqueKeysWithValues: streams.map { ($0.id, $0.state) })
  }

  /// Why streams have failed, or are being started again.
  var streamErrors: [StreamID: PipSinkError] {
    Dictionary(uniqueKeysWithValues: streams.compactMap { info in info.failure.map { (info.id, $0) } })
  }
}
