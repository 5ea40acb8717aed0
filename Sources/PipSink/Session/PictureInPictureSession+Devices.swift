/// The cameras and microphones of streams.
extension PictureInPictureSession {
  /// Tells the session what the app knows of a stream's camera, for instance from its signalling. The stream's place in
  /// the app and picture-in-picture show it. It applies, whatever the frames suggest, until the app sets `unknown`.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setCameraState(_ state: DeviceState, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    engine.setCameraState(state, of: streamID)
  }

  /// Tells the session what the app knows of a stream's microphone. While it is off, a crossed-out microphone is drawn
  /// in a corner of the stream's place in the app and of picture-in-picture. It applies until the app sets `unknown`.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setMicrophoneState(_ state: DeviceState, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    engine.setMicrophoneState(state, of: streamID)
  }

  /// Whether a device of a stream that has not ended is off. What the app has said applies even while no frames come.
  /// Otherwise a device counts as off in every stream that has stopped, so what the engine infers only counts for
  /// streams that play. The stream may have ended since the session was informed.
  func isOff(_ device: StreamDevice, of id: StreamID) -> Bool {
    guard let reported = known[id]?.state, let info = engine.info(of: id), info[device] == .off, !reported.isOver,
      !info.state.isOver
    else { return false }
    return info.saidDevices.contains(device) || reported == .playing && info.state == .playing
  }
}
