/// The cameras and microphones behind streams.
extension PictureInPictureSession {
  /// What the app knows of the camera behind a stream, from its signalling for instance: its place in the app and
  /// picture-in-picture show it. It holds, whatever the frames tell, until the app says `unknown`.
  ///
  /// - Throws: ``PipSinkError/Stream/unknown(_:known:)``.
  public func setCameraState(_ state: DeviceState, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    engine.setCameraState(state, of: streamID)
  }

  /// What the app knows of the microphone behind a stream: while it is off, a crossed microphone is drawn in a corner of
  /// the stream's place in the app and of picture-in-picture. It holds until the app says `unknown`.
  ///
  /// - Throws: as above.
  public func setMicrophoneState(_ state: DeviceState, of streamID: StreamID) throws(PipSinkError) {
    try check(streamID)
    engine.setMicrophoneState(state, of: streamID)
  }

  /// Whether a stream's place in the app says that the microphone behind it is off, and the picture-in-picture window
  /// that shows it.
  public func isMicrophoneOff(of streamID: StreamID) -> Bool { microphonesOff.contains(streamID) }

  /// Whether a device of a stream is off that is not over. What the app has said of it holds while no frames come, too;
  /// without that a device counts as off in every stream that stands still, so only those are believed that play. The
  /// stream may have ended since the session heard of it.
  func isOff(_ device: StreamDevice, of id: StreamID) -> Bool {
    guard let told = playStates[id], let info = engine.info(of: id), info[device] == .off, !told.isOver,
      !info.state.isOver
    else { return false }
    return info.saidDevices.contains(device) || told == .playing && info.state == .playing
  }

  func followCamera(of id: StreamID) {
    let isOff = isOff(.camera, of: id)
    if controller.streamSelector.streams.contains(where: { $0.id == id && $0.isEnabled == isOff }) {
      controller.streamSelector.setEnabled(id, !isOff)
    }
    updateContent(of: id)
    updatePlaceholders()
  }
}
