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

  /// Whether the app has said that a device of a stream is off. Of microphones only that counts where something is sent: a
  /// stream without sound may be sent with a microphone.
  func isSaidOff(_ device: StreamDevice, of id: StreamID) -> Bool {
    engine.info(of: id).map { $0[device] == .off && $0.saidDevices.contains(device) } ?? false
  }

  // MARK: - The user's own

  /// The streams with the user's own picture.
  private var ownStreamIDs: [StreamID] {
    known.filter { !$0.value.isScreenShare && engine.localStreamIDs.contains($0.key) }.map(\.key)
  }

  /// Whether the user's own picture is sent away, so that switching its camera or microphone off has an effect.
  var sendsOwnStreams: Bool { ownStreamIDs.contains { senders[$0]?.isEmpty == false } }

  /// Whether the user's own microphone and camera are on; empty without a picture of the user.
  var ownDeviceStates: [PictureInPictureAction: Bool] {
    let ids = ownStreamIDs
    guard !ids.isEmpty else { return [:] }
    return [
      .microphone: !ids.allSatisfy { isSaidOff(.microphone, of: $0) },
      .camera: !ids.allSatisfy { known[$0]?.placeholder == .cameraOff },
    ]
  }

  /// Switches the user's own microphone or camera off or on, where that has an effect.
  func toggle(_ device: StreamDevice) {
    guard sendsOwnStreams else { return }
    let isOn = ownDeviceStates[device == .camera ? .camera : .microphone] == true
    for id in ownStreamIDs {
      switch device {
      case .camera: engine.setCameraState(isOn ? .off : .on, of: id)
      case .microphone: engine.setMicrophoneState(isOn ? .off : .on, of: id)
      }
    }
  }
}
