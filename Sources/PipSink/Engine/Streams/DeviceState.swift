/// Whether the camera or the microphone behind a stream is on.
public enum DeviceState: String, CaseIterable, Sendable {
  /// The state is not known: the stream has delivered nothing yet or is over, and the app has set no state.
  case unknown
  /// The device is on.
  case on
  /// The device is off.
  case off
}

/// The camera or the microphone behind a stream.
enum StreamDevice {
  case camera, microphone
}

extension StreamInfo {
  subscript(device: StreamDevice) -> DeviceState {
    get { device == .camera ? camera : microphone }
    set { if device == .camera { camera = newValue } else { microphone = newValue } }
  }

  /// Sets the state that follows from the flow of frames or sound, unless the app has set one.
  ///
  /// - Returns: whether the state has changed.
  mutating func observe(_ device: StreamDevice, _ new: DeviceState) -> Bool {
    let old = self[device]
    guard !saidDevices.contains(device), !(new == .off && old == .unknown) else { return false }
    self[device] = new
    return old != new
  }

  /// Sets the state that the app knows; with `unknown` the flow of frames and sound decides again.
  ///
  /// - Returns: whether the state has changed.
  mutating func say(_ device: StreamDevice, _ new: DeviceState) -> Bool {
    defer { self[device] = new }
    if new == .unknown { saidDevices.remove(device) } else { saidDevices.insert(device) }
    return self[device] != new
  }
}
